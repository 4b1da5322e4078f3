package dev.quipu.layer;

import dev.quipu.QuipuException;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreDriver.Finding;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A driver that forwards every call to another; subclasses override some of them. It overrides the
 * default methods of {@link StoreDriver} too, so that a wrapper never answers with a default in
 * place of the wrapped driver.
 */
public abstract class ForwardingDriver implements BatchDriver, ScanDriver {
  /** Creates a driver. */
  protected ForwardingDriver() {}

  /**
   * Returns the driver to forward to.
   *
   * @throws QuipuException if there is none now; the call had no effect
   */
  protected abstract StoreDriver driver();

  /** Forwards a call; override it to change all calls. */
  protected <T> T forward(Supplier<T> call) {
    return call.get();
  }

  /** Forwards a write to an item; override it to change all writes. */
  protected <T> T forwardWrite(Supplier<T> write) {
    return forward(write);
  }

  @Override
  public StoreProfile profile() {
    return driver().profile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return forward(() -> driver().get(key, consistency));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return forward(() -> BatchDriver.of(driver()).getAll(keys));
  }

  @Override
  public List<Optional<Item>> getEach(List<Key> keys) {
    return forward(() -> BatchDriver.of(driver()).getEach(keys));
  }

  @Override
  public WriteResult write(Write write) {
    return forwardWrite(() -> driver().write(write));
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return forwardWrite(() -> BatchDriver.of(driver()).writeAll(writes, token));
  }

  @Override
  public Page scan(Scan scan) {
    return forward(() -> ScanDriver.of(driver()).scan(scan));
  }

  @Override
  public long count(Scan scan) {
    return forward(() -> ScanDriver.of(driver()).count(scan));
  }

  @Override
  public List<String> partitions(String prefix, String after, int namesMax) {
    return forward(() -> ScanDriver.of(driver()).partitions(prefix, after, namesMax));
  }

  @Override
  public void addTokens(Key key, String field, Set<String> tokens) {
    forwardWrite(() -> {
      driver().addTokens(key, field, tokens);
      return tokens;
    });
  }

  @Override
  public void dropTokens(Key key, String field, Set<String> tokens) {
    forwardWrite(() -> {
      driver().dropTokens(key, field, tokens);
      return tokens;
    });
  }

  @Override
  public Optional<AtomicOperations> operations() {
    return driver().operations();
  }

  @Override
  public Instant intactSince() {
    return forward(() -> driver().intactSince());
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    return forward(() -> driver().removeExpired(before, itemsMax));
  }

  @Override
  public Optional<Instant> time() {
    return forward(() -> driver().time());
  }

  @Override
  public List<Finding> inspect() {
    return forward(() -> driver().inspect());
  }

  @Override
  public Map<Measure, Long> measures() {
    return driver().measures();
  }

  @Override
  public void close() {
    driver().close();
  }
}
