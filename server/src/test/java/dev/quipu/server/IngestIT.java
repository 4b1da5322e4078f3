package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.ingest.SqsClients;
import dev.quipu.ingest.SqsConsumer;
import dev.quipu.ingest.SqsOptions;
import dev.quipu.layer.Store;
import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.PostgresProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.PostgresServer;
import dev.quipu.testservers.RedisServer;
import dev.quipu.testservers.SqsServer;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * Ingests an access log through a real SQS server, with duplicates, consumers that are killed every
 * two seconds, and lost replies of the store: each page is counted exactly.
 */
final class IngestIT {
  private static final long SEED = Long.getLong("seed", 20_261_121L);
  private static final double LOST = 0.05;
  private static final int CONSUMERS = 4;
  private static final int LINES = Soak.size(3_000, Integer.MAX_VALUE); // of the access log
  private static final Duration KILL_EVERY = Duration.ofSeconds(2);
  private static final int KILLS_MAX = Soak.size(5, 10); // then they can finish
  private static final Duration HIDDEN = Duration.ofSeconds(4);
  private static final Map<String, String> CREDENTIALS =
      Map.of("AWS_ACCESS_KEY_ID", "key", "AWS_SECRET_ACCESS_KEY", "secret");

  @TempDir Path temporary;
  private SqsServer sqs;
  private SqsClient client;
  private URI queue;

  @SuppressWarnings("NullAway.Init") // JUnit calls start before each test
  IngestIT() {}

  @BeforeEach
  void start() {
    System.setProperty("aws.accessKeyId", "key");
    System.setProperty("aws.secretAccessKey", "secret");
    sqs = SqsServer.start();
    queue = sqs.queue("views");
    client = SqsClients.of(queue, 64);
  }

  @AfterEach
  void stop() {
    client.close();
    sqs.close();
  }

  /** Consumer processes, killed in rotation. */
  private final class Consumers {
    final List<Process> running = new ArrayList<>();
    final String store;
    final int number;
    final int pollers;
    int kills;
    private long killed = Clock.system().nanoTime();

    Consumers(String store, int number, int pollers) throws Exception {
      this.store = store;
      this.number = number;
      this.pollers = pollers;
      for (int i = 0; i < number; i++) {
        running.add(run());
      }
    }

    private Process run() {
      try {
        Process process =
            QuipuProcess.runWith(
                CREDENTIALS,
                temporary.resolve("out"),
                "ingest",
                "sqs",
                "--queue",
                queue.toString(),
                "--store",
                store,
                "--pollers",
                Integer.toString(pollers),
                "--visibility",
                HIDDEN.toSeconds() + "s");
        return process;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void killOneIfDue() {
      if (kills < KILLS_MAX && Clock.system().nanoTime() - killed > KILL_EVERY.toNanos()) {
        int victim = kills % number;
        running.get(victim).destroyForcibly().onExit().join();
        running.set(victim, run());
        kills++;
        killed = Clock.system().nanoTime();
      }
    }

    /** Stops them gracefully, like an operator. */
    void stop() {
      running.forEach(Process::destroy);
      running.forEach(each -> each.onExit().join());
    }
  }

  private void countExactly(Protocol protocol, int storePort, IntFunction<String> uri)
      throws Exception {
    Deliveries deliveries = Deliveries.ofAccessLog(SEED, LINES);
    deliveries.send(client, queue);
    try (FaultProxy proxy =
        FaultProxy.start(protocol, storePort, Duration.ofSeconds(1), write -> 1)) {
      Consumers consumers = new Consumers(uri.apply(proxy.port()), CONSUMERS, 4);
      try {
        proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, IngestIT::isOfViews));
        Deliveries.awaitEmpty(client, queue, consumers::killOneIfDue);
      } finally {
        consumers.stop();
      }
      long lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
      assertTrue(lost > 30, "only " + lost + " replies were lost");
      assertTrue(consumers.kills >= 3, "only " + consumers.kills + " were killed");
      proxy.use(FaultPlan.none());
      try (StoreDriver driver = StoreProvider.open(uri.apply(storePort))) {
        deliveries.check(new ViewCounter(new Store(driver, Clock.system())));
        report(driver.profile().name(), deliveries, consumers.kills, lost);
      }
    }
  }

