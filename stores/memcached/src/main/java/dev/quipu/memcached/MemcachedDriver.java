package dev.quipu.memcached;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.StoreClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import net.rubyeye.xmemcached.GetsResponse;
import net.rubyeye.xmemcached.MemcachedClient;
import net.rubyeye.xmemcached.exception.MemcachedException;
import net.rubyeye.xmemcached.exception.UnknownCommandException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Driver for memcached 1.4 and later, by the text protocol. A cache: it loses items, and with them
 * their counts, by eviction and restarts.
 *
 * <p><b>Stored.</b> One entry per item, with the key {@code quipu:PARTITION:SORT}, where all but
 * letters, digits and {@code ._-/} is percent-encoded; above 250 bytes, {@code quipu#} and a
 * digest. Its value has one of two forms:
 *
 * <pre>
 * digits   a lone number in the field "value", plus 2^62, since numbers of memcached are unsigned.
 *          Created by an add to a missing item, while within ±2^61
 * binary   any other item: {@link ItemCodec}
 * </pre>
 *
 * <p><b>Protocol.</b>
 *
 * <ol>
 *   <li>An unconditional add of at most 2^32 to the field "value" is an {@code incr} or {@code
 *       decr}; on a miss, an {@code add} of the digits, and on a conflict {@code incr} again.
 *       Beyond ±2^61 it becomes binary: the remaining range holds a thousand million more such
 *       adds.
 *   <li>Any other write, or a binary value: {@code gets}, evaluate and change the item in the
 *       driver, then {@code cas}, or {@code add} if it is missing; on a conflict, again. A delete
 *       is a {@code cas} with an expiry in the past.
 * </ol>
 *
 * <p><b>Atomic.</b> One item. <b>Limits.</b> An item of 1,000,000 bytes. <b>Not durable.</b> After
 * a restart or an eviction a counter starts at 0, and versions of digits may recur.
 *
 * <p><b>After a lost connection</b> the outcome of a write is unknown. The client never retries.
 * With several servers it must be in failure mode; otherwise it uses another server while one is
 * down.
 *
 * @see <a href="https://github.com/memcached/memcached/blob/master/doc/protocol.txt">protocol</a>
 */
public final class MemcachedDriver implements StoreDriver {
  static final StoreProfile PROFILE =
      new StoreProfile(
          "memcached",
          EnumSet.of(
              Capability.STRONG_READ,
              Capability.NATIVE_ADD,
              Capability.NATIVE_UPDATE,
              Capability.NATIVE_EXPIRY),
          Atomicity.ITEM,
          1,
          1_000_000);

  private static final Logger LOGGER = LoggerFactory.getLogger(MemcachedDriver.class);
  private static final int RACES_MAX = 1_000;
  private static final long NATIVE_DELTA_MAX = 1L << 32;
  private static final long HALF_SECOND_MILLIS = 500; // memcached reports whole seconds
  private static final int ALREADY_EXPIRED =
      60 * 60 * 24 * 30 + 1; // the smallest absolute time, in 1970
  private static final long NONE = -1; // no cas unique
  private static final Version UNKNOWN = new Version(""); // incr returns no version

  private final MemcachedClient client;
  private final long timeoutMillis;
  private final @Nullable MemcachedOperations operations;
  private final LossDetector losses;
  private final Runnable onClose;
  // Tokens are unique across processes, so that no version recurs.
  private final FreshTokens tokens = new FreshTokens();

  private MemcachedDriver(
      MemcachedClient client, Duration timeout, Clock clock, boolean isOwn, Runnable onClose) {
    this.client = client;
    this.timeoutMillis = timeout.toMillis();
    this.operations = isOwn ? new MemcachedOperations(client, timeout, clock) : null;
    this.losses = new LossDetector(client, clock);
    this.onClose = onClose;
  }

  /**
   * Opens a driver on the servers of a client.
   *
   * @param client the caller shuts it down; it must not change keys ({@code sanitizeKeys}). Its
   *     {@code incr} does not report a miss, so {@code Store.operations} use conditional writes;
   *     with a client that {@link MemcachedProvider} opens, they are native
   * @param timeout longest wait for one reply
   */
  public static MemcachedDriver of(MemcachedClient client, Duration timeout) {
    if (client.getServersDescription().size() > 1 && !client.isFailureMode()) {
      LOGGER.warn(
          "The memcached client is not in failure mode: while a server is down it uses"
              + " another, whose counts are lost when the server returns. Set failureMode");
    }
    return new MemcachedDriver(client, timeout, clock(client), false, () -> {});
  }

  /** Returns the clock of the servers. */
  static Clock clock(MemcachedClient client) {
    return StoreClock.of(() -> time(client), Clock.system());
  }

  /** Opens a driver on a client whose {@code incr} and {@code decr} are {@link CountCommand}. */
  static MemcachedDriver ofOwn(
      MemcachedClient client, Duration timeout, Clock clock, Runnable onClose) {
    return new MemcachedDriver(client, timeout, clock, true, onClose);
  }

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return Optional.ofNullable(gets(key)).map(found -> found.item);
  }

  @Override
  public WriteResult write(Write write) {
    if (write instanceof Write.Update update
        && update.isLoneAdd()
        && update.changes().getFirst() instanceof Change.Add add
        && -NATIVE_DELTA_MAX <= add.delta()
        && add.delta() <= NATIVE_DELTA_MAX) {
      Optional<Item> after = addDigits(update.key(), add.delta());
      if (after.isPresent()) {
        return new WriteResult.Applied(after);
      }
    }
    return swap(write);
  }

  /** Executes step 1 of the protocol; empty if the value is binary. */
  private Optional<Item> addDigits(Key key, long delta) {
    String name = ItemCodec.name(key);
    long initial = ItemCodec.BIAS + delta;
    long value;
    try {
      long digits =
          call(
              client,
              Outcome.UNKNOWN,
              () ->
                  delta < 0
                      ? client.decr(name, -delta, initial, timeoutMillis)
                      : client.incr(name, delta, initial, timeoutMillis));
      value = digits - ItemCodec.BIAS;
    } catch (QuipuException e) {
      if (Failures.isNotANumber(e)) {
        return Optional.empty();
      }
      throw e;
    }
    if (!ItemCodec.fitsDigits(value)) {
      makeBinary(key);
    }
    Map<String, Field> fields = Map.of(Item.VALUE, new Field.Number(value));
    return Optional.of(new Item(key, fields, UNKNOWN, Optional.empty()));
  }

  /** Converts digits to binary. If that fails, the next add retries it. */
  private void makeBinary(Key key) {
    try {
      Found found = gets(key);
      if (found != null && !ItemCodec.isBinary(found.item.version())) {
        store(found.item, found.cas);
      }
    } catch (QuipuException e) {
      LOGGER.debug("Conversion of digits to binary failed; the next add retries", e);
    }
  }

  /** Executes step 2 of the protocol. */
  private WriteResult swap(Write write) {
    for (int race = 0; race < RACES_MAX; race++) {
      Found found = gets(write.key());
      Optional<Item> before = Optional.ofNullable(found).map(each -> each.item);
      Write.Effect effect = write.applyTo(before, nextVersion());
      if (!(effect instanceof Write.Effect.Now now)) {
        return new WriteResult.ConditionFailed(write.key(), before);
      }
      boolean done;
      if (now.item().isPresent()) {
        done = store(now.item().get(), found == null ? NONE : found.cas);
      } else {
        done = found == null || delete(found);
      }
      if (done) {
        return new WriteResult.Applied(now.item());
      }
    }
    throw write.key().contended(RACES_MAX + " attempts");
  }

  private record Found(Item item, long cas) {}

  private @Nullable Found gets(Key key) {
    GetsResponse<byte[]> found =
        call(
            client,
            Outcome.NOT_APPLIED,
            () -> client.gets(ItemCodec.name(key), timeoutMillis, ItemCodec.BYTES));
    return found == null
        ? null
        : new Found(ItemCodec.item(key, found.getValue(), found.getCas()), found.getCas());
  }

  /** Stores an item; returns false on a conflict. */
  private boolean store(Item item, long cas) {
    Item binary =
        ItemCodec.isBinary(item.version())
            ? item
            : new Item(item.key(), item.fields(), nextVersion(), item.expiresAt());
    byte[] value = ItemCodec.bytes(binary);
    if (value.length > ItemCodec.VALUE_BYTES_MAX) {
      throw new NotAppliedException(
          Reason.INVALID,
          "item is %d bytes; the limit of memcached is %d"
              .formatted(value.length, ItemCodec.VALUE_BYTES_MAX));
    }
    String name = ItemCodec.name(item.key());
    int expiry = ItemCodec.expirySeconds(item.expiresAt());
    return call(
        client,
        Outcome.UNKNOWN,
        () ->
            cas == NONE
                ? client.add(name, expiry, value, ItemCodec.BYTES, timeoutMillis)
                : client.cas(name, expiry, value, ItemCodec.BYTES, timeoutMillis, cas));
  }

  private boolean delete(Found found) {
    String name = ItemCodec.name(found.item.key());
    return call(
        client,
        Outcome.UNKNOWN,
        () ->
            client.cas(
                name, ALREADY_EXPIRED, new byte[0], ItemCodec.BYTES, timeoutMillis, found.cas));
  }

  @Override
  public Optional<AtomicOperations> operations() {
    return Optional.ofNullable(operations);
  }

  @Override
  public Optional<Instant> time() {
    return time(client);
  }

  /**
   * Returns the earliest time of all servers that reply, to within a second, so that no item
   * expires too early.
   */
  static Optional<Instant> time(MemcachedClient client) {
    return call(client, Outcome.NOT_APPLIED, client::getStats).values().stream()
        .filter(stats -> stats.containsKey("time"))
        .map(stats -> Long.parseLong(stats.getOrDefault("time", "0")))
        .min(Comparator.naturalOrder())
        .map(seconds -> Instant.ofEpochMilli(seconds * 1_000 + HALF_SECOND_MILLIS));
  }

  @Override
  public Instant intactSince() {
    return losses.intactSince();
  }

  /** A call of the client. */
  interface Call<T> {
    T run() throws TimeoutException, InterruptedException, MemcachedException;
  }

  /**
   * Executes a call of the client.
   *
   * @param lost the outcome if there was no reply
   */
  static <T> T call(MemcachedClient client, Outcome lost, Call<T> call) {
    try {
      return call.run();
    } catch (TimeoutException
        | InterruptedException
        | MemcachedException
        | UnknownCommandException e) {
      throw Failures.of(e, client.getName(), lost);
    }
  }

  private Version nextVersion() {
    return ItemCodec.version(tokens.next());
  }

  @Override
  public void close() {
    onClose.run();
  }
}
