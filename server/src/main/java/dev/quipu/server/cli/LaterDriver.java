package dev.quipu.server.cli;

import dev.quipu.store.Capability;
import dev.quipu.store.Consistency;
import dev.quipu.store.Finding;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Page;
import dev.quipu.store.Reason;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store that is opened when it is first asked: a server starts while it is away. Calls that
 * cannot open it had no effect. Until it is open, it is assumed to be set up for the most. Not for
 * memcached, whose own atomic operations this does not have.
 */
final class LaterDriver implements StoreDriver {
  /** Pause after an attempt to open it failed. */
  private static final Duration SILENCE = Duration.ofSeconds(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(LaterDriver.class);

  private final URI uri;
  private final StoreProvider provider;
  private final Clock clock = Clock.system();
  private @Nullable StoreDriver opened;
  private @Nullable StoreException failed;
  private long failedNanos;

  /**
   * Does not open it yet.
   *
   * @throws IllegalArgumentException if no store has such a URI
   */
  LaterDriver(String uri) {
    this.uri = StoreUri.parse(uri);
    this.provider = StoreProvider.of(this.uri);
  }

  /**
   * The driver.
   *
   * @throws StoreException if it cannot be opened
   */
  private synchronized StoreDriver driver() {
    StoreDriver known = opened;
    if (known != null) {
      return known;
    }
    StoreException last = failed;
    if (last != null && clock.nanoTime() - failedNanos < SILENCE.toNanos()) {
      throw StoreException.notApplied(last.reason(), last.getMessage());
    }
    try {
      known = provider.open(uri);
      requireAssumed(known);
      opened = known;
      return known;
    } catch (StoreException e) {
      failed = e;
      failedNanos = clock.nanoTime();
      throw StoreException.notApplied(e.reason(), e.getMessage()); // opening it counts nothing
    }
  }

  /** What was decided by the assumed profile holds for the real one, or the store is not used. */
  private void requireAssumed(StoreDriver driver) {
    Set<Capability> lacking = EnumSet.copyOf(profile().capabilities());
    lacking.removeAll(driver.profile().capabilities());
    if (lacking.remove(Capability.DURABLE)) {
      LOGGER.warn("Store {} is not durable as it is set up", StoreUri.shown(uri));
    }
    boolean reaches = driver.profile().atomicity().compareTo(profile().atomicity()) >= 0;
    if (!lacking.isEmpty() || !reaches) {
      driver.close();
      throw StoreException.notApplied(
          Reason.DENIED,
          "store %s cannot do all that was assumed while it was away; restart this process"
              .formatted(StoreUri.shown(uri)));
    }
  }

  @Override
  public StoreProfile profile() {
    return provider.fullProfile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return driver().get(key, consistency);
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return driver().getAll(keys);
  }

  @Override
  public WriteResult write(Write write) {
    return driver().write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return driver().writeAll(writes, token);
  }

  @Override
  public Page scan(Scan scan) {
    return driver().scan(scan);
  }

  @Override
  public long count(Scan scan) {
    return driver().count(scan);
  }

  @Override
  public void addTokens(Key key, String field, Set<String> tokens) {
    driver().addTokens(key, field, tokens);
  }

  @Override
  public void dropTokens(Key key, String field, Set<String> tokens) {
    driver().dropTokens(key, field, tokens);
  }

  @Override
  public Instant intactSince() {
    return driver().intactSince();
  }

  @Override
  public Optional<Instant> time() {
    return driver().time();
  }

  @Override
  public List<Finding> inspect() {
    return driver().inspect();
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    return driver().removeExpired(before, itemsMax);
  }

  @Override
  public synchronized void close() {
    if (opened != null) {
      opened.close();
    }
  }
}
