package dev.quipu.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Bounds;
import dev.quipu.Guarantee;
import dev.quipu.simulation.advisor.Advice;
import dev.quipu.simulation.advisor.Advisor;
import dev.quipu.simulation.advisor.Prices;
import dev.quipu.simulation.advisor.Workload;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProfile.WriteGroup;
import dev.quipu.technique.Techniques;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The advice follows from the workload, and its code compiles. */
final class AdvisorTest {
  private static final StoreProfile DYNAMODB =
      new StoreProfile(
          "dynamodb", EnumSet.allOf(Capability.class), Atomicity.STORE, 100, 380 << 10);
  private static final StoreProfile SMALL =
      new StoreProfile(
          "small",
          EnumSet.of(Capability.STRONG_READ, Capability.NATIVE_ADD),
          Atomicity.ITEM,
          1,
          1 << 20);

  private static final StoreProfile GROUPS =
      new StoreProfile(
          "groups",
          EnumSet.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE, Capability.ATOMIC_BATCH),
          Atomicity.STORE,
          100,
          1 << 20,
          Optional.of(new WriteGroup(Atomicity.ITEM, 1)));

  private static final double MANY_FAULTS = 0.05; // with which few adds are simulated

  /** 100 adds per second on 1,000 counters, exact, no repeats. */
  private static Workload load(Bounds bounds, Duration retryWindow, int regions, double drift) {
    return new Workload(
        100, 1_000, 0, bounds, retryWindow, 100, Duration.ofMinutes(1), regions, 0, 0.001, drift);
  }

  private static Advice advise(StoreProfile profile, Workload load) {
    return new Advisor(profile, Duration.ofMillis(5), Prices.builtIn()).advise(load);
  }

  private static String best(StoreProfile profile, Workload load) {
    return advise(profile, load).best().map(option -> option.spec().name()).orElse("none");
  }

  @Test
  void whereAGroupIsSlowCountersAreDivided() {
    Duration day = Duration.ofDays(1);
    Workload hot =
        new Workload(100, 10, 0, Bounds.none(), day, 100, Duration.ofMinutes(1), 1, 0, 0.001, 0);
    Advice.Option best = advise(GROUPS, hot).best().orElseThrow();
    assertEquals("marker-item", best.spec().name());
    assertEquals(16, best.shards()); // of the 10 adds per second of each counter
    Workload cool = load(Bounds.none(), day, 1, 0);
    assertEquals(1, advise(GROUPS, cool).best().orElseThrow().shards());
  }

  @Test
  void theTechniqueFollowsFromTheLoad() {
    Duration day = Duration.ofDays(1);
    Bounds stock = Bounds.atLeast(0);
    assertEquals("atomic-add", best(DYNAMODB, load(stock, Duration.ZERO, 1, 0.01)));
    assertEquals("marker-item", best(DYNAMODB, load(stock, day, 1, 0)));
    assertEquals("request-token", best(DYNAMODB, load(stock, Duration.ofMinutes(5), 1, 0)));
    assertEquals(
        "item-collection", best(DYNAMODB, load(Bounds.none(), Duration.ofMinutes(5), 3, 0)));
    assertEquals("regional", best(DYNAMODB, load(Bounds.none(), day, 3, 0))); // reads cost less
    assertEquals("regional", best(DYNAMODB, load(stock, day, 3, 0)));
    assertEquals("none", best(SMALL, load(stock, day, 1, 0)));
    Workload seats = new Workload(10, 1_000, 0, stock, day, 10, Duration.ZERO, 1, 50, 0.001, 0);
    assertEquals("token-set", best(SMALL, seats));
  }

  @Test
  void aHotCounterIsDivided() {
    Workload hot =
        new Workload(
            2_000, 1, 0, Bounds.atLeast(0), Duration.ofDays(1), 10, Duration.ZERO, 1, 0, 0.001, 0);
    Advice.Option best = advise(DYNAMODB, hot).best().orElseThrow();
    assertEquals("marker-item", best.spec().name());
    assertEquals(16, best.shards());
    assertTrue(best.java().contains("ShardOptions.fixed(16).within(Bounds.atLeast(0L))"));
  }

  @Test
  void regionsThatShareAStockCountWithinTheirRights() {
    Duration day = Duration.ofDays(1);
    Advice.Option best = advise(DYNAMODB, load(Bounds.atLeast(0), day, 3, 0)).best().orElseThrow();
    assertTrue(best.spec().promises(Guarantee.BOUNDED));
    assertTrue(best.predicted().isPresent());
    assertTrue(best.serve().contains("\"initial\": [\"r1\", \"r2\", \"r3\"]"), best.serve());
    assertTrue(best.serve().contains("\"floor\": 0}"), best.serve());
    assertTrue(best.serve().contains("--region r1 --topology regions.json --window 24h"));
    Workload hot = new Workload(9_000, 1, 0, Bounds.atLeast(0), day, 10, day, 3, 0, 0.001, 0);
    assertEquals(32, advise(DYNAMODB, hot).best().orElseThrow().shards());

    Workload brief = load(Bounds.none(), Duration.ofMinutes(5), 3, 0);
    Advice.Option likes = advise(DYNAMODB, brief).best().orElseThrow();
    assertTrue(likes.serve().contains("\"technique\": \"regional-collection\""), likes.serve());
    for (Workload none :
        List.of(
            load(Bounds.atLeast(1), day, 3, 0), // the sum of the rights would not be the bound
            load(Bounds.atLeast(0), day, 17, 0))) {
      Advice advice = advise(DYNAMODB, none);
      assertTrue(advice.best().isEmpty());
      advice.options().forEach(option -> assertFalse(option.against().isEmpty()));
    }
    assertEquals("none", best(SMALL, load(Bounds.atLeast(0), day, 3, 0)));
    StoreProfile engine =
        new StoreProfile(
            "engine", EnumSet.allOf(Capability.class), Atomicity.STORE, 100, 380 << 10);
    assertEquals("none", best(engine, load(Bounds.none(), day, 3, 0)));
  }

  @Test
  void unsuitableTechniquesAreExplained() {
    Advice advice = advise(DYNAMODB, load(Bounds.atLeast(0), Duration.ofDays(1), 1, 0));
    assertEquals(Techniques.ALL.size(), advice.options().size());
    for (Advice.Option option : advice.options()) {
      assertEquals(option.spec().name().equals("marker-item"), option.isFit());
      assertTrue(option.dollarsPerMonth().isPresent(), option.spec().name());
    }
    assertFalse(advise(SMALL, load(Bounds.none(), Duration.ZERO, 1, 1)).best().isEmpty());
  }

  @Test
  void pricesCanBeEdited(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("prices.properties");
    Files.writeString(
        file,
        "date=2030-01-01\nsmall.million-write-units=1\nsmall.million-read-units=0\n"
            + "small.gigabyte-month=0\n");
    Prices prices = Prices.of(file);
    assertEquals("2030-01-01", prices.date());
    assertEquals(2.592, prices.month("small", 1, 5, 0).orElseThrow(), 1e-9);
    assertTrue(prices.month("dynamodb", 1, 5, 0).isEmpty());
    Files.writeString(file, "small.million-write-units=cheap\n");
    Prices wrong = Prices.of(file);
    assertThrows(IllegalArgumentException.class, () -> wrong.month("small", 1, 1, 1));
  }

  @Test
  void theCodeToPasteCompiles(@TempDir Path directory) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringBuilder methods = new StringBuilder();
    int number = 0;
    int regional = 0;
    for (Bounds bounds : List.of(Bounds.none(), Bounds.atMost(9), Bounds.between(-1, 9))) {
      Workload hot =
          new Workload(
              2_000, 1, 0, bounds, Duration.ofHours(2), 9, Duration.ZERO, 1, 9, MANY_FAULTS, 0);
      for (Advice.Option option : advise(DYNAMODB, hot).options()) {
        methods.append("void m%d() {%n%s}%n".formatted(number++, option.java()));
      }
      Workload regions =
          new Workload(9, 1, 0, bounds, Duration.ZERO, 9, Duration.ZERO, 3, 9, MANY_FAULTS, 1);
      for (Advice.Option option : advise(DYNAMODB, regions).options()) {
        if (option.isFit()) {
          methods.append("void r%d() {%n%s}%n".formatted(regional++, option.java()));
        }
      }
    }
    Path source = directory.resolve("Pasted.java");
    Files.writeString(
        source,
        """
        import dev.quipu.*;
        import dev.quipu.backend.*;
        import dev.quipu.hits.*;
        import dev.quipu.region.*;
        import dev.quipu.shard.*;
        import dev.quipu.store.*;
        import dev.quipu.technique.*;
        import java.time.Duration;
        import java.util.Optional;
        abstract class Pasted {
          StoreDriver driver;
          Regions regions;
          RegionLeases leases;
          String name;
          String request;
          long amount;
        %s}
        """
            .formatted(methods));
    int wrong =
        compiler.run(
            null,
            null,
            null,
            "-proc:none",
            "-cp",
            Optional.ofNullable(System.getProperty("java.class.path")).orElseThrow()
                + System.getProperty("path.separator")
                + Optional.ofNullable(System.getProperty("jdk.module.path")).orElse(""),
            "-d",
            directory.toString(),
            source.toString());
    assertEquals(0, wrong, methods.toString());
    assertEquals(3 * Techniques.ALL.size(), number);
  }

  @Test
  void valuesOutsideTheLimitsAreRejected() {
    assertThrows(IllegalArgumentException.class, () -> load(Bounds.none(), Duration.ZERO, 0, 0));
    assertThrows(
        IllegalArgumentException.class, () -> load(Bounds.none(), Duration.ofSeconds(-1), 1, 0));
    assertThrows(IllegalArgumentException.class, () -> load(Bounds.none(), Duration.ZERO, 1, 2));
  }
}
