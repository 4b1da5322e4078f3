package dev.quipu.display;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
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
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/*
 * A DURABLE COUNTER THAT IS SHOWN FROM A CACHE
 *
 * Problem. No view may be lost, and more are shown than the database can be asked for.
 *
 * Stored. The durable counter; and in the cache, per counter, the text of a number and of the time
 * when the durable counter had it: "VALUE LOW HIGH MILLIS",
 * or "- MILLIS" if it was never written.
 *
 * Protocol of a view. Add 1 to the durable counter, under the view's id if it has one. The cache is
 * not touched.
 *
 * Protocol of a reader.
 *   1. get. What is there is younger than the age that is allowed: show it.
 *   2. add a mark that expires after a second: whoever stores it rebuilds. It reads the time, then
 *      the durable counter, sets both in the cache, and takes the mark away.
 *   3. The others look again and again, with pauses; after a second they ask the durable counter.
 *   4. The cache is away: ask the durable counter.
 *
 * Why it is right. Nothing counts but the durable counter. What is shown was the number at the time
 * that stands beside it, whoever wrote it and however late, so it is too old or it is right; a
 * cache that loses everything, or brings back what it had, changes nothing. The mark only saves
 * work: without it every reader would ask the database at once when a number is too old.
 *
 * Assumptions. What is shown is too old by as much as the clock of whoever reads is behind that of
 * whoever rebuilt. None about how late a write is or how long a process stands still.
 *
 * Cost. A view costs what an add costs. A reader one round trip to the cache; for each counter and
 * age that is allowed, one read of the durable counter and four round trips more.
 *
 * Source. "Atomic operations and counters in memcached": the view counter, and rebuilding.
 */

/** Counts views durably and shows them from a cache, at most so old. Thread-safe. */
public final class DurableFirst implements DisplayCounters {
  /** The oldest that is shown, unless told otherwise. */
  public static final Duration AGE_DEFAULT = Duration.ofSeconds(1);

  /** The oldest that may be allowed. */
  public static final Duration AGE_MAX = Duration.ofHours(1);

  private static final Duration REBUILD_WAIT = Duration.ofSeconds(1);
  private static final Optional<Duration> MARK = Optional.of(REBUILD_WAIT);

  private final @Nullable AtomicOperations cache;
  private final Counters counters;
  private final Clock clock;
  private final Duration ageMax;
  private final RandomGenerator random;

  /**
   * Views in {@code counters}, shown from {@code cache}.
   *
   * @param ageMax the oldest number that is shown, above 0, at most {@link #AGE_MAX}; clocks of
   *     different machines differ, and what they differ by comes on top
   */
  public DurableFirst(AtomicOperations cache, Counters counters, Clock clock, Duration ageMax) {
    this(cache, counters, clock, ageMax, Randomness.secure());
  }

  /** As the other, with the caller's chance, and without a cache if it is null. */
  public DurableFirst(
      @Nullable AtomicOperations cache,
      Counters counters,
      Clock clock,
      Duration ageMax,
      RandomGenerator random) {
    if (!ageMax.isPositive() || ageMax.compareTo(AGE_MAX) > 0) {
      throw new IllegalArgumentException(
          "ageMax is %s, the limits are above 0 and %s".formatted(ageMax, AGE_MAX));
    }
    this.cache = cache;
    this.counters = counters;
    this.clock = clock;
    this.ageMax = ageMax;
    this.random = random;
  }

  /** Shows the durable counter itself: for a store that can be asked each time. */
  public static DurableFirst withoutCache(Counters counters, Clock clock) {
    return new DurableFirst(null, counters, clock, AGE_DEFAULT, Randomness.secure());
  }

  @Override
  public OptionalLong view(String name, Optional<RequestId> id) {
    return switch (counters.add(new Add(name, 1, id.orElse(null)))) {
      case AddResult.Applied applied -> applied.valueIfKnown();
      case AddResult.Replayed replayed -> replayed.valueIfKnown();
      case AddResult.Conflict conflict ->
          throw new NotAppliedException(
              Reason.INVALID, "the id of this view was used for another request");
      case AddResult.Rejected rejected ->
          throw new NotAppliedException(
              Reason.INVALID, "the counter takes no more: " + rejected.why());
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
        Optional<Shown> cached = shared.get(key).flatMap(Shown::parse).filter(this::isYoung);
        if (cached.isPresent()) {
          return cached.get().reading();
        }
        if (shared.add(mark, "1", MARK)) {
          Shown asked = ask(name);
          shared.set(key, asked.text(), Optional.of(ageMax));
          shared.delete(mark);
          return asked.reading();
        }
        Backoff.pause(clock, random, round);
      }
    } catch (QuipuException e) {
      // The cache is away, or an answer of it was lost: it is not needed.
    }
    return ask(name).reading();
  }

  private Shown ask(String name) {
    long now = clock.epochMillis(); // before it is read: never too young
    return new Shown(counters.read(name), now);
  }

  private boolean isYoung(Shown shown) {
    return shown.millis + ageMax.toMillis() > clock.epochMillis();
  }

  /** What the durable counter told at some time; that it was never written is worth keeping too. */
  private record Shown(Optional<Reading> told, long millis) {
    private static final String NEVER_WRITTEN = "-";

    String text() {
      return told.map(is -> "%d %d %d".formatted(is.value(), is.low(), is.high()))
              .orElse(NEVER_WRITTEN)
          + " "
          + millis;
    }

    /** Empty if somebody else wrote it. */
    static Optional<Shown> parse(AtomicOperations.Value cached) {
      String[] words = cached.text().split(" ", -1);
      try {
        long millis = Long.parseLong(words[words.length - 1]);
        if (words.length == 2 && words[0].equals(NEVER_WRITTEN)) {
          return Optional.of(new Shown(Optional.empty(), millis));
        }
        if (words.length == 4) {
          Reading is =
              new Reading(
                  Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
          return Optional.of(new Shown(Optional.of(is), millis));
        }
      } catch (NumberFormatException e) {
        // not ours
      }
      return Optional.empty();
    }

    Optional<DisplayReading> reading() {
      return told.map(
          is -> new DisplayReading(is.value(), is.low(), is.high(), Instant.ofEpochMilli(millis)));
    }
  }
}