  private static void report(String store, Deliveries deliveries, int kills, long lost) {
    System.out.printf(
        "IngestIT: %s: %d messages of %d views, %d consumers killed, %d replies lost: exact%n",
        store, deliveries.sent(), deliveries.views(), kills, lost);
  }

  private static boolean isOfViews(byte[] write) {
    return new String(write, StandardCharsets.ISO_8859_1).contains("views/");
  }

  @Test
  void onPostgres() throws Exception {
    try (PostgresServer store = PostgresServer.start()) {
      countExactly(
          new PostgresProtocol(),
          store.port(),
          port -> "postgresql://postgres@127.0.0.1:%d/postgres?table=views".formatted(port));
    }
  }

  @Test
  void onDynamoDb() throws Exception {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer store = started.get()) {
      countExactly(
          new DynamoDbProtocol(),
          store.endpoint().getPort(),
          port ->
              "dynamodb://key:secret@us-east-1/views?endpoint=http://127.0.0.1:%d".formatted(port));
    }
  }

  /** The engine belongs to one process, which serves all pollers and is killed as a whole. */
  @Test
  void onTheEngine() throws Exception {
    Deliveries deliveries = Deliveries.ofAccessLog(SEED, LINES);
    deliveries.send(client, queue);
    Path data = temporary.resolve("data");
    Consumers consumers = new Consumers("engine:" + data, 1, 4);
    try {
      Deliveries.awaitEmpty(client, queue, consumers::killOneIfDue);
    } finally {
      consumers.stop();
    }
    assertTrue(consumers.kills >= 1, "it was never killed");
    try (Engine engine = Engine.open(data, EngineOptions.defaults())) {
      deliveries.check(new ViewCounter(new Store(engine.driver(), Clock.system())));
    }
    report("engine", deliveries, consumers.kills, 0);
  }

  /** Without markers, every delivery that reached the store counts: the faults do fire. */
  @Test
  void ifNotExistsCountsEveryDelivery() throws Exception {
    Deliveries deliveries = Deliveries.ofAccessLog(SEED, 1_500);
    deliveries.send(client, queue);
    try (RedisServer redis = RedisServer.startDurable();
        FaultProxy proxy =
            FaultProxy.start(
                new RedisProtocol(),
                redis.port(),
                Duration.ofSeconds(1),
                write -> isOfViews(write) ? 1 : 0);
        StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + proxy.port())) {
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, IngestIT::isOfViews));
      ViewCounter views =
          new ViewCounter(
              new Store(driver, Clock.system()),
              ViewOptions.EXACT.in(ViewOptions.Form.IF_NOT_EXISTS));
      SqsOptions options = SqsOptions.of(queue).within(HIDDEN, Duration.ofSeconds(1));
      SqsConsumer consumer = new SqsConsumer(client, options, views, Clock.system());
      try {
        Deliveries.awaitEmpty(client, queue, () -> {});
      } finally {
        consumer.close();
      }
      proxy.use(FaultPlan.none());
      long counted = 0;
      for (String url : deliveries.truth().keySet()) {
        counted += views.count(url).orElse(0);
      }
      long applied = proxy.ledger().sum();
      long duplicates = applied - deliveries.views();
      long lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
      assertEquals(duplicates, counted - deliveries.views());
      assertTrue(lost > 30, "only " + lost + " replies were lost");
      assertTrue(applied >= deliveries.sent() + lost, applied + " applied");
      System.out.printf(
          "IngestIT: redis, if-not-exists: %d views counted as %d, over by the %d duplicates%n",
          deliveries.views(), counted, duplicates);
    }
  }
}
