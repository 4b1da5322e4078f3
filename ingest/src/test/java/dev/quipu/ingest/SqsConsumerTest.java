package dev.quipu.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.SqsServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** The consumer on a real SQS server. */
@SuppressWarnings("NullAway.Init") // JUnit calls start and makeQueues before each test
final class SqsConsumerTest {
  private static final Instant TIME = Instant.parse("2022-03-28T13:17:23Z");
  private static final String PAGE = "myblog.com/article1";

  private static SqsServer server;
  private static SqsClient client;
  private URI queue;
  private URI dead;

  @BeforeAll
  static void start() {
    System.setProperty("aws.accessKeyId", "key");
    System.setProperty("aws.secretAccessKey", "secret");
    server = SqsServer.start();
    client = SqsClients.of(server.queue("any"), 32);
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  @BeforeEach
  void makeQueues(TestInfo test) {
    String name = test.getTestMethod().orElseThrow().getName();
    queue = make(name);
    dead = make(name + "-dead");
  }

  private static URI make(String name) {
    client.createQueue(
        request -> request.queueName(name.substring(0, Math.min(80, name.length()))));
    return server.queue(name);
  }

  private static ViewEvent event(int number) {
    return new ViewEvent(PAGE, TIME.plusSeconds(number), "client");
  }

  private void send(int from, int until, int times) {
    for (int time = 0; time < times; time++) {
      for (int number = from; number < until; number++) {
        String text = SqsQueue.text(event(number));
        client.sendMessage(request -> request.queueUrl(queue.toString()).messageBody(text));
      }
    }
  }

  private SqsOptions options() {
    return SqsOptions.of(queue).within(Duration.ofSeconds(2), Duration.ofSeconds(1));
  }

  private static ViewCounter counter(StoreDriver driver) {
    RetryPolicy once =
        new RetryPolicy(1, Duration.ofNanos(1), Duration.ofNanos(2), Duration.ofDays(1));
    return new ViewCounter(new Store(driver, Clock.system(), Randomness.secure(), once));
  }

  private long left(URI of) {
    return client
        .getQueueAttributes(request ->
            request
                .queueUrl(of.toString())
                .attributeNames(
                    QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                    QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
        .attributes()
        .values()
        .stream()
        .mapToLong(Long::parseLong)
        .sum();
  }

  @Test
  void eachViewCountsOnceHoweverOftenItIsDelivered() throws Exception {
    ViewCounter views = counter(new MemoryDriver());
    send(0, 50, 3);
    SqsConsumer consumer = new SqsConsumer(client, options(), views, Clock.system());
    Progress.await("empty", () -> left(queue) == 0);
    consumer.close();
    assertEquals(50, views.count(PAGE).orElseThrow());
    assertEquals(new SqsConsumer.Statistics(50, 100, 0, 0), consumer.statistics());
  }

  @Test
  void malformedMessagesGoToTheDeadLettersAndBlockNothing() throws Exception {
    ViewCounter views = counter(new MemoryDriver());
    client.sendMessageBatch(request ->
        request
            .queueUrl(queue.toString())
            .entries(
                SendMessageBatchRequestEntry.builder().id("1").messageBody("nothing").build(),
                SendMessageBatchRequestEntry.builder().id("2").messageBody("{}").build()));
    send(0, 5, 1);
    try (SqsConsumer consumer =
        new SqsConsumer(client, options().withDeadLetter(dead), views, Clock.system())) {
      Progress.await("empty", () -> left(queue) == 0);
      assertEquals(2, consumer.statistics().malformed());
    }
    assertEquals(5, views.count(PAGE).orElseThrow());
    List<Message> buried =
        client
            .receiveMessage(request ->
                request
                    .queueUrl(dead.toString())
                    .maxNumberOfMessages(10)
                    .messageAttributeNames("All"))
            .messages();
    assertEquals(2, buried.size());
    for (Message each : buried) {
      boolean isJson = each.body().equals("{}");
      assertEquals(isJson ? "url" : "body", attribute(each, "quipu.field"));
      String reason = attribute(each, "quipu.reason");
      assertTrue(reason.startsWith(isJson ? "url: missing" : "body: not JSON"), reason);
      assertTrue(each.messageAttributes().containsKey("quipu.messageId"));
    }
  }

  private static String attribute(Message message, String name) {
    return Objects.requireNonNull(message.messageAttributes().get(name), name).stringValue();
  }

  @Test
  void withoutDeadLettersMalformedMessagesStay() throws Exception {
    ViewCounter views = counter(new MemoryDriver());
    client.sendMessage(request -> request.queueUrl(queue.toString()).messageBody("nothing"));
    send(0, 5, 1);
    try (SqsConsumer consumer = new SqsConsumer(client, options(), views, Clock.system())) {
      Progress.await("delivered again", () -> consumer.statistics().malformed() >= 2);
      Progress.await("counted", () -> consumer.statistics().counted() == 5);
    }
    assertEquals(1, left(queue));
  }

  @Test
  void failedAddsStayAndCountOnceLater() throws Exception {
    FaultingDriver lossy =
        new FaultingDriver(
            new MemoryDriver(),
            Randomness.seeded(3),
            1,
            List.of(Fault.THROTTLED, Fault.LOST_REQUEST, Fault.LOST_REPLY),
            () -> {});
    ViewCounter views = counter(lossy);
    send(0, 20, 1);
    try (SqsConsumer consumer = new SqsConsumer(client, options(), views, Clock.system())) {
      Progress.await("failures", () -> consumer.statistics().failed() >= 20);
      assertEquals(20, left(queue), "nothing was deleted");
      lossy.heal();
      Progress.await("empty", () -> left(queue) == 0);
    }
    assertEquals(20, views.count(PAGE).orElseThrow());
  }

  @Test
  void aSlowStoreExtendsTheVisibilityTimeout() throws Exception {
    AtomicBoolean isSlow = new AtomicBoolean(true);
    FaultingDriver slow =
        new FaultingDriver(
            new MemoryDriver(),
            Randomness.seeded(1),
            0,
            () -> {
              if (isSlow.getAndSet(false)) {
                sleep(Duration.ofSeconds(5)); // more than twice the visibility timeout
              }
            });
    ViewCounter views = counter(slow);
    send(0, 30, 1);
    SqsConsumer consumer = new SqsConsumer(client, options().withPollers(1), views, Clock.system());
    Progress.await("empty", () -> left(queue) == 0);
    consumer.close();
    assertEquals(new SqsConsumer.Statistics(30, 0, 0, 0), consumer.statistics());
  }

  private static void sleep(Duration time) {
    try {
      Clock.system().sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void closingCompletesTheMessagesInProgress() throws Exception {
    ViewCounter views = counter(new MemoryDriver());
    send(0, 200, 1);
    int consumers = 0;
    while (left(queue) > 0) {
      SqsConsumer consumer = new SqsConsumer(client, options(), views, Clock.system());
      Progress.await("something", () -> consumer.statistics().counted() > 0 || left(queue) == 0);
      consumer.close();
      consumers++;
      assertTrue(consumers < 100, "the consumer does not end");
    }
    assertEquals(200, views.count(PAGE).orElseThrow());
  }

  @Test
  void sentViewsAreCountedAndAnUnreachableQueueIsReported() throws Exception {
    ViewCounter views = counter(new MemoryDriver());
    try (ViewQueue front = new SqsQueue(SqsClients.of(queue, 4), queue)) {
      for (int i = 0; i < 20; i++) {
        front.send(event(i % 15));
      }
    }
    SqsConsumer consumer = new SqsConsumer(client, options(), views, Clock.system());
    Progress.await("empty", () -> left(queue) == 0);
    consumer.close();
    assertEquals(15, views.count(PAGE).orElseThrow());
    URI missing = server.queue("no-such-queue");
    try (ViewQueue nowhere = new SqsQueue(SqsClients.of(missing, 1), missing)) {
      QuipuException e = assertThrows(QuipuException.class, () -> nowhere.send(event(0)));
      assertEquals(Outcome.NOT_APPLIED, e.outcome(), e.getMessage());
    }
    URI away = URI.create("http://127.0.0.1:1/000000000000/views");
    try (ViewQueue nowhere = new SqsQueue(SqsClients.of(away, 1), away)) {
      QuipuException e = assertThrows(QuipuException.class, () -> nowhere.send(event(0)));
      assertEquals(Outcome.UNKNOWN, e.outcome(), "unknown: retry");
    }
  }

  @Test
  void invalidOptionsAreRejected() {
    assertThrows(IllegalArgumentException.class, () -> options().withPollers(0));
    assertThrows(IllegalArgumentException.class, () -> options().withPollers(257));
    assertThrows(
        IllegalArgumentException.class,
        () -> options().within(Duration.ofMillis(999), Duration.ZERO));
    assertThrows(
        IllegalArgumentException.class,
        () -> options().within(Duration.ofSeconds(1), Duration.ofSeconds(21)));
    for (String url : List.of("queue", "ftp://a/b", "http://a")) {
      assertThrows(IllegalArgumentException.class, () -> SqsClients.of(URI.create(url), 1));
    }
  }
}
