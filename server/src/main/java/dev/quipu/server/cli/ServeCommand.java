package dev.quipu.server.cli;

import dev.quipu.Counters;
import dev.quipu.Quipu;
import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.ingest.SqsClients;
import dev.quipu.ingest.SqsQueue;
import dev.quipu.ingest.StoredQueue;
import dev.quipu.ingest.ViewQueue;
import dev.quipu.presence.Presence;
import dev.quipu.server.LogSetup;
import dev.quipu.server.http.HostProcess;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.Services;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreWatch;
import dev.quipu.store.Sweeper;
import dev.quipu.technique.HitLog;
import dev.quipu.technique.HitLogOptions;
import dev.quipu.technique.LeaseKeeper;
import dev.quipu.technique.RecordGuard;
import dev.quipu.technique.RollUps;
import dev.quipu.technique.ViewCounter;
import dev.quipu.time.Clock;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Starts a server. */
@Command(
    name = "serve",
    description = "Start the server: HTTP, and Redis and memcached if their ports are given.",
    footer = {
      "",
      "SIGTERM and SIGINT stop it gracefully: requests under way are answered, and",
      "it ends with 143 or 130, as the system has it.",
      "",
      "Examples:",
      "  quipu serve --data /var/lib/quipu --window 48h",
      "  quipu serve --data /var/lib/quipu --resp 7379 --memcached 7211",
      "  quipu serve --store redis://127.0.0.1:6379",
      "  quipu serve --store redis://127.0.0.1:6379 --cache memcached://c1,c2",
      "  quipu serve --store dynamodb://eu-west-1/counters --shards 16 --floor 0",
      "  quipu serve --region eu --topology regions.json"
    })
final class ServeCommand implements Callable<Integer> {
  private static final int QUEUE_CONNECTIONS = 64;

  /** In which the event loops of a port answer that is not dead. */
  private static final Duration ANSWERS = Duration.ofSeconds(2);

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Keep the counts here (default: quipu-data). Same as --store engine:DIR.")
  private @Nullable Path data;

  @Option(
      names = "--store",
      paramLabel = "URI",
      description =
          "Where to count: engine:DIR, memory: for counts that may be lost, or another store"
              + " (quipu stores lists them).")
  private @Nullable String store;

  @Mixin private CountingFlags counting = new CountingFlags();

  @Mixin private CacheOptions cache = new CacheOptions();

  @Mixin private OnlineOptions online = new OnlineOptions();

  @Mixin private ViewFlags views = new ViewFlags();

  @Option(
      names = "--queue",
      paramLabel = "WHERE",
      description =
          "Answer a view when it is in this queue, and count it later: the URL of an SQS queue"
              + " (quipu ingest sqs counts), or engine:DIR for a queue of the server's own, which"
              + " takes views while the store is slow or away.")
  private @Nullable String queue;

  @Option(
      names = "--allow-origin",
      paramLabel = "ORIGIN",
      description =
          "Let pages of this site send views and show hit badges, without a token; may be given"
              + " several times, * is all.")
  private List<String> origins = List.of();

  @Option(
      names = "--http",
      paramLabel = "PORT",
      defaultValue = "" + HttpOptions.PORT,
      description = "Listen on this port (default ${DEFAULT-VALUE}; 0 picks one).")
  private int http;

  @Mixin private PortFlags ports = new PortFlags();

  @Option(
      names = "--bind",
      paramLabel = "ADDR",
      defaultValue = "127.0.0.1",
      description = "Listen on this address (default ${DEFAULT-VALUE}).")
  private String bind = "127.0.0.1";

