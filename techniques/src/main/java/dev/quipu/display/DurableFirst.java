package dev.quipu.display;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.Decimal;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Backoff;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Key;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Counts views durably and shows them from a cache, with a maximum age. Thread-safe.
 *
 * <pre>{@code
 * A DURABLE COUNTER READ THROUGH A CACHE (CACHE-ASIDE)
 *
 * Problem. No view may be lost, and the value is read more often than the database can serve reads.
 *
 * Stored. The durable counter; and in the cache, per counter, a string with a reading and the time
 * of the reading: "VALUE LOW HIGH MILLIS", or "- MILLIS" if the counter was never written.
 *
 * Protocol of a view. Add 1 to the durable counter, under the request id of the view if it has one.
 * The cache is not changed.
 *
 * Protocol of a reader.
 *   1. get the entry. If it is younger than the maximum age, return it.
 *   2. add a marker that expires after a second: the process that stores it rebuilds the entry.
 *      That process reads the clock, then the durable counter, stores both in the cache with set,
 *      and deletes the marker.
 *   3. The others poll the entry, with pauses; after a second they read the durable counter.
 *   4. If the cache is unavailable, read the durable counter.
 *
 * Why it is correct. Only the durable counter is authoritative. An entry is the value at its own
 * time, whichever process wrote it and however late, so it is either too old or correct; a cache
 * that loses everything, or returns to an earlier state, does no harm. The marker only saves work:
 * without it, all readers would read the database at the same time when an entry becomes too old.
 *
 * Assumptions. The age of a returned value may exceed the maximum by the difference between the
 * clocks of the reader and of the process that rebuilt the entry. There are no assumptions about
 * delays of writes or pauses.
 *
 * Cost. A view takes one add. A read takes one round trip to the cache. Once per counter and
 * maximum age, a read of the durable counter and three more round trips to the cache are needed.
 *
 * Source. "Atomic operations and counters in memcached": the view counter, and rebuilding.
 * }</pre>
 */
public final class DurableFirst implements DisplayCounters {
  /** Default maximum age. */
  public static final Duration AGE_DEFAULT = Duration.ofSeconds(1);

  /** Upper limit of the maximum age. */
  public static final Duration AGE_MAX = Duration.ofHours(1);

  private static final Decimal ONE = new Decimal(1, 0);
  private static final Duration REBUILD_WAIT = Duration.ofSeconds(1);
  private static final Optional<Duration> MARK = Optional.of(REBUILD_WAIT);

  private final @Nullable AtomicOperations cache;
  private final Counters counters;
  private final Clock clock;
  private final Duration ageMax;
  private final RandomGenerator random;

  /**
   * Counts views in {@code counters}, and shows them from {@code cache}.
   *
   * @param ageMax maximum age of a shown number, above 0, at most {@link #AGE_MAX}; the difference
   *     between the clocks of different machines is added to it
   */
  public DurableFirst(AtomicOperations cache, Counters counters, Clock clock, Duration ageMax) {
    this(cache, counters, clock, ageMax, Randomness.secure());
  }

  /** Creates a counter with the given source of randomness, and without a cache if it is null. */
  public DurableFirst(
      @Nullable AtomicOperations cache,
      Counters counters,
      Clock clock,
      Duration ageMax,
      RandomGenerator random) {
    if (!ageMax.isPositive() || ageMax.compareTo(AGE_MAX) > 0) {
      throw new IllegalArgumentException(
          "ageMax is %s; it must be positive and at most %s"
              .formatted(Limits.text(ageMax), Limits.text(AGE_MAX)));
    }
    this.cache = cache;
    this.counters = counters;
    this.clock = clock;
    this.ageMax = ageMax;
    this.random = random;
  }

  /** Returns a variant that reads the durable counter itself each time. */
  public static DurableFirst withoutCache(Counters counters, Clock clock) {
    return new DurableFirst(null, counters, clock, AGE_DEFAULT, Randomness.secure());
  }

  @Override
  public OptionalLong view(String name, Optional<RequestId> id) {
    return switch (counters.add(Add.of(name, ONE, null, null, id.orElse(null)))) {
      // A decimal is shown by a read: the result here is a number of views.
      case AddResult.Success done -> done.scale() == 0 ? done.valueIfKnown() : OptionalLong.empty();
      case AddResult.Conflict conflict ->
          throw new NotAppliedException(
              Reason.INVALID, "request id was already used for a different request");
      case AddResult.Rejected rejected ->
          throw new NotAppliedException(
              Reason.INVALID, "the counter rejects the view: " + rejected.why());
    };
  }

  @Override
  public Optional<DisplayReading> read(String name) {
    Limits.checkText("name", name, Limits.NAME_BYTES_MAX);
    AtomicOperations shared = cache;
    return shared == null ? ask(name).reading() : read(name, shared);
  }

  private Optional<DisplayReading> read(String name, AtomicOperations shared) {
    String hash =
        HexFormat.of().formatHex(Key.digest(name.getBytes(StandardCharsets.UTF_8)), 0, 16);
    String key = "shown:" + hash;
    String mark = "shown-rebuild:" + hash;
    try {
      long start = clock.nanoTime();
      for (int round = 0; clock.nanoTime() - start < REBUILD_WAIT.toNanos(); round++) {
        Optional<Entry> cached =
            shared
                .get(key)
                .flatMap(Entry::parse)
                .filter(shown -> shown.millis + ageMax.toMillis() > clock.epochMillis());
        if (cached.isPresent()) {
          return cached.get().reading();
        }
        if (shared.add(mark, "1", MARK)) {
          Entry asked = ask(name);
          shared.set(key, asked.text(), Optional.of(ageMax));
          shared.delete(mark);
          return asked.reading();
        }
        Backoff.pause(clock, random, round);
      }
    } catch (QuipuException e) {
      // The cache is unavailable, or its answer was lost: it is optional.
    }
    return ask(name).reading();
  }

  private Entry ask(String name) {
    long now = clock.epochMillis(); // before the read, so that the age is never underestimated
    return new Entry(counters.read(name), now);
  }

  /** A reading of the durable counter with its time; that it was never written is cached too. */
  private record Entry(Optional<Reading> read, long millis) {
    private static final String NEVER_WRITTEN = "-";

    String text() {
      return read.map(
                  is -> is.text(is.value()) + " " + is.text(is.low()) + " " + is.text(is.high()))
              .orElse(NEVER_WRITTEN)
          + " "
          + millis;
    }

    /** Parses a cached entry; empty if it has another format. */
    static Optional<Entry> parse(AtomicOperations.Value cached) {
      String[] words = cached.text().split(" ", -1);
      try {
        long millis = Long.parseLong(words[words.length - 1]);
        if (words.length == 2 && words[0].equals(NEVER_WRITTEN)) {
          return Optional.of(new Entry(Optional.empty(), millis));
        }
        if (words.length == 4) {
          Decimal value = Decimal.parse("value", words[0]);
          long low = Decimal.parse("low", words[1]).units();
          long high = Decimal.parse("high", words[2]).units();
          Reading is = new Reading(value.units(), low, high, List.of(), value.scale());
          return Optional.of(new Entry(Optional.of(is), millis));
        }
      } catch (IllegalArgumentException e) {
        // not written by this class
      }
      return Optional.empty();
    }

    Optional<DisplayReading> reading() {
      return read.map(is ->
          new DisplayReading(
              is.value(), is.low(), is.high(), Instant.ofEpochMilli(millis), is.scale()));
    }
  }
}
