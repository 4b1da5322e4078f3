package dev.quipu.server.cli.access;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import dev.quipu.time.Clock;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A driver that opens its store at the first call, so that a server starts while the store is
 * unreachable. Calls that cannot open it have no effect. Until it is open, it is assumed to have
 * all capabilities. Not for memcached, whose native atomic operations this driver does not have.
 */
public final class LaterDriver extends ForwardingDriver {
  /** Pause after a failed attempt to open the store. */
  private static final Duration SILENCE = Duration.ofSeconds(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(LaterDriver.class);

  private final URI uri;
  private final StoreProvider provider;
  private final Clock clock = Clock.system();
  private @Nullable StoreDriver opened;
  private @Nullable QuipuException failed;
  private long failedNanos;

  /**
   * Creates a driver, without opening the store.
   *
   * @throws IllegalArgumentException if no driver supports the URI
   */
  public LaterDriver(String uri) {
    this.uri = StoreUri.parse(uri);
    this.provider = StoreProvider.of(this.uri);
  }

  @Override
  protected synchronized StoreDriver driver() {
    StoreDriver known = opened;
    if (known != null) {
      return known;
    }
    QuipuException last = failed;
    if (last != null && clock.nanoTime() - failedNanos < SILENCE.toNanos()) {
      throw new NotAppliedException(last.reason(), last.getMessage());
    }
    try {
      known = provider.open(uri);
      requireAssumed(known);
      opened = known;
      return known;
    } catch (QuipuException e) {
      failed = e;
      failedNanos = clock.nanoTime();
      throw new NotAppliedException(e.reason(), e.getMessage()); // opening a store applies nothing
    }
  }

  /** Rejects a store that lacks an assumed capability, since decisions were based on it. */
  private void requireAssumed(StoreDriver driver) {
    Set<Capability> lacking = EnumSet.copyOf(profile().capabilities());
    lacking.removeAll(driver.profile().capabilities());
    if (lacking.remove(Capability.DURABLE)) {
      LOGGER.atWarn().addKeyValue("store", StoreUri.shown(uri)).log("Store is not durable");
    }
    boolean reaches = driver.profile().atomicity().compareTo(profile().atomicity()) >= 0;
    if (!lacking.isEmpty() || !reaches) {
      driver.close();
      throw new NotAppliedException(
          Reason.DENIED,
          "store %s lacks capabilities assumed while it was unreachable; restart this process"
              .formatted(StoreUri.shown(uri)));
    }
  }

  @Override
  public StoreProfile profile() {
    return provider.fullProfile();
  }

  @Override
  public Optional<AtomicOperations> operations() {
    return Optional.empty();
  }

  /** Returns none before the store was opened. */
  @Override
  public synchronized Map<Measure, Long> measures() {
    return opened == null ? Map.of() : opened.measures();
  }

  @Override
  public synchronized void close() {
    if (opened != null) {
      opened.close();
    }
  }
}
