package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.region.RegionalCounters;
import dev.quipu.testkit.pace.Soak;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Three regions sell from one stock, under all faults. */
final class RegionalCountersTest {
  private static final int SEEDS = Soak.seeds(30);
  private static final RegionalRun.Size SMALL = new RegionalRun.Size(120, 2, 12, 9, 0.1, 6);

  static Stream<Arguments> shapes() {
    return Stream.of(
        Arguments.of(1, Bounds.atLeast(0)),
        Arguments.of(4, Bounds.atLeast(0)),
        Arguments.of(2, Bounds.between(-20, 130)));
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void neverTooMuchIsSoldAndInTheEndAll(int cells, Bounds bounds) throws InterruptedException {
    long held = 0;
    long elsewhere = 0;
    long wide = 0;
    long whileCut = 0;
    long deaths = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      RegionalRun run = new RegionalRun(seed, cells, bounds, SMALL);
      run.run();
      sellOut(run, "seed " + seed);
      held += run.heldElsewhere;
      elsewhere += run.replayedElsewhere;
      wide += run.wideReads;
      whileCut += run.soldWhileCut;
      deaths += run.deaths;
    }
    for (long each : List.of(held, elsewhere, wide, whileCut, deaths)) {
      assertTrue(
          each > SEEDS / 2,
          "too few faults to prove anything: " + List.of(held, elsewhere, wide, whileCut, deaths));
    }
  }

  /** A million pieces over three regions of four cells, and ten times the demand. */
  @Test
  void aMillionPieces() throws InterruptedException {
    RegionalRun.Size million = new RegionalRun.Size(1_000_000, 4, 420, 3_999, 0.05, 20);
    RegionalRun run = new RegionalRun(1, 4, Bounds.atLeast(0), million);
    run.run();
    System.out.println("RegionalCountersTest: " + run);
    sellOut(run, "seed 1");
    assertTrue(run.partitions > 10 && run.deaths > 10, run.toString());
  }

  /** What a lost region held is sold by the others, once; everything it had sold was replicated. */
  @Test
  void theRightsOfALostRegionAreNotLost() throws InterruptedException {
    for (long seed = 1; seed <= SEEDS; seed++) {
      RegionalRun run = new RegionalRun(seed, 2, Bounds.atLeast(0), SMALL);
      run.run();
      int lost = (int) (seed % RegionalRun.NAMES.size());
      RegionalCounters here = run.retire(lost);
      long left = run.pieces() - run.sold;
      assertEquals(Optional.of(Reading.exact(left)), here.read(RegionalRun.STOCK), "seed " + seed);
      if (left > 0) {
        AddResult all = here.add(new Add(RegionalRun.STOCK, -left, null));
        assertInstanceOf(AddResult.Applied.class, all, "seed " + seed);
      }
      AddResult more = here.add(new Add(RegionalRun.STOCK, -1, null));
      assertEquals(new AddResult.Rejected(Rejection.FLOOR, 0), more, "seed " + seed);
    }
  }

  /** Reconnects all regions: every region reads the same value, and sells what is left. */
  private static void sellOut(RegionalRun run, String seed) {
    long left = run.oracle.read(RegionalRun.STOCK).map(Reading::value).orElse(0L);
    for (int region = 0; region < RegionalRun.NAMES.size(); region++) {
      RegionalCounters here = run.calm(region);
      assertEquals(Optional.of(Reading.exact(left)), here.read(RegionalRun.STOCK), seed);
    }
    left -= run.options.bounds().floor();
    int last = (int) (left % RegionalRun.NAMES.size());
    RegionalCounters here = run.calm(last);
    long bought = 0;
    while (bought < left) {
      long amount = Math.max(1, (left - bought) / 2);
      AddResult result = here.add(new Add(RegionalRun.STOCK, -amount, null));
      assertInstanceOf(AddResult.Applied.class, result, seed + " after " + bought + " of " + left);
      bought += amount;
    }
    AddResult.Rejected rejected =
        (AddResult.Rejected) here.add(new Add(RegionalRun.STOCK, -1, null));
    long floor = run.options.bounds().floor();
    assertEquals(new AddResult.Rejected(Rejection.FLOOR, floor), rejected, seed);
    assertEquals(run.pieces() - floor, run.sold + bought, seed);
    assertEquals(List.of(), run.wrong, seed);
  }
}
