package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.ingest.SqsQueue;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/**
 * The requests of an access log as messages, every fifth of them duplicated, and the expected
 * counts.
 */
final class Deliveries {
  private static final double TWICE = 0.2;
  private static final int BATCH = 10;
  private static final int SENDERS = 8;
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final List<ViewEvent> events;

  private Deliveries(List<ViewEvent> events) {
    this.events = events;
  }

  /** Creates messages from the first lines of the log. */
  static Deliveries ofAccessLog(long seed, long linesMax) throws IOException {
    List<ViewEvent> events = new ArrayList<>();
    try (InputStream in =
            Objects.requireNonNull(Deliveries.class.getResourceAsStream("views.txt"), "views.txt");
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String line : lines.lines().skip(1).limit(linesMax).toList()) {
        String[] words = line.split("\t", 3);
        events.add(
            new ViewEvent(words[2], Instant.ofEpochSecond(Long.parseLong(words[0])), words[1]));
      }
    }
    RandomGenerator random = Randomness.seeded(seed);
    for (ViewEvent event : List.copyOf(events)) {
      if (random.nextDouble() < TWICE) {
        events.add(random.nextInt(events.size()), event);
      }
    }
    return new Deliveries(events);
  }

  int sent() {
    return events.size();
  }

  /** Returns the expected count by URL, computed by {@code sort -u} over URL, time and client. */
  Map<String, Long> truth() {
    Set<ViewEvent> distinct = new HashSet<>(events);
    Map<String, Long> truth = new TreeMap<>();
    distinct.forEach(event -> truth.merge(event.url(), 1L, Long::sum));
    return truth;
  }

  long views() {
    return truth().values().stream().mapToLong(Long::longValue).sum();
  }

  void send(SqsClient client, URI queue) throws Exception {
    client.createQueue(request -> request.queueName(queue.getPath().replaceFirst(".*/", "")));
    try (ExecutorService executor = Executors.newFixedThreadPool(SENDERS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int from = 0; from < events.size(); from += BATCH) {
        List<ViewEvent> some = events.subList(from, Math.min(events.size(), from + BATCH));
        running.add(executor.submit(() -> sendBatch(client, queue, some)));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
  }

  private static void sendBatch(SqsClient client, URI queue, List<ViewEvent> some) {
    List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
    for (int i = 0; i < some.size(); i++) {
      entries.add(
          SendMessageBatchRequestEntry.builder()
              .id(Integer.toString(i))
              .messageBody(SqsQueue.text(some.get(i)))
              .build());
    }
    client.sendMessageBatch(request -> request.queueUrl(queue.toString()).entries(entries));
  }

  /** Returns the number of messages in a queue, including hidden ones. */
  static long left(SqsClient client, URI queue) {
    return client
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
        .sum();
  }

  /** Waits until a queue is empty and runs a task meanwhile. */
  static void awaitEmpty(SqsClient client, URI queue, Runnable meanwhile)
      throws InterruptedException {
    Progress emptied = new Progress("messages left in " + queue, () -> left(client, queue));
    while (left(client, queue) > 0) {
      emptied.check();
      meanwhile.run();
      Clock.system().sleep(PAUSE);
    }
  }

  /** Checks that each page was counted exactly. */
  void check(ViewCounter views) {
    Map<String, Long> counted = new TreeMap<>();
    for (String url : truth().keySet()) {
      views.count(url).ifPresent(count -> counted.put(url, count));
    }
    assertEquals(truth(), counted);
  }
}
