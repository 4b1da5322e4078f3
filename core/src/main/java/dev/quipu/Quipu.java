package dev.quipu;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The entry point: counters in a directory, on a store, or on a server. Thread-safe; close it after
 * use.
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
  private final ObservedCounters counters;

  private Quipu(Backend backend) {
    this.backend = backend;
    this.counters = new ObservedCounters(backend.counters());
  }

  /** Returns a builder, which needs a directory, a store or a server. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns the counters of a server, with the defaults of the client: see {@link Builder#server}.
   * Does not connect before the first call.
   */
  public static Quipu connect(URI server) {
    return builder().server(server).build();
  }

  /** Returns counters on a backend, which is closed with them. */
  public static Quipu on(Backend backend) {
    return new Quipu(backend);
  }

  /** Returns a counter without bounds. */
  public Counter counter(String name) {
    return new Counter(counters(), name, Bounds.none(), null);
  }

  /**
   * Begins a transaction: adds to several counters, of which all are applied or none.
   *
   * @throws UnsupportedOperationException naming the stores that support transactions, if this one
   *     does not
   */
  public Transaction transaction(RequestId id) {
    return new Transaction(part(Transactions.class), id);
  }

  /**
   * Begins a hold: amounts that are reserved now, and settled or released later. {@link #part
   * part(Holds.class)} has the calls by id.
   *
   * @throws UnsupportedOperationException naming the stores that support holds, if this one does
   *     not
   */
  public Hold.Builder hold(RequestId id) {
    return new Hold.Builder(part(Holds.class), id);
  }

  /** Returns all counters. For those of a certain type, see {@link Counters#as}. */
  public Counters counters() {
    return counters;
  }

  /**
   * Reports the calls of {@link #counters} to an observer from now on, in addition to others. Two
   * reads of the clock and the observer's own work are added to each call.
   */
  public void observe(Observer observer) {
    counters.observe(observer);
  }

  /**
   * Adds by another way than {@link #counters}, such as with attributes, and reports that to the
   * observers.
   */
  @CheckReturnValue
  public AddResult observed(Supplier<AddResult> add) {
    return counters.observed(add);
  }

  /**
   * Returns another service on the same store: {@code ViewCounter} for exact unique views, {@code
   * SequenceOfRecords} for records numbered without a gap, {@code RevisionLog} for the number of
   * entities that have revisions, {@code RangeJobs} for numbers processed in ranges, {@code
   * Presence} for users online, {@code UniqueValues}, {@code DisplayCounters}, {@link
   * Transactions}, {@link Holds}, and {@code Store} for the rest.
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

  /** Receives what calls did, on their threads; must neither block nor throw. */
  public interface Observer {
    /** An add has ended, alone or in a batch. */
    void added(ItemResult result);

    /** A call has ended, with a result or an exception. */
    void called(Call call, long nanos);

    /** A kind of call. */
    enum Call {
      ADD,
      ADD_ALL,
      READ,
      READ_ALL,
      SET,
      DELETE,
      LIST,
      OUTCOME,
      CANCEL
    }
  }

  /** Builds a {@link Quipu}. */
  public static final class Builder {
    private @Nullable Path directory;
    private @Nullable String store;
    private @Nullable String technique;
    private @Nullable Duration requestIdRetention;
    private final Map<String, Integer> scales = new TreeMap<>();
    private List<URI> servers = List.of();
    private @Nullable String token;
    private @Nullable Duration timeout;
    private @Nullable Path trustedCertificates;

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
     * Gives new counters a scale by their names: the number of digits after the point. On the
     * engine, a counter that exists keeps its own; on a store, all processes must have the same
     * rules, which are part of its record. May be repeated.
     *
     * @param pattern a name, or a prefix and an asterisk, such as {@code budget/*}; the longest
     *     prefix counts
     * @param digits 0 to {@link Decimal#SCALE_MAX}
     */
    public Builder scale(String pattern, int digits) {
      scales.put(pattern, digits);
      return this;
    }

    /**
     * Uses a server, such as {@code http://127.0.0.1:7080} or {@code https://counts.example}; or
     * several that share a store: if one fails, the next one is used. One URI may have several
     * hosts: {@code http://a:7080,b:7080}. Each call is repeated under its request id until the
     * {@link #timeout}; an add without an id gets one.
     */
    public Builder server(URI first, URI... others) {
      servers = Stream.concat(Stream.of(first), Stream.of(others)).toList();
      return this;
    }

    /** Sends this bearer token to the server. */
    public Builder token(String text) {
      token = text;
      return this;
    }

    /**
     * Ends each call to the server at this time, with all of its retries; 10 s by default.
     *
     * @param limit 1 ms or more
     */
    public Builder timeout(Duration limit) {
      timeout = TimeLimit.check(limit);
      return this;
    }

    /**
     * Trusts servers with these certificates, or certificates issued by them, and no others. By
     * default, the server is trusted if the Java platform does.
     *
     * @param pem a file with X.509 certificates in PEM
     */
    public Builder trustedCertificates(Path pem) {
      trustedCertificates = pem;
      return this;
    }

    /**
     * Opens the directory, the store or the server.
     *
     * @throws IllegalStateException if not exactly one of them is given, a setting of a server is
     *     given without one, or {@code quipu-engine}, {@code quipu-techniques} or {@code
     *     quipu-client} is not on the class path
     * @throws IllegalArgumentException if the URI is malformed or its store is not on the class
     *     path, the technique does not work on the store, or the store is used with other settings
     * @throws NotAppliedException if the directory is locked, damaged or not writable, or the store
     *     does not respond
     */
    public Quipu build() {
      checkChoice();
      Settings settings =
          new Settings(
              Optional.ofNullable(directory),
              Optional.ofNullable(store),
              Optional.ofNullable(technique),
              Optional.ofNullable(requestIdRetention),
              new ScaleRules(scales),
              servers.isEmpty()
                  ? Optional.empty()
                  : Optional.of(
                      new Server(
                          servers,
                          Optional.ofNullable(token),
                          Optional.ofNullable(timeout),
                          Optional.ofNullable(trustedCertificates))));
      for (Opener opener : ServiceLoader.load(Opener.class)) {
        Optional<Backend> backend = opener.open(settings);
        if (backend.isPresent()) {
          return on(backend.get());
        }
      }
      throw new IllegalStateException(
          "dev.quipu:%s is not on the class path"
              .formatted(
                  directory != null
                      ? "quipu-engine"
                      : store != null ? "quipu-techniques" : "quipu-client"));
    }

    private void checkChoice() {
      int chosen = (directory == null ? 0 : 1) + (store == null ? 0 : 1);
      chosen += servers.isEmpty() ? 0 : 1;
      if (chosen != 1) {
        throw new IllegalStateException(
            chosen == 0
                ? "none of directory, store and server is set; set one of them"
                : "%d of directory, store and server are set; set one of them".formatted(chosen));
      }
      if (servers.isEmpty() && (token != null || timeout != null || trustedCertificates != null)) {
        throw new IllegalStateException(
            "token, timeout and trustedCertificates need a server; set one, or remove them");
      }
      if (!servers.isEmpty() && !scales.isEmpty()) {
        throw new IllegalStateException(
            "scale needs a directory or a store; start the server with --scale instead");
      }
    }
  }

  /**
   * The settings of a builder.
   *
   * @param directory where the embedded engine keeps its files
   * @param store the URI of the store, if there is no directory
   * @param technique the name of the technique, if not the default
   * @param requestIdRetention how long request ids are kept, if not the default
   * @param scales the scales of new counters
   * @param server the server, if there is neither a directory nor a store
   */
  public record Settings(
      Optional<Path> directory,
      Optional<String> store,
      Optional<String> technique,
      Optional<Duration> requestIdRetention,
      ScaleRules scales,
      Optional<Server> server) {}

  /**
   * The settings of a builder for a server.
   *
   * @param uris servers that share a store; at least one
   * @param token the bearer token, if any
   * @param timeout the deadline of each call, if not the default
   * @param trustedCertificates a file with the certificates to trust, if not those of the platform
   */
  public record Server(
      List<URI> uris,
      Optional<String> token,
      Optional<Duration> timeout,
      Optional<Path> trustedCertificates) {}

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
