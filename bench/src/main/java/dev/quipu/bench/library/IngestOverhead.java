package dev.quipu.bench.library;

import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.ingest.SqsClients;
import dev.quipu.ingest.SqsConsumer;
import dev.quipu.ingest.SqsOptions;
import dev.quipu.ingest.SqsQueue;
import dev.quipu.layer.Store;
import dev.quipu.testservers.SqsServer;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/**
 * Compares the consumer on the engine with a loop that only receives and deletes, with the same
 * client: they take turns draining a queue of the same length.
 */
public record IngestOverhead(SqsClient client, URI queue, int pollers) {
  private static final int TURNS = 7; // after a warm-up
  private static final int MESSAGES = 20_000;
  private static final List<Integer> POLLERS = List.of(1, 4);
  private static final int SENDERS = 4;
  private static final Duration HIDDEN = Duration.ofSeconds(5);

  /** Returns the rows of the table. */
  public static String measure() throws Exception {
    System.setProperty("aws.accessKeyId", "key");
    System.setProperty("aws.secretAccessKey", "secret");
    Path data = Files.createTempDirectory(Path.of(System.getProperty("bench.dir")), "ingest");
    try (SqsServer server = SqsServer.start();
        SqsClient client = SqsClients.of(server.queue("views"), 32);
        Engine engine = Engine.open(data, EngineOptions.defaults())) {
      client.createQueue(request -> request.queueName("views"));
      ViewCounter views = new ViewCounter(new Store(engine.driver(), Clock.system()));
      StringBuilder rows = new StringBuilder();
      for (int pollers : POLLERS) {
        rows.append(new IngestOverhead(client, server.queue("views"), pollers).row(views));
      }
      return rows.toString();
    }
  }

  private String row(ViewCounter views) throws Exception {
    List<Double> counted = new ArrayList<>();
    List<Double> bare = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    for (int turn = 0; turn <= TURNS; turn++) {
      double ours = consumer(views, turn);
      double theirs = bare(turn);
      if (turn > 0) {
        counted.add(ours);
        bare.add(theirs);
        ratios.add(ours / theirs);
      }
    }
    return String.format(
        Locale.ROOT,
        "| %d | %,.0f | %,.0f | %.2f | %.2f to %.2f |%n",
        pollers,
        StoreOverhead.median(counted),
        StoreOverhead.median(bare),
        StoreOverhead.median(ratios),
        ratios.getFirst(),
        ratios.getLast());
  }

  private double consumer(ViewCounter views, int turn) throws Exception {
    fill(turn);
    long start = Clock.system().nanoTime();
    SqsOptions options = SqsOptions.of(queue).withPollers(pollers).within(HIDDEN, Duration.ZERO);
    SqsConsumer consumer = new SqsConsumer(client, options, views, Clock.system());
    while (consumer.statistics().counted() < MESSAGES) {
      Clock.system().sleep(Duration.ofMillis(1));
    }
    consumer.close(); // includes the last deletions
    return MESSAGES * 1e9 / (Clock.system().nanoTime() - start);
  }

  private double bare(int turn) throws Exception {
    fill(turn);
    long start = Clock.system().nanoTime();
    AtomicInteger done = new AtomicInteger();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < pollers; i++) {
        running.add(executor.submit(() -> receiveAndDelete(done)));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    return MESSAGES * 1e9 / (Clock.system().nanoTime() - start);
  }

  private void receiveAndDelete(AtomicInteger done) {
    while (done.get() < MESSAGES) {
      List<Message> batch =
          client
              .receiveMessage(request ->
                  request
                      .queueUrl(queue.toString())
                      .maxNumberOfMessages(10)
                      .visibilityTimeout(Math.toIntExact(HIDDEN.toSeconds())))
              .messages();
      List<DeleteMessageBatchRequestEntry> entries = new ArrayList<>();
      for (Message message : batch) {
        entries.add(
            DeleteMessageBatchRequestEntry.builder()
                .id(Integer.toString(entries.size()))
                .receiptHandle(message.receiptHandle())
                .build());
      }
      if (!entries.isEmpty()) {
        client.deleteMessageBatch(request -> request.queueUrl(queue.toString()).entries(entries));
        done.addAndGet(entries.size());
      }
    }
  }

  private void fill(int turn) throws Exception {
    try (ExecutorService executor = Executors.newFixedThreadPool(SENDERS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int from = 0; from < MESSAGES; from += 10) {
        int first = from;
        running.add(executor.submit(() -> send(turn, first)));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
  }

  private void send(int turn, int first) {
    List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
    for (int i = first; i < first + 10; i++) {
      ViewEvent event =
          new ViewEvent(
              "page " + i % 100, Instant.ofEpochSecond(1_000L * pollers + turn), "client " + i);
      entries.add(
          SendMessageBatchRequestEntry.builder()
              .id(Integer.toString(entries.size()))
              .messageBody(SqsQueue.text(event))
              .build());
    }
    client.sendMessageBatch(request -> request.queueUrl(queue.toString()).entries(entries));
  }
}
