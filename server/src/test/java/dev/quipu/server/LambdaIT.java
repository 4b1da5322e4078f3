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
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsClient;

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
      EventSource source = new EventSource(client, queue, lambda, 3);
      deliverUntilOnlyMalformedAreLeft(source, client, queue);
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

  private static void deliverUntilOnlyMalformedAreLeft(
      EventSource source, SqsClient client, URI queue) throws Exception {
    Progress emptied =
        new Progress(
            "messages left", () -> Deliveries.left(client, queue) + source.failuresReported);
    long crashed = Clock.system().nanoTime();
    while (Deliveries.left(client, queue) > MALFORMED || source.failuresReported <= MALFORMED) {
      emptied.check();
      int crashes = source.crashes;
      source.deliver(
          crashes < KILLS_MAX && Clock.system().nanoTime() - crashed > KILL_EVERY.toNanos());
      if (source.crashes > crashes) {
        crashed = Clock.system().nanoTime();
      }
    }
  }
}
