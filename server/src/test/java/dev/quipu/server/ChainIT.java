package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.ingest.SqsClients;
import dev.quipu.ingest.SqsQueue;
import dev.quipu.layer.Store;
import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.testservers.SqsServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * The whole chain of the article: HTTP 202, an SQS queue, the function in AWS's runtime, and
 * DynamoDB, with duplicates, lost replies, and kills of the server and of the function. The count
 * of each page equals {@code sort -u} of the sent messages. With {@code -Dchain.messages=100000},
 * it is long.
 */
final class ChainIT {
  private static final long SEED = Long.getLong("seed", 20_261_125L);
  private static final int MESSAGES = Integer.getInteger("chain.messages", 300);
  private static final boolean IS_LONG = MESSAGES > 10_000;
  private static final double DUPLICATES = 0.1;
  private static final double LOST = 0.05;
  private static final int KILLS_EACH = IS_LONG ? 10 : 2; // of the server, and of the function
  private static final int FUNCTIONS = IS_LONG ? 2 : 1;
  private static final int SENDERS = 8;
  private static final int PAGES = IS_LONG ? 500 : 20;
  private static final int HIDDEN_SECONDS = IS_LONG ? 30 : 4;
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Duration ANSWER_MAX = Duration.ofSeconds(60);
  private static final Instant START = Instant.parse("2022-03-28T00:00:00Z");
  private static final String TABLE = "dynamodb://key:secret@us-east-1/chain?endpoint=";
  private static final Map<String, String> CREDENTIALS =
      Map.of("AWS_ACCESS_KEY_ID", "key", "AWS_SECRET_ACCESS_KEY", "secret");

  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger batches = new AtomicInteger();
  private volatile boolean sent;

  @TempDir Path temporary;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  ChainIT() {}

