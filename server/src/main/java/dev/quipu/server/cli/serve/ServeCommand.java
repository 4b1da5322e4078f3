package dev.quipu.server.cli.serve;

import dev.quipu.Counters;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.hits.RollUps;
import dev.quipu.ingest.SqsClients;
import dev.quipu.ingest.SqsQueue;
import dev.quipu.ingest.StoredQueue;
import dev.quipu.ingest.ViewQueue;
import dev.quipu.layer.Store;
import dev.quipu.layer.StoreWatch;
import dev.quipu.layer.Sweeper;
import dev.quipu.presence.Presence;
import dev.quipu.record.RecordGuard;
import dev.quipu.region.LeaseKeeper;
import dev.quipu.region.Merges;
import dev.quipu.region.RegionalCollection;
import dev.quipu.server.cli.access.Environment;
import dev.quipu.server.cli.access.OpenedStore;
import dev.quipu.server.cli.input.Stopping;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.LogOption;
import dev.quipu.server.cli.output.LogSetup;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.net.HostProcess;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.Preparation;
import dev.quipu.server.webhook.Webhooks;
import dev.quipu.technique.Compactions;
import dev.quipu.technique.ItemCollection;
import dev.quipu.time.Clock;
import dev.quipu.transaction.HoldSweeper;
import dev.quipu.view.ViewCounter;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Starts a server. */
@Command(
    name = "serve",
    description = "Start the server: HTTP, and optionally the Redis and memcached protocols.",
    footer = {
      "",
      "SIGTERM and SIGINT stop it gracefully: it accepts no more requests, completes",
      "those in progress, and exits with 0.",
      "",
      "Examples:",
      "  quipu serve --data /var/lib/quipu --window 48h",
      "  quipu serve --data /var/lib/quipu --resp 7379 --memcached 7211",
      "  quipu serve --store redis://127.0.0.1:6379",
      "  quipu serve --store redis://127.0.0.1:6379 --cache memcached://c1,c2",
      "  quipu serve --store dynamodb://eu-west-1/counters --shards 16 --floor 0",
      "  quipu serve --region eu --topology regions.json"
    })
public final class ServeCommand implements Callable<Integer> {
  private static final int QUEUE_CONNECTIONS = 64;

  /** Time within which the event loops of a healthy port respond. */
  private static final Duration ANSWERS = Duration.ofSeconds(2);

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Data directory (default: quipu-data). Same as --store engine:DIR.")
  private @Nullable Path data;

  @Option(
      names = "--store",
      paramLabel = "URI",
      description =
          "The store: engine:DIR, memory: (not durable), or another store (quipu stores lists"
              + " them).")
  private @Nullable String store;

  @Mixin private CountingFlags counting = new CountingFlags();

  @Mixin private RegionFlags regions = new RegionFlags();

  @Mixin private CacheOptions cache = new CacheOptions();

  @Mixin private OnlineOptions online = new OnlineOptions();

  @Mixin private ViewFlags views = new ViewFlags();

  @Option(
      names = "--queue",
      paramLabel = "WHERE",
      description =
          "Acknowledge a view when it is in this queue, and count it later: the URL of an SQS"
              + " queue (quipu ingest sqs counts it), or engine:DIR for a local queue, which accepts"
              + " views while the store is slow or unreachable.")
  private @Nullable String queue;

  @Option(
      names = "--http",
      paramLabel = "PORT",
      description = "Listen on this port (default ${DEFAULT-VALUE}; 0 picks one).")
  private int http = HttpOptions.PORT;

  @Mixin private PortFlags ports = new PortFlags();

  @Option(
      names = "--bind",
      paramLabel = "ADDR",
      description = "Listen on this address (default ${DEFAULT-VALUE}).")
  private String bind = "127.0.0.1";

  @Mixin private EngineFlags engineFlags = new EngineFlags();

  @Mixin private WebhookFlags webhooks = new WebhookFlags();

