package dev.quipu.server.cli.report;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.Access.Movers;
import dev.quipu.server.cli.access.Mover;
import dev.quipu.server.cli.access.PastPeriod;
import dev.quipu.server.cli.access.PastValue;
import dev.quipu.server.rank.Ranking;
import dev.quipu.server.rank.Selection;
import dev.quipu.time.Clock;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Counters with a prefix, and what happened to them in a period.
 *
 * @param made when it was read: the values are those of this time
 * @param technique how the counters are counted
 * @param sum of all values
 * @param inexact the number of counters whose values are not certain
 * @param uncertain by how much all of them together may differ
 * @param top the counters with the greatest values
 * @param past the sum at the end of each step; empty if it is not kept
 * @param increases counters that increased most; empty if that is not known, or the period ended
 * @param noPast why there is no past; empty if there is one
 * @param noMovers why it is not known what increased or decreased most; empty if it is
 */
public record Report(
    String prefix,
    PastPeriod period,
    Instant made,
    String technique,
    long counters,
    BigDecimal sum,
    long inexact,
    BigDecimal uncertain,
    List<Row> top,
    List<PastValue> past,
    List<Mover> increases,
    List<Mover> decreases,
    Optional<String> noPast,
    Optional<String> noMovers) {
  /**
   * A counter.
   *
   * @param past what happened to it in each step; empty if it is not kept
   */
  public record Row(String name, Reading reading, List<PastValue> past) {}

  /**
   * Reads what a report has.
   *
   * @param most number of counters in each list
   * @throws IllegalArgumentException if more than 1,000,000 counters start with the prefix
   */
  public static Report of(Access access, String prefix, PastPeriod period, int most, Clock clock) {
    Counters counters = access.counters();
    Totals totals = new Totals();
    var unused =
        new Selection(prefix, "").forEach(counters::list, "", () -> true, each -> totals.add(each));
    List<CounterPage.Entry> top =
        new Ranking(new Selection(prefix, ""), true)
            .page(counters::list, Optional.empty(), most, () -> true)
            .counters();
    Past past = new Past();
    List<PastValue> sums = past.read(() -> access.history(prefix, true, period));
    List<Row> rows = new ArrayList<>();
    for (CounterPage.Entry each : top) {
      Past own = new Past(); // there may be rules for some of the counters
      List<PastValue> kept = own.read(() -> access.history(each.name(), false, period));
      rows.add(new Row(each.name(), each.reading(), kept));
    }
    boolean isUntilNow = period.to().isEmpty();
    Past since = new Past(); // the begin may not be known, though later boundaries are
    return new Report(
        prefix,
        period,
        Instant.ofEpochMilli(clock.epochMillis()),
        counters.technique(),
        totals.counters,
        totals.sum,
        totals.inexact,
        totals.uncertain,
        rows,
        sums,
        isUntilNow
            ? since.read(() -> access.movers(Movers.COUNTERS, prefix, period, true, most))
            : List.of(),
        isUntilNow
            ? since.read(() -> access.movers(Movers.COUNTERS, prefix, period, false, most))
            : List.of(),
        past.why,
        isUntilNow ? since.why : Optional.of("known only for periods until now, without --to"));
  }

  private static final class Totals {
    long counters;
    long inexact;
    BigDecimal sum = BigDecimal.ZERO;
    BigDecimal uncertain = BigDecimal.ZERO;

    boolean add(CounterPage.Entry each) {
      Reading reading = each.reading();
      counters++;
      sum = sum.add(reading.decimal());
      if (reading.low() != reading.high()) {
        inexact++;
        BigDecimal low = new BigDecimal(reading.text(reading.low()));
        uncertain = uncertain.add(new BigDecimal(reading.text(reading.high())).subtract(low));
      }
      return true;
    }
  }

  /** Reads of the past, which the server may not keep. */
  private static final class Past {
    Optional<String> why = Optional.empty();

    <T> List<T> read(Supplier<List<T>> call) {
      try {
        return call.get();
      } catch (QuipuException e) {
        if (e.reason().isTemporary()) {
          throw e;
        }
        why = Optional.of(String.valueOf(e.getMessage()));
      } catch (IllegalArgumentException | UnsupportedOperationException e) {
        why = Optional.of(String.valueOf(e.getMessage()));
      }
      return List.of();
    }
  }
}
