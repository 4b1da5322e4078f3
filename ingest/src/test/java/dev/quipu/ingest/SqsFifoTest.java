package dev.quipu.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.SqsServer;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Views through a FIFO queue of a real SQS server. */
final class SqsFifoTest {
  private static final Instant TIME = Instant.parse("2022-03-28T13:17:23Z");
  private static final String LONG = "myblog.com/\u4eac?" + "q".repeat(500); // not a valid group id
  private static final List<String> PAGES = List.of("myblog.com/a", "myblog.com/b", LONG);
  private static final int VIEWS = 10;

  /** Opens a queue with the defaults of SQS, so without a hash of the content as the id. */
  private static URI create(SqsServer server, SqsClient client, String name) {
    client.createQueue(request ->
        request.queueName(name).attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true")));
    return server.queue(name);
  }

  private static int left(SqsClient client, URI queue) {
    return Math.toIntExact(
        client
            .getQueueAttributes(request ->
                request
                    .queueUrl(queue.toString())
                    .attributeNames(
                        QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                        QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
            .attributes()
            .values()
            .stream()
            .mapToLong(Long::parseLong)
            .sum());
  }

  private static void send(SqsQueue sender) {
    for (int i = 0; i < VIEWS; i++) {
      for (String page : PAGES) {
        sender.send(new ViewEvent(page, TIME.plusSeconds(i), "client"));
      }
    }
  }

  @Test
  void theQueueRejectsDuplicatesAndGroupsByPageAndEachViewCountsOnce() throws Exception {
    System.setProperty("aws.accessKeyId", "key");
    System.setProperty("aws.secretAccessKey", "secret");
    try (SqsServer server = SqsServer.start();
        SqsClient client = SqsClients.of(server.queue("views.fifo"), 16);
        SqsQueue sender =
            new SqsQueue(
                SqsClients.of(server.queue("views.fifo"), 16), server.queue("views.fifo"))) {
      URI queue = create(server, client, "views.fifo");
      URI dead = create(server, client, "dead.fifo");
      send(sender);
      send(sender); // within five minutes
      assertEquals((long) PAGES.size() * VIEWS, left(client, queue), "the queue kept duplicates");
      client.sendMessage(request ->
          request
              .queueUrl(queue.toString())
              .messageBody("no event")
              .messageGroupId("other")
              .messageDeduplicationId("1"));
      ViewCounter views = new ViewCounter(new Store(new MemoryDriver(), Clock.system()));
      SqsOptions options =
          SqsOptions.of(queue)
              .within(Duration.ofSeconds(2), Duration.ofSeconds(1))
              .withDeadLetter(dead);
      try (SqsConsumer consumer = new SqsConsumer(client, options, views, Clock.system())) {
        Progress.await("an empty queue", () -> left(client, queue) == 0);
        Progress.await("a dead letter", () -> left(client, dead) == 1);
        assertEquals((long) PAGES.size() * VIEWS, consumer.statistics().counted());
      }
      for (String page : PAGES) {
        assertEquals(VIEWS, views.count(page).orElseThrow(), page);
      }
      assertEquals(1, left(client, dead));
    }
  }

  @Test
  void theGroupIsThePage() {
    System.setProperty("aws.accessKeyId", "key");
    System.setProperty("aws.secretAccessKey", "secret");
    try (SqsServer server = SqsServer.start();
        SqsClient client = SqsClients.of(server.queue("views.fifo"), 16);
        SqsQueue sender =
            new SqsQueue(
                SqsClients.of(server.queue("views.fifo"), 16), server.queue("views.fifo"))) {
      URI queue = create(server, client, "views.fifo");
      sender.send(new ViewEvent(PAGES.get(0), TIME, "first"));
      sender.send(new ViewEvent(PAGES.get(1), TIME, "first"));
      sender.send(new ViewEvent(PAGES.get(0), TIME, "second"));
      Set<String> groups = new HashSet<>();
      for (Message message : received(client, queue)) {
        groups.add(message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID));
      }
      assertEquals(Set.copyOf(PAGES.subList(0, 2)), groups);
    }
  }

  private static List<Message> received(SqsClient client, URI queue) {
    return client
        .receiveMessage(request ->
            request
                .queueUrl(queue.toString())
                .maxNumberOfMessages(10)
                .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
        .messages();
  }
}