  @Option(
      names = "--backup-to",
      paramLabel = "DIR|URI",
      description =
          "Back up the data directory of the engine to this directory, or to a bucket:"
              + " s3://BUCKET/PREFIX, twice a second. See quipu restore.")
  private @Nullable String backupTo;

  @Mixin private AccessFlags access = new AccessFlags();

  @Option(
      names = "--on-failure",
      paramLabel = "ACTION",
      description =
          "After a fatal failure of the disk or memory: exit with 9, or serve 503 with the reason"
              + " until restarted (default ${DEFAULT-VALUE}).")
  private FailurePolicy.Action onFailure = FailurePolicy.Action.exit;

  @Mixin private LogOption log = new LogOption();

  private final LongSupplier startedNanos;
  private final Consumer<String> notes;

  /** Creates a command whose options picocli sets. */
  public ServeCommand() {
    startedNanos = () -> Environment.of(command).startedNanos();
    notes = text -> Output.note(command.commandLine(), text);
  }

  /**
   * Creates a command with the defaults of all options, without picocli.
   *
   * @param started when the process started
   * @param notes prints a line to standard error
   */
  ServeCommand(long started, Consumer<String> notes) {
    startedNanos = () -> started;
    this.notes = notes;
  }

  void onData(Path directory) {
    data = directory;
  }

  void onHttp(int port) {
    http = port;
  }

