package dev.quipu;

import java.nio.file.Path;
import java.util.ServiceLoader;

/**
 * Where counting starts.
 *
 * <pre>{@code
 * try (Quipu quipu = Quipu.builder().directory(Path.of("data")).build()) {
 *   Counter likes = quipu.counter("article/42");
 *   likes.add(1, RequestId.of("order-981"));
 *   Counter seats = quipu.counter("event/7").withBounds(Bounds.atLeast(0));
 *   seats.add(-2, RequestId.of("order-982"));
 * }
 * }</pre>
 */
public final class Quipu implements AutoCloseable {
  private final Backend backend;

  /** What counts: the engine, or a technique on a store. */
  public interface Backend extends AutoCloseable {
    /** All counters. */
    Counters counters();

    /**
     * Something else that stands on the same store; the same object each time.
     *
     * @throws UnsupportedOperationException if there is none
     */
    <T> T part(Class<T> type);

    /** Whether it counts in one of several regions, and has no part but its counters. */
    boolean isRegional();

    @Override
    void close();
  }

  /** Opens the embedded engine; found by {@link ServiceLoader}. */
  public interface Opener {
    /**
     * Opens the engine over a directory, which it creates if need be.
     *
     * @throws QuipuException if the directory is locked, damaged or not writable
     */
    Quipu open(Path directory);
  }

  private Quipu(Backend backend) {
    this.backend = backend;
  }

  /**
   * Counts on the embedded engine, in files under {@code directory}.
   *
   * @throws QuipuException if the directory is locked, damaged or not writable
   * @throws IllegalStateException if {@code quipu-engine} is not on the class path
   */
  public static Quipu open(Path directory) {
    return ServiceLoader.load(Opener.class)
        .findFirst()
        .orElseThrow(
            () -> new IllegalStateException("dev.quipu:quipu-engine is not on the class path"))
        .open(directory);
  }

  /** Counts on a backend, which is closed with this; {@code Backends} makes them. */
  public static Quipu on(Backend backend) {
    return new Quipu(backend);
  }

  /** A counter without bounds. */
  public Counter counter(String name) {
    return counter(name, Bounds.none());
  }

  /** A counter that stays within bounds. */
  public Counter counter(String name, Bounds bounds) {
    return new Counter(counters(), name, bounds);
  }

  /** All counters, by name. */
  public Counters counters() {
    return backend.counters();
  }

  /**
   * What else counts on the same store: {@code ViewCounter} for exact unique views, {@code
   * SequenceOfRecords} for records that are numbered without a gap, {@code Presence} for who is
   * online, {@code UniqueValues}, {@code DisplayCounters}, and {@code Store} for the rest.
   *
   * @throws UnsupportedOperationException if there is none, as in one of several regions
   */
  public <T> T part(Class<T> type) {
    return backend.part(type);
  }

  /** Whether it counts in one of several regions, and has no part but its counters. */
  public boolean isRegional() {
    return backend.isRegional();
  }

  @Override
  public void close() {
    backend.close();
  }
}
