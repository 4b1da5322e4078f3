package dev.quipu;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * The entry point: counters in a directory, or on a store. Thread-safe; close it after use.
 *
 * <pre>{@code
 * try (Quipu quipu = Quipu.builder().directory(Path.of("data")).build()) {
 *   Counter seats = quipu.counter("event/7").withBounds(Bounds.atLeast(0));
 *   long left = seats.add(-2, RequestId.of("order-982")).orElseThrow().value();
 * }
 * }</pre>
 */
public final class Quipu implements AutoCloseable {
  private final Backend backend;

  private Quipu(Backend backend) {
    this.backend = backend;
  }

  /** Returns a builder, which needs a directory or a store. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns counters on a backend, which is closed with them. */
  public static Quipu on(Backend backend) {
    return new Quipu(backend);
  }

  /** Returns a counter without bounds. */
  public Counter counter(String name) {
    return new Counter(counters(), name, Bounds.none(), null);
  }

  /** Returns all counters. */
  public Counters counters() {
    return backend.counters();
  }

  /**
   * Returns another service on the same store: {@code ViewCounter} for exact unique views, {@code
   * SequenceOfRecords} for records numbered without a gap, {@code RevisionLog} for the number of
   * entities that have revisions, {@code RangeJobs} for numbers processed in ranges, {@code
   * Presence} for users online, {@code UniqueValues}, {@code DisplayCounters}, and {@code Store}
   * for the rest.
   *
   * @throws UnsupportedOperationException if there is none, as in one of several regions
   */
  public <T> T part(Class<T> type) {
    return backend.part(type);
  }

  /** Returns whether this is one of several regions, which has no part but its counters. */
  public boolean isRegional() {
    return backend.isRegional();
  }

  @Override
  public void close() {
    backend.close();
  }

  /** Builds a {@link Quipu}. */
  public static final class Builder {
    private @Nullable Path directory;
    private @Nullable String store;
    private @Nullable String technique;
    private @Nullable Duration requestIdRetention;

    private Builder() {}

    /** Uses the embedded engine, with files in this directory, which is created if needed. */
    public Builder directory(Path path) {
      directory = path;
      return this;
    }

    /**
     * Uses the store with this URI, such as {@code redis://127.0.0.1} or {@code
     * postgresql://user@127.0.0.1/db}. The client is closed with the counters. To use your own
     * driver, see {@code dev.quipu.backend.Backends}.
     */
    public Builder store(String uri) {
      store = uri;
      return this;
    }

    /**
     * Uses this technique; the default is the one with the strongest guarantees that works on the
     * store.
     */
    public Builder technique(String name) {
      technique = name;
      return this;
    }

    /**
     * Keeps request ids for this time: an add repeated within it counts exactly once. By default 24
     * hours on the embedded engine, and forever on a store.
     *
     * @param time 1 second to 366 days
     */
    public Builder requestIdRetention(Duration time) {
      requestIdRetention = Limits.checkRetention("requestIdRetention", time);
      return this;
    }

    /**
     * Opens the directory or the store.
     *
     * @throws IllegalStateException if neither or both are given, or {@code quipu-engine} or {@code
     *     quipu-techniques} is not on the class path
     * @throws IllegalArgumentException if the URI is malformed or its store is not on the class
     *     path, the technique does not work on the store, or the store is used with other settings
     * @throws NotAppliedException if the directory is locked, damaged or not writable, or the store
     *     does not respond
     */
    public Quipu build() {
      if ((directory == null) == (store == null)) {
        throw new IllegalStateException(
            directory == null
                ? "neither directory nor store is set; set one of them"
                : "directory and store are both set; set one of them");
      }
      Settings settings =
          new Settings(
              Optional.ofNullable(directory),
              Optional.ofNullable(store),
              Optional.ofNullable(technique),
              Optional.ofNullable(requestIdRetention));
      for (Opener opener : ServiceLoader.load(Opener.class)) {
        Optional<Backend> backend = opener.open(settings);
        if (backend.isPresent()) {
          return on(backend.get());
        }
      }
      throw new IllegalStateException(
          "dev.quipu:%s is not on the class path"
              .formatted(directory == null ? "quipu-techniques" : "quipu-engine"));
    }
  }

  /**
   * The settings of a builder.
   *
   * @param directory where the embedded engine keeps its files
   * @param store the URI of the store, if there is no directory
   * @param technique the name of the technique, if not the default
   * @param requestIdRetention how long request ids are kept, if not the default
   */
  public record Settings(
      Optional<Path> directory,
      Optional<String> store,
      Optional<String> technique,
      Optional<Duration> requestIdRetention) {}

  /** Opens a backend; found by {@link ServiceLoader}. */
  public interface Opener {
    /** Returns the backend, or empty if the settings are not for this opener. */
    Optional<Backend> open(Settings settings);
  }

  /** The implementation of the counters: the engine, or a technique on a store. */
  public interface Backend extends AutoCloseable {
    /** Returns all counters. */
    Counters counters();

    /**
     * Returns another service on the same store; the same object each time.
     *
     * @throws UnsupportedOperationException if there is none
     */
    <T> T part(Class<T> type);

    /** Returns whether this is one of several regions, which has no part but its counters. */
    boolean isRegional();

    @Override
    void close();
  }
}