  @Option(
      names = "--durability",
      paramLabel = "WHEN",
      defaultValue = "fsync",
      converter = DurabilityConverter.class,
      description =
          "When a count that the engine has answered is on the disk: fsync, before the answer;"
              + " interval=TIME, every so often; none, when the system sees fit. A power cut loses"
              + " what was not; a killed process loses nothing (default ${DEFAULT-VALUE}).")
  private Durability durability = Durability.FSYNC;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "Require the bearer token in this file (or env QUIPU_TOKEN).")
  private @Nullable Path tokenFile;

  @Option(names = "--insecure", description = "Accept other machines without a token.")
  private boolean insecure;

  @Option(
      names = "--on-failure",
      paramLabel = "ACTION",
      defaultValue = "exit",
      description =
          "After a failure that stops counting, such as of the disk or memory: exit with 9, or serve"
              + " 503 with the reason until restarted (default ${DEFAULT-VALUE}).")
  private FailurePolicy.Action onFailure = FailurePolicy.Action.exit;

  @Mixin private LogOption log = new LogOption();

  @Override
  public Integer call() throws IOException {
    log.use();
    PortFlags.checkPort("--http", http);
    HttpOptions options =
        HttpOptions.defaults()
            .at(bind, http, Target.token(tokenFile), insecure)
            .forPagesOf(Set.copyOf(origins));
    Optional<SslContext> tls = ports.tls();
    FailurePolicy policy = FailurePolicy.start(onFailure);
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler(policy::onUncaught);
    LogSetup.onVirtualMachineError(policy::onError);
    try {
      serve(options, tls, policy);
    } catch (VirtualMachineError e) {
      policy.endWith(e); // here: on the way out a second error could set another code
      return ExitCode.FAILURE;
    } finally { // a process may go on after a server that did not start
      LogSetup.onVirtualMachineError(error -> {});
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    return ExitCode.OK;
  }

  private void serve(HttpOptions options, Optional<SslContext> tls, FailurePolicy policy)
      throws IOException {
    Opened opened =
        counting.inRegion().map(this::inRegion).orElseGet(() -> opened(open(storeUri()), policy));
    Deque<Runnable> closing = new ArrayDeque<>(List.of(opened::close));
    Runnable close = () -> closing.forEach(Runnable::run);
    try {
      Counters counters = opened.services.quipu().counters();
      if (counters instanceof Engine engine) {
        policy.watch(engine);
      }
      MemoryBudget budget = MemoryBudget.ofHeap();
      List<PortFlags.Open> others = ports.open(options, tls, counters, budget, closing);
      HostProcess host =
          new HostProcess(
              budget, policy::onError, () -> PortFlags.impediment(others).or(opened.impediment));
      HttpServer server = HttpServer.start(options, tls, opened.services, host, Clock.system());
      closing.addFirst(server::close);
      List<PortFlags.Open> all = new ArrayList<>();
      all.add(
          new PortFlags.Open(
              tls.isPresent() ? "https" : "http",
              server.address(),
              () -> true,
              patience -> server.impediment()));
      all.addAll(others);
      policy.keepAnswering(
          budget.connections()::closeAll,
          () -> all.stream().allMatch(each -> each.impediment().apply(ANSWERS).isEmpty()));
      opened.begin.run(); // whatever can keep it from starting has not
      Stopping.await(() -> ready(all, opened.services.storeName()), close, policy::onError);
    } catch (IOException | RuntimeException e) {
      close.run();
      throw e;
    }
  }

  private Opened inRegion(CountingFlags.InRegion region) {
    if (data != null || store != null || queue != null) {
      throw new IllegalArgumentException(
          "the topology says where a region counts: --data, --store and --queue do not go with it");
    }
    Topology.Opened opened = region.open();
    Deque<Runnable> closing = new ArrayDeque<>(List.of(opened::close));
    Runnable close = () -> closing.forEach(Runnable::run);
    try {
      require(opened.guard().compare());
      StoreWatch watch = new StoreWatch(opened.regions().here());
      closing.addFirst(watch::close);
      Runnable begin =
          () -> {
            opened.requireRecord();
            closing.addFirst(new Sweeper(opened.regions().here())::close);
            closing.addFirst(new LeaseKeeper(opened.leases())::close);
          };
      Quipu quipu = opened.quipu(region.topology().options());
      return new Opened(
          Services.of(quipu, opened.name()),
          () -> opened.guard().impediment().or(watch::impediment),
          begin,
          close);
    } catch (RuntimeException e) {
      close.run();
      throw e;
    }
  }

  private static void require(Optional<String> disagreement) {
    disagreement.ifPresent(why -> {
      throw new IllegalArgumentException(why);
    });
  }

  private String storeUri() {
    if (data != null && store != null) {
      throw new IllegalArgumentException("give either --data or --store, not both");
    }
    if (store != null) {
      return store;
    }
    return "engine:" + (data == null ? "quipu-data" : data.toString());
  }

  /**
   * A store that was opened to count on, and what there is to close besides.
   *
   * @param name the store as it may be shown: without a password
   * @param impediment why it rejects all writes now; empty if it does not
   * @param begin what is done when nothing else can keep the server from starting: it may write
   */
  private record Counting(
      Quipu quipu,
      String name,
      Supplier<Optional<String>> impediment,
      Runnable begin,
      Runnable onClose) {
    void close() {
      quipu.close();
      onClose.run();
    }
  }

  /** All that was opened, to be closed in one. */
  private record Opened(
      Services services, Supplier<Optional<String>> impediment, Runnable begin, Runnable onClose) {
    void close() {
      onClose.run();
    }
  }

  /** Opens what is beside the store: the cache, the queue, and what removes what has expired. */
  private Opened opened(Counting counting, FailurePolicy policy) {
    Quipu quipu = counting.quipu;
    Deque<Runnable> closing = new ArrayDeque<>(List.of(counting::close));
    Runnable close = () -> closing.forEach(Runnable::run);
    try {
      StoreWatch watch = new StoreWatch(quipu.store());
      closing.addFirst(watch::close);
      closing.addFirst(new Sweeper(quipu.store())::close);
      ViewCounter counter = quipu.views(views.options());
      CacheOptions.Shown shown = cache.open(quipu);
      closing.addFirst(shown.onClose());
      Presence presence = online.on(shown.store().orElseGet(quipu::store));
      Optional<ViewQueue> into = Optional.ofNullable(queue).map(uri -> queue(uri, counter, policy));
      into.ifPresent(each -> closing.addFirst(each::close));
      if (quipu.counters() instanceof HitLog hits) {
        closing.addFirst(new RollUps(hits, HitLogOptions.DEFAULT.settle())::close);
      }
      Services services =
          Services.of(quipu, counting.name)
              .counting(counter, into)
              .showing(shown.counters())
              .with(presence);
      return new Opened(
          services, () -> counting.impediment.get().or(watch::impediment), counting.begin, close);
    } catch (RuntimeException e) {
      close.run();
      throw e;
    }
  }

  private static ViewQueue queue(String uri, ViewCounter counter, FailurePolicy policy) {
    if (!OpenedStore.isEngine(uri)) {
      URI url = queueUrl(uri);
      return new SqsQueue(SqsClients.of(url, QUEUE_CONNECTIONS), url);
    }
    OpenedStore opened = OpenedStore.of("--queue", uri);
    opened.engine().ifPresent(policy::watch);
    return new StoredQueue(opened.store(), counter, opened::close);
  }

  private static URI queueUrl(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) { // its message repeats the text
      throw new IllegalArgumentException(
          "--queue is neither a well-formed URL nor engine:DIR: position %d, %s"
              .formatted(e.getIndex(), e.getReason()));
    }
  }

  private Counting open(String uri) {
    if (OpenedStore.isEngine(uri)) {
      if (counting.areForOtherStores()) {
        throw new IllegalArgumentException(
            "--technique, --shards and bounds are for other stores than the engine");
      }
      EngineOptions options =
          EngineOptions.defaults().withWindow(counting.window()).withDurability(durability);
      Engine engine = Engine.open(OpenedStore.directory(uri), options);
      return new Counting(Quipu.on(engine), uri, Optional::empty, () -> {}, () -> {});
    }
    if (!(durability instanceof Durability.Fsync)) {
      throw new IllegalArgumentException("--durability is for the engine alone");
    }
    boolean canWait = queue != null; // views are taken while the store is away
    OpenedStore opened = canWait ? OpenedStore.orLater(uri) : OpenedStore.of(uri);
    try {
      RecordGuard guard = counting.guard(opened.store());
      check(guard::compare, canWait);
      Runnable begin =
          () -> {
            check(guard::check, canWait);
            guard.start();
          };
      Quipu quipu = Quipu.on(guard.over(opened.driver()), counting::counters);
      Runnable close =
          () -> {
            guard.close();
            opened.close();
          };
      return new Counting(quipu, opened.name(), guard::impediment, begin, close);
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private static void check(Supplier<Optional<String>> record, boolean canWait) {
    try {
      require(record.get());
    } catch (StoreException e) {
      if (!canWait || !e.reason().isTemporary()) {
        throw e;
      }
    }
  }

  private void ready(List<PortFlags.Open> ports, String name) {
    List<String> urls = ports.stream().map(PortFlags.Open::url).toList();
    long millis = (Clock.system().nanoTime() - QuipuCommand.STARTED_NANOS) / 1_000_000;
    PrintWriter err = command.commandLine().getErr();
    err.printf("quipu is ready: %s, store %s, in %d ms%n", String.join(", ", urls), name, millis);
    err.flush();
    Logger logger = LoggerFactory.getLogger(ServeCommand.class);
    logger.atInfo().addKeyValue("http", urls.getFirst()).addKeyValue("store", name).log("ready");
  }

  /** Reads fsync, none, or interval=1s. */
  static final class DurabilityConverter implements ITypeConverter<Durability> {
    private static final String INTERVAL = "interval=";

    @Override
    public Durability convert(String value) {
      try {
        if (value.startsWith(INTERVAL)) {
          return new Durability.Interval(duration(value.substring(INTERVAL.length())));
        }
        return switch (value) {
          case "fsync" -> Durability.FSYNC;
          case "none" -> Durability.NONE;
          default ->
              throw new IllegalArgumentException(
                  "'" + value + "' is none of fsync, interval=TIME, none");
        };
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** Reads 200ms, 30s, 90m, 24h, 7d, or the form of ISO 8601. */
  static final class DurationConverter implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      try {
        return duration(value);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  static Duration duration(String value) {
    String text = value.toUpperCase(Locale.ROOT);
    if (text.matches("[0-9]{1,9}MS")) {
      return Duration.ofMillis(Long.parseLong(text.substring(0, text.length() - 2)));
    }
    boolean days = text.matches("[0-9]{1,4}D");
    String iso = text.startsWith("P") ? text : days ? "P" + text : "PT" + text;
    try {
      return Duration.parse(iso);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "'" + value + "' is not a time like 200ms, 30s, 90m, 24h or 7d", e);
    }
  }
}
