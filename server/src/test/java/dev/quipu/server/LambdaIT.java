package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.ingest.SqsClients;
import dev.quipu.layer.Store;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.RedisServer;
import dev.quipu.testservers.SqsServer;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The Lambda handler in the runtime of AWS, behind a real queue: reported failures are redelivered,
 * a crash within a batch is harmless, and each page is counted exactly.
 */
final class LambdaIT {
  private static final long SEED = Long.getLong("seed", 20_261_121L);
  private static final String HANDLER = "dev.quipu.ingest.ViewHandler::handleRequest";
  private static final double LOST = 0.05;
  private static final int LINES = Soak.size(3_000, Integer.MAX_VALUE); // of the access log
  private static final int MALFORMED = 5;
  private static final Duration KILL_EVERY = Duration.ofSeconds(2);
  private static final int KILLS_MAX = 6;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @Test
  void eachPageIsCountedExactlyInTheRealRuntime() throws Exception {
    System.setProperty("aws.accessKeyId", "key");
    System.setProperty("aws.secretAccessKey", "secret");
    Deliveries deliveries = Deliveries.ofAccessLog(SEED, LINES);
    try (SqsServer sqs = SqsServer.start();
        RedisServer redis = RedisServer.startDurable();
        FaultProxy proxy =
            FaultProxy.start(new RedisProtocol(), redis.port(), Duration.ofSeconds(1), write -> 1);
        SqsClient client = SqsClients.of(sqs.queue("views"), 16);
        LambdaService lambda =
            new LambdaService(
                HANDLER, Map.of("QUIPU_STORE", "redis://127.0.0.1:" + proxy.port()))) {
      URI queue = sqs.queue("views");
      deliveries.send(client, queue);
      for (int i = 0; i < MALFORMED; i++) {
        String text = "no event " + i;
        client.sendMessage(request -> request.queueUrl(queue.toString()).messageBody(text));
      }
      proxy.use(FaultPlan.atRandom(SEED, LOST, WireFault.REPLY_DROPPED, LambdaIT::isOfViews));
      Source source = new Source(client, queue, lambda);
      source.runUntilOnlyMalformedAreLeft();
      long lost = proxy.ledger().fired(WireFault.REPLY_DROPPED);
      proxy.use(FaultPlan.none());
      assertTrue(lost > 50, "only " + lost + " replies were lost");
      assertTrue(source.crashes >= 3, "it crashed only " + source.crashes + " times");
      assertTrue(source.failuresReported > MALFORMED, "no failure was reported twice");
      assertEquals(MALFORMED, source.malformed.size());
      try (StoreDriver driver = StoreProvider.open("redis://127.0.0.1:" + redis.port())) {
        deliveries.check(new ViewCounter(new Store(driver, Clock.system())));
      }
      System.out.printf(
          "LambdaIT: %d messages of %d views, %d starts of the runtime, %d crashes in mid-batch,"
              + " %d replies lost, %d failures reported: exact%n",
          deliveries.sent(),
          deliveries.views(),
          lambda.starts(),
          source.crashes,
          lost,
          source.failuresReported);
    }
  }

  private static boolean isOfViews(byte[] write) {
    return new String(write, StandardCharsets.ISO_8859_1).contains("views/");
  }

  /** Emulates the event source mapping: batches of ten; deletes messages that did not fail. */
  private static final class Source {
    int crashes;
    int failuresReported;
    final Set<String> malformed = new HashSet<>();
    private final SqsClient client;
    private final URI queue;
    private final LambdaService lambda;
    private long crashed = Clock.system().nanoTime();

    Source(SqsClient client, URI queue, LambdaService lambda) {
      this.client = client;
      this.queue = queue;
      this.lambda = lambda;
    }

    void runUntilOnlyMalformedAreLeft() throws Exception {
      Progress emptied =
          new Progress("messages left", () -> Deliveries.left(client, queue) + failuresReported);
      while (Deliveries.left(client, queue) > MALFORMED || failuresReported <= MALFORMED) {
        emptied.check();
        List<Message> batch =
            client
                .receiveMessage(request ->
                    request
                        .queueUrl(queue.toString())
                        .maxNumberOfMessages(10)
                        .waitTimeSeconds(1)
                        .visibilityTimeout(3))
                .messages();
        if (!batch.isEmpty()) {
          deliver(batch);
        }
      }
    }

    private void crash() {
      try {
        lambda.crash();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void deliver(List<Message> batch) throws Exception {
      boolean crashNow =
          crashes < KILLS_MAX && Clock.system().nanoTime() - crashed > KILL_EVERY.toNanos();
      Thread killer = null;
      if (crashNow) {
        killer = Thread.ofVirtual().start(this::crash);
        crashes++;
      }
      Optional<String> answer = lambda.invoke(event(batch));
      if (killer != null) {
        killer.join();
        crashed = Clock.system().nanoTime();
      }
      if (answer.isEmpty()) {
        return; // all of them are redelivered
      }
      Set<String> failed = new HashSet<>();
      for (JsonNode each : MAPPER.readTree(answer.get()).path("batchItemFailures")) {
        failed.add(each.path("itemIdentifier").asString());
      }
      failuresReported += failed.size();
      List<DeleteMessageBatchRequestEntry> done = new ArrayList<>();
      for (Message message : batch) {
        if (!failed.contains(message.messageId())) {
          done.add(
              DeleteMessageBatchRequestEntry.builder()
                  .id(Integer.toString(done.size()))
                  .receiptHandle(message.receiptHandle())
                  .build());
        } else if (message.body().startsWith("no event")) {
          malformed.add(message.body());
        }
      }
      if (!done.isEmpty()) {
        client.deleteMessageBatch(request -> request.queueUrl(queue.toString()).entries(done));
      }
    }

    private static String event(List<Message> batch) {
      List<Map<String, Object>> records = new ArrayList<>();
      for (Message message : batch) {
        records.add(
            LambdaService.message(message.messageId(), message.receiptHandle(), message.body()));
      }
      return MAPPER.writeValueAsString(Map.of("Records", records));
    }
  }
}
