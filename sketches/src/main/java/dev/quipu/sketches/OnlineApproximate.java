package dev.quipu.sketches;

import com.dynatrace.hash4j.distinctcount.HyperLogLog;
import com.dynatrace.hash4j.hashing.Hashing;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Backoff;
import dev.quipu.layer.Store;
import dev.quipu.presence.Online;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Window;
import dev.quipu.store.AtomicOperations;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Counts clients to within a few percent, in little memory. Thread-safe.
 *
 * <pre>{@code
 * ONLINE USERS, APPROXIMATELY
 *
 * Problem. Millions of online users must be counted to within a few percent, in kilobytes.
 *
 * Stored. Time is divided into buckets. Each bucket has a HyperLogLog sketch of 4,096 registers,
 * stored as a string of 4 KiB, which expires. Each process also has its own sketch of each bucket
 * in memory.
 *
 * Protocol of a hit.
 *   1. Add the client to the local sketch of the bucket. If that changed nothing, and all earlier
 *      changes are stored, the hit is done without a call to the store.
 *   2. Read the stored sketch, merge it with the local one, and store the union with cas or add;
 *      after a conflict or an unknown outcome, repeat this step. A hit that waits for a write that
 *      includes its change is done when that write is done.
 *
 * Protocol of a reader. Merge the sketches of the last N buckets and of the current one, and
 * estimate the number of clients in the union.
 *
 * Why it is correct. A sketch does not depend on the order or repetition of adds, so a repeat
 * changes nothing, and a union counts no client twice. The more clients a sketch has, the less
 * likely another one changes it: a million clients change a sketch about 25,000 times.
 *
 * The error. The standard deviation is 1.04 / sqrt(4,096) = 1.6%. The bounds are three standard
 * deviations away from the estimate, so they hold in 99.7% of cases.
 *
 * Crash table.
 *   | crash           | stored    | a repeat        |
 *   | before 2        | nothing   | executes step 2 |
 *   | reply to 2 lost | the union | changes nothing |
 *
 * Cost. Most hits take no call to the store; the others take two round trips. A read takes one
 * round trip on memcached, and one per bucket on other stores.
 *
 * Source. P. Flajolet and others, "HyperLogLog", 2007; the windows are those of the ring.
 * }</pre>
 */
public final class OnlineApproximate implements Presence {
  /** Three standard deviations, relative to the number. */
  public static final double ERROR = 3 * 1.04 / 64;

  private static final int PRECISION = 12; // 2^12 registers
  private static final int SKETCHES_MAX = 4_096; // in memory, 3 KiB each
  private static final int ROUNDS_MAX = 1_000;
  private static final int UNKNOWNS_MAX = 8;

  private final Store store;
  private final AtomicOperations operations;
  private final Window window;
  private final RandomGenerator random;
  private final Map<String, Sketch> sketches =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Sketch> eldest) {
          return size() > SKETCHES_MAX;
        }
      };

  /** Creates a counter of presence on any store. */
  public OnlineApproximate(Store store, Window window) {
    this(store, window, Randomness.secure());
  }

  /** Creates a counter of presence with a source of randomness. */
  public OnlineApproximate(Store store, Window window, RandomGenerator random) {
    this.store = store;
    this.operations = store.operations();
    this.window = window;
    this.random = random;
  }

  /** The local sketch of a bucket. */
  private static final class Sketch {
    final ReentrantLock storing = new ReentrantLock();
    private final HyperLogLog own = HyperLogLog.create(PRECISION);
    private long changes;
    private long stored;

    /** Adds a client; returns the number of the change that must be stored. */
    synchronized long add(long hash) {
      own.add(hash, probability -> changes++);
      return changes;
    }

    synchronized boolean isStored(long change) {
      return stored >= change;
    }

    synchronized long changes() {
      return changes;
    }

    synchronized HyperLogLog copy() {
      return own.copy();
    }

    synchronized void storedUpTo(long change) {
      stored = Math.max(stored, change);
    }
  }

  @Override
  public void seen(String room, String client) {
    Limits.checkText("client", client, Limits.CLIENT_ID_BYTES_MAX);
    String key = key(room, window.current(store.clock()));
    Sketch sketch = sketch(key);
    long change = sketch.add(Hashing.xxh3_64().hashCharsToLong(client));
    if (sketch.isStored(change)) {
      return;
    }
    sketch.storing.lock();
    try {
      if (!sketch.isStored(change)) {
        long with = sketch.changes(); // before the copy: later changes are stored again
        store(key, sketch.copy());
        sketch.storedUpTo(with);
      }
    } finally {
      sketch.storing.unlock();
    }
  }

  private Sketch sketch(String key) {
    synchronized (sketches) {
      return sketches.computeIfAbsent(key, each -> new Sketch());
    }
  }

  /** Executes step 2 of the protocol. */
  private void store(String key, HyperLogLog own) {
    Optional<Duration> expiry = Optional.of(window.time(window.buckets() + 2));
    @Nullable QuipuException lost = null;
    int unknowns = 0;
    for (int round = 0; round < ROUNDS_MAX; round++) {
      try {
        Optional<AtomicOperations.Value> found = operations.get(key);
        if (found.isEmpty()) {
          if (operations.add(key, text(own), expiry)) {
            return;
          }
        } else {
          HyperLogLog stored = sketch(key, found.get());
          HyperLogLog union = stored.copy().add(own);
          if (Arrays.equals(union.getState(), stored.getState())
              || operations.cas(key, text(union), found.get().version(), expiry)) {
            return;
          }
        }
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.NOT_APPLIED && lost == null) {
          throw e;
        }
        lost = e;
        if (++unknowns == UNKNOWNS_MAX) {
          break;
        }
      }
      Backoff.pause(store.clock(), random, round);
    }
    throw lost == null
        ? new NotAppliedException(Reason.THROTTLED, "gave up: contention on a sketch")
        : new OutcomeUnknownException(
            lost.reason(), "the outcome of a write of a sketch is unknown", lost);
  }

  @Override
  public Online online(String room) {
    long current = window.current(store.clock());
    long first = current - window.buckets();
    Instant until = Instant.ofEpochMilli(store.clock().epochMillis() + 1);
    HyperLogLog union = HyperLogLog.create(PRECISION);
    operations
        .getAll(LongStream.rangeClosed(first, current).mapToObj(each -> key(room, each)).toList())
        .forEach(each -> each.ifPresent(value -> union.add(sketch(room, value))));
    double estimate = union.getDistinctCountEstimate();
    Instant from = window.start(first);
    long value = Math.round(estimate);
    return store.intactSince().isAfter(from)
        ? Online.incomplete(value, from, until)
        : new Online(
            value,
            (long) Math.floor(estimate / (1 + ERROR)),
            (long) Math.ceil(estimate / (1 - ERROR)),
            from,
            until,
            true);
  }

  private String key(String room, long bucket) {
    return "online-hll:%s:%s:%d".formatted(Presence.shortName(room), window.shape(), bucket);
  }

  private static String text(HyperLogLog sketch) {
    return Base64.getEncoder().encodeToString(sketch.getState());
  }

  private static HyperLogLog sketch(String name, AtomicOperations.Value value) {
    try {
      HyperLogLog sketch = HyperLogLog.wrap(Base64.getDecoder().decode(value.text()));
      if (sketch.getP() == PRECISION) {
        return sketch;
      }
    } catch (IllegalArgumentException e) {
      // reported below
    }
    throw new NotAppliedException(
        Reason.CORRUPT, "the stored sketch of %s is malformed".formatted(name));
  }
}