  @Override
  public Integer call() throws IOException {
    log.use();
    Preparation.start();
    ports.check(storeUri(), bind, http);
    HttpOptions options = access.options(bind, http);
    Optional<SslContext> tls = ports.tls();
    counting.check();
    views.options();
    cache.check();
    online.check();
    webhooks.check(regions.of(counting).isEmpty() && OpenedStore.isEngine(storeUri()));
    Optional.ofNullable(queue)
        .filter(uri -> !OpenedStore.isEngine(uri))
        .ifPresent(ServeCommand::queueUrl);
    FailurePolicy policy = FailurePolicy.start(onFailure);
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler(policy::onUncaught);
    LogSetup.onVirtualMachineError(policy::onError);
    try {
      serve(options, tls, policy);
    } catch (VirtualMachineError e) {
      policy.endWith(e); // here, since a second error on the way out could change the exit code
      return ExitCode.FAILURE;
    } finally { // the process may continue after a failed start
      LogSetup.onVirtualMachineError(error -> {});
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    return ExitCode.OK;
  }

  private void serve(HttpOptions options, Optional<SslContext> tls, FailurePolicy policy)
      throws IOException {
    Opened opened =
        regions.of(counting).map(this::inRegion).orElseGet(() -> opened(open(storeUri()), policy));
    Deque<Runnable> closing = new ArrayDeque<>(List.of(opened::close));
    Runnable close = () -> closing.forEach(Runnable::run);
    try {
      Counters counters = opened.services.quipu().counters();
      Optional<Engine> engine = counters.as(Engine.class);
      engine.ifPresent(policy::watch);
      Optional<EngineWatch> writes = engine.map(each -> new EngineWatch(each, Clock.system()));
      writes.ifPresent(each -> closing.addFirst(each::close));
      Supplier<Optional<String>> rejected = () -> writes.flatMap(EngineWatch::impediment);
      Optional<ContinuousBackup> backup = backup(engine);
      backup.ifPresent(each -> closing.addFirst(each::close));
      MemoryBudget budget = MemoryBudget.ofHeap();
      Optional<Webhooks> sending = webhooks.start(engine, policy::onError);
      sending.ifPresent(each -> closing.addFirst(each::close));
      List<PortFlags.Open> others = ports.open(options, tls, counters, budget, closing);
      HostProcess host =
          new HostProcess(
              budget,
              policy::onError,
              () -> PortFlags.impediment(others).or(opened.impediment).or(rejected),
              PortFlags.meters(others),
              Stream.of(
                      backup.map(ContinuousBackup::meters),
                      sending.map(Webhooks::meters),
                      engine.map(each -> Webhooks.waiting(each.thresholds())))
                  .flatMap(Optional::stream)
                  .toList());
      Services services = opened.services.sending(sending);
      HttpServer server = HttpServer.start(options, tls, services, host, Clock.system());
      closing.addFirst(server::close);
      List<PortFlags.Open> all = new ArrayList<>();
      all.add(
          new PortFlags.Open(
              "http",
              server.meter(),
              tls.isPresent() ? "https" : "http",
              server.address(),
              () -> true,
              patience -> server.impediment()));
      all.addAll(others);
      policy.keepAnswering(
          budget.connections()::closeAll,
          () -> all.stream().allMatch(each -> each.impediment().apply(ANSWERS).isEmpty()));
      opened.begin.run(); // nothing can prevent the start from here on
      Stopping.await(
          () -> ready(all, opened.services),
          () -> {
            close.run();
            LoggerFactory.getLogger(ServeCommand.class).info("Stopped");
          },
          policy::onError);
    } catch (IOException | RuntimeException e) {
      close.run();
      throw e;
    }
  }

  private Optional<ContinuousBackup> backup(Optional<Engine> engine) throws IOException {
    if (backupTo == null) {
      return Optional.empty();
    }
    if (engine.isEmpty()) {
      throw new IllegalArgumentException(
          "--backup-to needs the engine (--data, or --store engine:DIR)");
    }
    Path directory = OpenedStore.directory(storeUri());
    return Optional.of(new ContinuousBackup(engine.get(), directory, backupTo, Clock.system()));
  }

  private Opened inRegion(RegionFlags.InRegion region) {
    if (data != null || store != null || queue != null) {
      throw new IllegalArgumentException(
          "--data, --store and --queue conflict with --topology, which has the stores");
    }
    engineFlags.requireUnset();
    Topology.Opened opened = region.open();
    Deque<Runnable> closing = new ArrayDeque<>(List.of(opened::close));
    Runnable close = () -> closing.forEach(Runnable::run);
    try {
      CountingFlags.require(opened.guard().compare());
      StoreWatch watch = new StoreWatch(opened.regions().here());
      closing.addFirst(watch::close);
      Quipu quipu = region.topology().quipu(opened);
      Runnable begin =
          () -> {
            opened.requireRecord();
            closing.addFirst(new Sweeper(opened.regions().here())::close);
            Optional<RegionalCollection> changes = quipu.counters().as(RegionalCollection.class);
            closing.addFirst(
                changes.isPresent()
                    ? new Merges(changes.get())::close
                    : new LeaseKeeper(opened.leases())::close);
          };
      return new Opened(
          Services.of(quipu, opened.name())
              .surviving(watch::durability)
              .among(opened.leases()::status),
          () -> opened.guard().impediment().or(watch::impediment),
          begin,
          close);
    } catch (RuntimeException e) {
      close.run();
      throw e;
    }
  }

  private String storeUri() {
    if (data != null && store != null) {
      throw new IllegalArgumentException("--data and --store conflict; use one of them");
    }
    if (store != null) {
      return store;
    }
    return "engine:" + (data == null ? "quipu-data" : data.toString());
  }

  /**
   * Open resources of a server.
   *
   * @param impediment returns why all writes are rejected now; empty if they are not
   * @param begin the last step of the start, which may write
   */
  private record Opened(
      Services services, Supplier<Optional<String>> impediment, Runnable begin, Runnable onClose) {
    void close() {
      onClose.run();
    }
  }

  /** Opens the cache and the queue, and starts the background tasks of the store. */
  private Opened opened(Opened counting, FailurePolicy policy) {
    Quipu quipu = counting.services.quipu();
    Deque<Runnable> closing = new ArrayDeque<>(List.of(counting::close));
    Runnable close = () -> closing.forEach(Runnable::run);
    try {
      StoreWatch watch = new StoreWatch(quipu.part(Store.class));
      closing.addFirst(watch::close);
      ViewCounter counter = new ViewCounter(quipu.part(Store.class), views.options());
      CacheOptions.Shown shown = cache.open(quipu);
      closing.addFirst(shown.onClose());
      Presence presence = online.on(shown.store().orElseGet(() -> quipu.part(Store.class)));
      Optional<ViewQueue> into = Optional.ofNullable(queue).map(uri -> queue(uri, counter, policy));
      into.ifPresent(each -> closing.addFirst(each::close));
      quipu
          .counters()
          .as(HitLog.class)
          .ifPresent(
              hits -> closing.addFirst(new RollUps(hits, HitLogOptions.DEFAULT.settle())::close));
      boolean isEngine = quipu.counters().as(Engine.class).isPresent();
      Services on = counting.services;
      Services services =
          (isEngine ? on : on.surviving(watch::durability))
              .counting(counter, into)
              .showing(shown.counters())
              .with(presence);
      Runnable begin =
          () -> {
            counting.begin.run();
            closing.addFirst(new Sweeper(quipu.part(Store.class))::close); // it writes
            HoldSweeper.begin(quipu);
            quipu
                .counters()
                .as(ItemCollection.class)
                .ifPresent(changes -> closing.addFirst(new Compactions(changes)::close));
          };
      return new Opened(
          services, () -> counting.impediment.get().or(watch::impediment), begin, close);
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
    } catch (URISyntaxException e) { // its message repeats the text, which may hold a password
      throw new IllegalArgumentException(
          "--queue is neither engine:DIR nor a URL: %2$s at position %1$d"
              .formatted(e.getIndex(), e.getReason()));
    }
  }

  private Opened open(String uri) {
    if (OpenedStore.isEngine(uri)) {
      if (counting.areForOtherStores()) {
        throw new IllegalArgumentException(
            "--technique, its options, --shards, --floor and --ceiling are not supported by the"
                + " engine; pass bounds with each add");
      }
      Engine engine = Engine.open(OpenedStore.directory(uri), engineFlags.options(counting));
      Quipu quipu = Backends.on(engine);
      Services services = Services.of(quipu, uri).surviving(engineFlags.durability()::toString);
      return new Opened(services, Optional::empty, () -> {}, quipu::close);
    }
    engineFlags.requireUnset();
    boolean canWait = queue != null; // views are accepted while the store is unreachable
    OpenedStore opened = canWait ? OpenedStore.orLater(uri) : OpenedStore.of(uri);
    try {
      RecordGuard guard = counting.guard(opened.store());
      check(guard::compare, canWait);
      Runnable begin =
          () -> {
            check(guard::check, canWait);
            guard.start();
          };
      Quipu quipu = Backends.on(guard.over(opened.driver()), counting::counters);
      Runnable close =
          () -> {
            quipu.close();
            guard.close();
            opened.close();
          };
      return new Opened(Services.of(quipu, opened.name()), guard::impediment, begin, close);
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private static void check(Supplier<Optional<String>> record, boolean canWait) {
    try {
      CountingFlags.require(record.get());
    } catch (QuipuException e) {
      if (!canWait || !e.reason().isTemporary()) {
        throw e;
      }
    }
  }

  private void ready(List<PortFlags.Open> ports, Services services) {
    String name = services.storeName();
    List<String> urls = ports.stream().map(PortFlags.Open::url).toList();
    long millis = (Clock.system().nanoTime() - startedNanos.getAsLong()) / 1_000_000;
    notes.accept(
        "quipu is ready: %s, store %s, in %s ms".formatted(String.join(", ", urls), name, millis));
    Logger logger = LoggerFactory.getLogger(ServeCommand.class);
    logger
        .atInfo()
        .addKeyValue("address", urls.getFirst())
        .addKeyValue("store", name)
        .addKeyValue("durability", services.durability().get())
        .log("Ready");
  }
}
