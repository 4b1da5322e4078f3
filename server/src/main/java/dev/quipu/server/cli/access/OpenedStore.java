package dev.quipu.server.cli.access;

import dev.quipu.QuipuException;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.StoreClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import dev.quipu.time.Clock;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store that was opened by the URI of an option.
 *
 * @param name the URI without a password
 * @param engine the engine, if the store is one
 */
public record OpenedStore(
    StoreDriver driver, String name, Optional<Engine> engine, Runnable onClose)
    implements AutoCloseable {
  /** Options of commands, which do not know the window of the server of a directory. */
  public static final EngineOptions KEEPS_ALL_IDS =
      EngineOptions.defaults().withWindow(EngineOptions.WINDOW_MAX);

  private static final String ENGINE = "engine:";
  private static final Logger LOGGER = LoggerFactory.getLogger(OpenedStore.class);

  /**
   * Opens the store of {@code --store}.
   *
   * @throws IllegalArgumentException if no driver supports the URI
   */
  public static OpenedStore of(String uri) {
    return of("--store", uri);
  }

  /**
   * Opens the store of another option.
   *
   * @param option the name of the option, for messages
   */
  public static OpenedStore of(String option, String uri) {
    if (isEngine(uri)) {
      Engine engine = Engine.open(directory(uri), KEEPS_ALL_IDS);
      return new OpenedStore(engine.driver(), uri, Optional.of(engine), engine::close);
    }
    if (uri.equals("memory:")) {
      MemoryDriver memory = new MemoryDriver();
      return new OpenedStore(memory, uri, Optional.empty(), memory::close);
    }
    if (!uri.contains("://")) {
      throw new IllegalArgumentException(
          "%s has no '://'; it must be engine:DIR, memory: or a URI like redis://HOST:PORT"
              .formatted(option)); // it may hold a password
    }
    URI parsed = StoreUri.parse(uri);
    StoreDriver driver = provider(parsed).open(parsed);
    return new OpenedStore(driver, StoreUri.shown(parsed), Optional.empty(), driver::close);
  }

  private static StoreProvider provider(URI uri) {
    try {
      return StoreProvider.of(uri);
    } catch (IllegalArgumentException e) { // its message ends with the list of those
      throw new IllegalArgumentException(e.getMessage() + ", engine:DIR, memory:", e);
    }
  }

  /** Returns the store, with its own clock if it has one. */
  public Store store() {
    return new Store(driver, StoreClock.of(driver, Clock.system()));
  }

  /**
   * Opens the store now, or at the first call if it is unreachable now.
   *
   * @throws IllegalArgumentException if no driver supports the URI
   * @throws QuipuException if it cannot be opened for another reason
   */
  public static OpenedStore orLater(String uri) {
    try {
      return of(uri);
    } catch (QuipuException e) {
      URI parsed = StoreUri.parse(uri);
      boolean canWait = StoreProvider.of(parsed).fullProfile().has(Capability.ATOMIC_BATCH);
      if (!e.reason().isTemporary() || !canWait) {
        throw e;
      }
      LOGGER
          .atWarn()
          .addKeyValue("store", StoreUri.shown(parsed))
          .addKeyValue("cause", e.getMessage())
          .log("Store unreachable; will be opened at the first call");
      LaterDriver later = new LaterDriver(uri);
      return new OpenedStore(later, StoreUri.shown(parsed), Optional.empty(), later::close);
    }
  }

  /** Returns whether a URI is {@code engine:DIR}. */
  public static boolean isEngine(String uri) {
    return uri.startsWith(ENGINE) && uri.length() > ENGINE.length();
  }

  /** Returns the directory of an engine URI. */
  public static Path directory(String uri) {
    return Path.of(uri.substring(ENGINE.length()));
  }

  @Override
  public void close() {
    onClose.run();
  }
}
