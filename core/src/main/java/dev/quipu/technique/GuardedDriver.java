package dev.quipu.technique;

import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Consistency;
import dev.quipu.store.Finding;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Page;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A driver that asks a {@link RecordGuard} before each write. Closing it closes nothing. */
final class GuardedDriver implements StoreDriver {
  private final StoreDriver driver;
  private final RecordGuard guard;

  GuardedDriver(StoreDriver driver, RecordGuard guard) {
    this.driver = driver;
    this.guard = guard;
  }

  @Override
  public StoreProfile profile() {
    return driver.profile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return driver.get(key, consistency);
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return driver.getAll(keys);
  }

  @Override
  public Page scan(Scan scan) {
    return driver.scan(scan);
  }

  @Override
  public long count(Scan scan) {
    return driver.count(scan);
  }

  @Override
  public WriteResult write(Write write) {
    guard.requireMayWrite();
    return driver.write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    guard.requireMayWrite();
    return driver.writeAll(writes, token);
  }

  @Override
  public void addTokens(Key key, String field, Set<String> tokens) {
    guard.requireMayWrite();
    driver.addTokens(key, field, tokens);
  }

  @Override
  public void dropTokens(Key key, String field, Set<String> tokens) {
    guard.requireMayWrite();
    driver.dropTokens(key, field, tokens);
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    guard.requireMayWrite();
    return driver.removeExpired(before, itemsMax);
  }

  /** Named values of memcached: no counters, so nothing of the record concerns them. */
  @Override
  public Optional<AtomicOperations> operations() {
    return driver.operations();
  }

  @Override
  public Instant intactSince() {
    return driver.intactSince();
  }

  @Override
  public Optional<Instant> time() {
    return driver.time();
  }

  @Override
  public List<Finding> inspect() {
    return driver.inspect();
  }

  @Override
  public void close() {}
}