  @Test
  void eachPageIsCountedAsOftenAsSortAndUniqSay() throws Exception {
    System.setProperty("aws.accessKeyId", "key");
    System.setProperty("aws.secretAccessKey", "secret");
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer dynamoDb = started.get();
        SqsServer sqs = SqsServer.start();
        SqsClient client = SqsClients.of(sqs.queue("views"), 16);
        FaultProxy store =
            FaultProxy.start(
                new DynamoDbProtocol(),
                dynamoDb.endpoint().getPort(),
                Duration.ofSeconds(1),
                write -> 1)) {
      client.createQueue(request -> request.queueName("views"));
      String direct = TABLE + dynamoDb.endpoint();
      StoreProvider.open(direct).close(); // creates the table
      store.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, ChainIT::isOfViews));
      List<ViewEvent> messages = messages();
      run(client, sqs.queue("views"), store, direct, messages);
    }
  }

  private void run(
      SqsClient client, URI queue, FaultProxy store, String direct, List<ViewEvent> messages)
      throws Exception {
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        Front front = new Front(queue, direct)) {
      List<Future<EventSource>> sources = new ArrayList<>();
      for (int i = 0; i < FUNCTIONS; i++) {
        int first = i;
        sources.add(executor.submit(() -> consume(client, queue, store.port(), first)));
      }
      List<Future<?>> senders = new ArrayList<>();
      for (int i = 0; i < SENDERS; i++) {
        int first = i;
        senders.add(executor.submit(() -> sendAll(front, messages, first)));
      }
      front.killAt(messages.size());
      for (Future<?> each : senders) {
        each.get();
      }
      sent = true;
      int crashes = 0;
      for (Future<EventSource> each : sources) {
        crashes += each.get().crashes;
      }
      report(messages, front, crashes, store);
      store.use(FaultPlan.none());
      assertEquals(truth(messages), counted(direct, messages));
      assertEquals(KILLS_EACH, front.kills);
      assertEquals(KILLS_EACH, crashes);
      assertTrue(front.proxy.ledger().fired(WireFault.REPLY_DROPPED) > 0, "no reply was lost");
      assertTrue(store.ledger().fired(WireFault.REPLY_DROPPED) > 0, "no reply was lost");
    }
  }

  private static void report(List<ViewEvent> messages, Front front, int crashes, FaultProxy store) {
    System.out.printf(
        "ChainIT: %d messages, %d kills of the server and %d of the function, %d replies of the"
            + " server and %d of the store lost%n",
        messages.size(),
        front.kills,
        crashes,
        front.proxy.ledger().fired(WireFault.REPLY_DROPPED),
        store.ledger().fired(WireFault.REPLY_DROPPED));
  }

  private static boolean isOfViews(byte[] write) {
    return new String(write, StandardCharsets.ISO_8859_1).contains("views/");
  }

  /** Returns all messages, of which every tenth repeats an earlier one. */
  private static List<ViewEvent> messages() {
    RandomGenerator random = Randomness.seeded(SEED);
    List<ViewEvent> messages = new ArrayList<>();
    for (int i = 0; i < MESSAGES; i++) {
      boolean repeats = i > 0 && random.nextDouble() < DUPLICATES;
      messages.add(
          repeats
              ? messages.get(random.nextInt(i))
              : new ViewEvent(
                  "blog.example/" + random.nextInt(PAGES),
                  START.plusSeconds(i),
                  "client" + random.nextInt(1_000)));
    }
    return messages;
  }

  /** The server, behind a proxy that loses replies; it is killed and started again. */
  private final class Front implements AutoCloseable {
    final FaultProxy proxy;
    final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    int kills;
    private final String[] options;
    private QuipuProcess server;

    Front(URI queue, String store) throws IOException {
      options = new String[] {"--queue", queue.toString(), "--store", store};
      server = serve(0);
      proxy =
          FaultProxy.start(
              new HttpProtocol(), server.uri().getPort(), Duration.ofSeconds(1), write -> 1);
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, write -> true));
    }

    private QuipuProcess serve(int port) throws IOException {
      return QuipuProcess.serveAt(port, CREDENTIALS, temporary.resolve("out"), options);
    }

    /** Kills the server after equal numbers of accepted messages. */
    void killAt(int all) throws Exception {
      for (int i = 1; i <= KILLS_EACH; i++) {
        int after = all * i / (KILLS_EACH + 1);
        Progress reached = new Progress("accepted messages", accepted::get);
        while (accepted.get() < after) {
          reached.check();
          Clock.system().sleep(PAUSE);
        }
        server.close();
        kills++;
        server = serve(server.uri().getPort());
      }
    }

    /** Sends a message until a reply states that it is accepted. */
    void send(ViewEvent event) throws InterruptedException {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + proxy.port() + "/v1/views"))
              .timeout(ANSWER_MAX)
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(SqsQueue.text(event)))
              .build();
      while (!isAccepted(request)) {
        Clock.system().sleep(PAUSE);
      }
      accepted.incrementAndGet();
    }

    private boolean isAccepted(HttpRequest request) throws InterruptedException {
      try {
        return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 202;
      } catch (IOException e) {
        return false; // lost, or the server was killed
      }
    }

    @Override
    public void close() {
      client.shutdownNow();
      proxy.close();
      server.close();
    }
  }

  private static boolean sendAll(Front front, List<ViewEvent> messages, int first)
      throws Exception {
    for (int i = first; i < messages.size(); i += SENDERS) {
      front.send(messages.get(i));
    }
    return true;
  }

  /** Consumes until everything is sent and the queue is empty. */
  private EventSource consume(SqsClient client, URI queue, int storePort, int first)
      throws Exception {
    Map<String, String> environment =
        Map.of("QUIPU_STORE", TABLE + "http://127.0.0.1:" + storePort);
    try (LambdaService lambda =
        new LambdaService("dev.quipu.ingest.ViewHandler::handleRequest", environment)) {
      EventSource source = new EventSource(client, queue, lambda, HIDDEN_SECONDS);
      int crashes = KILLS_EACH / FUNCTIONS;
      Progress delivered = new Progress("batches", batches::get);
      boolean delivers = true;
      while (delivers || !sent || Deliveries.left(client, queue) > 0) { // the last takes long
        delivered.check();
        int due = MESSAGES / 20 / FUNCTIONS * (source.crashes + 1) / (crashes + 1);
        delivers = source.deliver(source.crashes < crashes && source.batches >= due + first);
        if (delivers) {
          batches.incrementAndGet();
        }
      }
      return source;
    }
  }

  /** Returns the number of views by page, by {@code sort -u} of the sent messages. */
  private Map<String, Long> truth(List<ViewEvent> messages) throws Exception {
    Path file = temporary.resolve("sent");
    List<String> lines = new ArrayList<>();
    for (ViewEvent each : messages) {
      lines.add(each.url() + "\t" + each.time() + "\t" + each.clientId());
    }
    Files.write(file, lines);
    Path unique = temporary.resolve("unique");
    Process sort =
        new ProcessBuilder("sort", "-u", "-o", unique.toString(), file.toString()).start();
    assertEquals(0, sort.waitFor());
    Map<String, Long> truth = new TreeMap<>();
    for (String line : Files.readAllLines(unique)) {
      truth.merge(line.split("\t", 2)[0], 1L, Long::sum);
    }
    long views = truth.values().stream().mapToLong(Long::longValue).sum();
    assertTrue(views < messages.size(), "no duplicate was sent");
    System.out.printf("ChainIT: sort -u: %d views of %d pages%n", views, truth.size());
    return truth;
  }

  private static Map<String, Long> counted(String uri, List<ViewEvent> messages) {
    Map<String, Long> counted = new TreeMap<>();
    try (StoreDriver driver = StoreProvider.open(uri)) {
      ViewCounter views = new ViewCounter(new Store(driver, Clock.system()));
      messages.stream()
          .map(ViewEvent::url)
          .distinct()
          .forEach(url -> views.count(url).ifPresent(count -> counted.put(url, count)));
    }
    return counted;
  }
}
