package dev.quipu.memcached;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Item.Version;
import dev.quipu.time.Clock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import net.rubyeye.xmemcached.GetsResponse;
import net.rubyeye.xmemcached.MemcachedClient;
import org.jspecify.annotations.Nullable;

/**
 * Executes atomic operations as native commands on the caller's keys. Values are UTF-8 texts with
 * flags 0.
 */
final class MemcachedOperations implements AtomicOperations {
  private static final long RELATIVE_SECONDS_MAX =
      60L * 60 * 24 * 30; // above, it is an absolute time

  private final MemcachedClient client;
  private final long timeoutMillis;
  private final Clock clock;

  MemcachedOperations(MemcachedClient client, Duration timeout, Clock clock) {
    this.client = client;
    this.timeoutMillis = timeout.toMillis();
    this.clock = clock;
  }

  @Override
  public Optional<Value> get(String key) {
    AtomicOperations.checkKey(key);
    return Optional.ofNullable(
            MemcachedDriver.call(
                client,
                Outcome.NOT_APPLIED,
                () -> client.gets(key, timeoutMillis, ItemCodec.BYTES)))
        .map(MemcachedOperations::value);
  }

  @Override
  public List<Optional<Value>> getAll(List<String> keys) {
    keys.forEach(AtomicOperations::checkKey);
    if (keys.isEmpty()) {
      return List.of();
    }
    Map<String, GetsResponse<byte[]>> found =
        MemcachedDriver.call(
            client,
            Outcome.NOT_APPLIED,
            () -> client.gets(new HashSet<>(keys), timeoutMillis, ItemCodec.BYTES));
    return keys.stream()
        .map(key -> Optional.<GetsResponse<byte[]>>ofNullable(found.get(key)))
        .map(each -> each.map(MemcachedOperations::value))
        .toList();
  }

  private static Value value(GetsResponse<byte[]> found) {
    String text = new String(found.getValue(), StandardCharsets.UTF_8);
    return new Value(text, new Version(Long.toUnsignedString(found.getCas())));
  }

  @Override
  public void set(String key, String value, Optional<Duration> expiry) {
    AtomicOperations.checkKey(key);
    byte[] bytes = bytes(value);
    int seconds = seconds(expiry);
    write(() -> client.set(key, seconds, bytes, ItemCodec.BYTES, timeoutMillis));
  }

  @Override
  public boolean add(String key, String value, Optional<Duration> expiry) {
    AtomicOperations.checkKey(key);
    byte[] bytes = bytes(value);
    int seconds = seconds(expiry);
    return write(() -> client.add(key, seconds, bytes, ItemCodec.BYTES, timeoutMillis));
  }

  @Override
  public boolean replace(String key, String value, Optional<Duration> expiry) {
    AtomicOperations.checkKey(key);
    byte[] bytes = bytes(value);
    int seconds = seconds(expiry);
    return write(() -> client.replace(key, seconds, bytes, ItemCodec.BYTES, timeoutMillis));
  }

  @Override
  public boolean append(String key, String text) {
    AtomicOperations.checkKey(key);
    AtomicOperations.checkValue(text);
    return write(() -> client.append(key, text, timeoutMillis));
  }

  @Override
  public boolean prepend(String key, String text) {
    AtomicOperations.checkKey(key);
    AtomicOperations.checkValue(text);
    return write(() -> client.prepend(key, text, timeoutMillis));
  }

  @Override
  public boolean cas(String key, String value, Version version, Optional<Duration> expiry) {
    AtomicOperations.checkKey(key);
    byte[] bytes = bytes(value);
    int seconds = seconds(expiry);
    long unique = Long.parseUnsignedLong(version.token());
    return write(() -> client.cas(key, seconds, bytes, ItemCodec.BYTES, timeoutMillis, unique));
  }

  @Override
  public OptionalLong incr(String key, long delta) {
    return count(
        key, delta, () -> client.incr(key, delta, CountCommand.REPORT_MISS, timeoutMillis));
  }

  @Override
  public OptionalLong decr(String key, long delta) {
    return count(
        key, delta, () -> client.decr(key, delta, CountCommand.REPORT_MISS, timeoutMillis));
  }

  private OptionalLong count(String key, long delta, MemcachedDriver.Call<Long> call) {
    AtomicOperations.checkKey(key);
    AtomicOperations.checkDelta(delta);
    try {
      return OptionalLong.of(write(call));
    } catch (QuipuException e) {
      if (Failures.isMiss(e)) {
        return OptionalLong.empty();
      }
      throw e;
    }
  }

  @Override
  public boolean touch(String key, Optional<Duration> expiry) {
    AtomicOperations.checkKey(key);
    int seconds = seconds(expiry);
    return write(() -> client.touch(key, seconds, timeoutMillis));
  }

  @Override
  public boolean delete(String key) {
    AtomicOperations.checkKey(key);
    return write(() -> client.delete(key, timeoutMillis));
  }

  private <T> T write(MemcachedDriver.Call<T> call) {
    return MemcachedDriver.call(client, Outcome.UNKNOWN, call);
  }

  private static byte[] bytes(String value) {
    return AtomicOperations.checkValue(value).getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the expiry for memcached: 0 for never, seconds from now, or an absolute time. */
  private int seconds(Optional<Duration> expiry) {
    @Nullable Duration time = AtomicOperations.checkExpiry(expiry).orElse(null);
    if (time == null) {
      return 0;
    }
    long seconds = time.plusNanos(999_999_999).toSeconds();
    return Math.toIntExact(
        seconds <= RELATIVE_SECONDS_MAX ? seconds : clock.epochMillis() / 1_000 + seconds);
  }
}
