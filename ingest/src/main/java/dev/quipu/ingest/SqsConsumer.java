package dev.quipu.ingest;

import dev.quipu.QuipuException;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * Counts views from an SQS queue, each exactly once. Thread-safe.
 *
 * <pre>{@code
 * CONSUMING A QUEUE THAT DELIVERS AT LEAST ONCE
 *
 * Protocol of each poller.
 *   1. Receive up to ten messages, which become invisible for the visibility timeout.
 *   2. Count all of them in one transaction. If that fails, or if one of them is a repeat, count
 *      each message concurrently, since the store groups concurrent adds. After half of the
 *      visibility timeout, continue at 3 with the messages that are completed, and extend the
 *      timeout of the others.
 *   3. Send a malformed message to the dead-letter queue together with the reason; it is then
 *      completed. Without a dead-letter queue, it is handled as in 4.
 *   4. If the add of a message was rejected or has an unknown outcome, make the message visible
 *      again after a second. While every add of a batch fails, the pauses between batches grow.
 *   5. Delete only the messages that are completed: their counts are durable.
 *
 * Why it is correct. A message is deleted only after its count is durable, so none is lost. If it
 * is delivered again, because a deletion was lost, the timeout passed or a consumer crashed, its
 * marker is found, so none counts twice. The number of messages in progress is bounded, so a slow
 * store slows down the consumer, and does not exhaust its memory.
 *
 * Crash table.
 *   | crash after | then                                                |
 *   | 1           | the timeout passes, and another consumer counts     |
 *   | 2           | the same; the markers identify the repeats          |
 *   | 3, before 5 | the dead-letter queue may receive the message twice |
 *   | 5           | nothing is left to do                               |
 * }</pre>
 */
public final class SqsConsumer implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(SqsConsumer.class);
  private static final int BATCH = 10; // the limit of SQS
  private static final int BATCHES_PER_POLLER = 2; // one is received while another is counted
  private static final int SECONDS_UNTIL_VISIBLE =
      1; // while the store fails, the pauses between batches grow
  private static final Duration PAUSE_MIN = Duration.ofMillis(100);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);
  private static final String MALFORMED_GROUP = "malformed"; // in a dead-letter queue with order
  private static final String REASON = "quipu.reason";
  private static final String FIELD = "quipu.field";
  private static final String ORIGINAL = "quipu.messageId";

  private final SqsClient client;
  private final SqsOptions options;
  private final ViewCounter views;
  private final Clock clock;
  private final ExecutorService batches = Executors.newVirtualThreadPerTaskExecutor();
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore permits;
  private final List<Poller> pollers = new ArrayList<>();
  private final LongAdder counted = new LongAdder();
  private final LongAdder countedBefore = new LongAdder();
  private final LongAdder malformed = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private volatile boolean closed;

  /**
   * Totals since the start.
   *
   * @param counted new views
   * @param countedBefore repeated deliveries of counted views
   * @param malformed deliveries of malformed messages
   * @param failed deliveries without a definite count; they are delivered again
   */
  public record Statistics(long counted, long countedBefore, long malformed, long failed) {}

  /**
   * Starts to consume.
   *
   * @param client the caller closes it
   * @param views must be exact; otherwise repeats count
   */
  public SqsConsumer(SqsClient client, SqsOptions options, ViewCounter views, Clock clock) {
    this.client = client;
    this.options = options;
    this.views = views;
    this.clock = clock;
    this.permits = new Semaphore(BATCHES_PER_POLLER * options.pollers());
    for (int i = 0; i < options.pollers(); i++) {
      Poller poller = new Poller();
      pollers.add(poller);
      poller.thread.start();
    }
  }

  /** Returns the totals since the start. */
  public Statistics statistics() {
    return new Statistics(counted.sum(), countedBefore.sum(), malformed.sum(), failed.sum());
  }

  /** The next step for a message. */
  private enum Fate {
    DELETE,
    LEAVE
  }

  private final class Poller {
    final Thread thread = Thread.ofVirtual().name("quipu-poller").unstarted(this::run);
    private volatile Duration pause = PAUSE_MIN;
    private boolean receiving;

    private void run() {
      while (!closed) {
        try {
          permits.acquire();
          if (!takeBatch()) {
            permits.release();
          }
        } catch (InterruptedException e) {
          return; // closed while waiting for messages
        }
      }
    }

    /** Starts a batch, which releases its permit on completion; returns whether there was one. */
    private boolean takeBatch() throws InterruptedException {
      try {
        List<Message> batch = receive();
        if (batch.isEmpty()) {
          return false;
        }
        batches.submit(() -> handleAndGo(batch));
        if (!pause.equals(PAUSE_MIN)) {
          clock.sleep(pause); // every add of the last batch failed
        }
        return true;
      } catch (SdkException e) {
        if (!closed) {
          LOGGER.warn("Queue unreachable; will retry: cause={}", e.getMessage());
          pauseAfterError();
        }
        return false;
      } catch (RuntimeException e) { // without its poller, the queue would grow
        LOGGER.error("Unhandled exception in a poller; it continues", e);
        pauseAfterError();
        return false;
      }
    }

    private void handleAndGo(List<Message> batch) {
      try {
        pause = handle(batch) ? PAUSE_MIN : longer(pause);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (RuntimeException e) {
        LOGGER.error("Batch not completed; it will be delivered again", e);
      } finally {
        permits.release();
      }
    }

    private void pauseAfterError() {
      try {
        pause = longer(pause);
        clock.sleep(pause);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private List<Message> receive() {
      if (!begin()) {
        return List.of();
      }
      try {
        return client
            .receiveMessage(request ->
                request
                    .queueUrl(options.queue().toString())
                    .maxNumberOfMessages(BATCH)
                    .waitTimeSeconds(Math.toIntExact(options.longPoll().toSeconds()))
                    .visibilityTimeout(Math.toIntExact(options.visibility().toSeconds())))
            .messages();
      } finally {
        end();
      }
    }

    private synchronized boolean begin() {
      receiving = !closed;
      return receiving;
    }

    private synchronized void end() {
      receiving = false;
    }

    /**
     * Interrupts a wait for messages, which become visible again later; work is not interrupted.
     */
    synchronized void stopWaiting() {
      if (receiving) {
        thread.interrupt();
      }
    }
  }

  private static Duration longer(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return twice.compareTo(PAUSE_MAX) > 0 ? PAUSE_MAX : twice;
  }

  /** Handles a batch; returns whether at least one message was completed. */
  private boolean handle(List<Message> batch) throws InterruptedException {
    if (batch.size() > 1 && isCountedTogether(batch)) {
      delete(batch);
      return true;
    }
    Map<Message, Future<Fate>> running = new LinkedHashMap<>();
    for (Message message : batch) {
      running.put(message, executor.submit(() -> count(message)));
    }
    int failures = 0;
    while (!running.isEmpty()) {
      await(running.values());
      List<Message> done = new ArrayList<>();
      List<Message> left = new ArrayList<>();
      running.forEach((message, counted) -> {
        if (counted.isDone()) {
          boolean isDone =
              counted.state() == Future.State.SUCCESS && counted.resultNow() == Fate.DELETE;
          (isDone ? done : left).add(message);
        }
      });
      done.forEach(running::remove);
      left.forEach(running::remove);
      failures += left.size();
      delete(done);
      changeVisibility(left, SECONDS_UNTIL_VISIBLE);
      extend(List.copyOf(running.keySet()));
    }
    return failures < batch.size();
  }

  private boolean isCountedTogether(List<Message> batch) throws InterruptedException {
    Future<Boolean> counting = executor.submit(() -> countTogether(batch));
    for (await(List.of(counting)); !counting.isDone(); await(List.of(counting))) {
      extend(batch);
    }
    return counting.state() == Future.State.SUCCESS && counting.resultNow();
  }

  /**
   * Counts all in one transaction; returns false if that failed, with an unknown outcome for each.
   */
  private boolean countTogether(List<Message> batch) {
    List<ViewEvent> events = new ArrayList<>(batch.size());
    try {
      for (Message message : batch) {
        events.add(EventReader.read(message.body()));
      }
      if (views.addTogether(events)) {
        counted.add(events.size());
        return true;
      }
    } catch (MalformedEvent | QuipuException | UnsupportedOperationException e) {
      LOGGER.debug("Batch transaction failed; counting each message", e);
    }
    return false;
  }

  /** Waits for all of them, but not longer than half the visibility timeout. */
  private void await(Collection<? extends Future<?>> running) throws InterruptedException {
    long until = clock.nanoTime() + options.visibility().toNanos() / 2;
    for (Future<?> each : running) {
      try {
        each.get(Math.max(0, until - clock.nanoTime()), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        return;
      } catch (ExecutionException e) {
        LOGGER.error(
            "Unhandled exception while counting a message; it stays in the queue", e.getCause());
      }
    }
  }

  private Fate count(Message message) {
    ViewEvent event;
    try {
      event = EventReader.read(message.body());
    } catch (MalformedEvent e) {
      malformed.increment();
      return sendToDeadLetters(message, e);
    }
    try {
      (views.add(event) ? counted : countedBefore).increment();
      return Fate.DELETE;
    } catch (QuipuException e) {
      failed.increment();
      LOGGER.debug("View not counted; its message stays in the queue", e);
      return Fate.LEAVE;
    }
  }

  private Fate sendToDeadLetters(Message message, MalformedEvent why) {
    LOGGER.warn("Malformed message: id={} cause={}", message.messageId(), why.getMessage());
    Optional<URI> deadLetter = options.deadLetter();
    if (deadLetter.isEmpty()) {
      return Fate.LEAVE;
    }
    client.sendMessage(request -> {
      request
          .queueUrl(deadLetter.get().toString())
          .messageBody(message.body())
          .messageAttributes(
              Map.of(
                  REASON, text(String.valueOf(why.getMessage())),
                  FIELD, text(why.field()),
                  ORIGINAL, text(message.messageId())));
      FifoQueue.address(request, deadLetter.get(), MALFORMED_GROUP, message.messageId());
    });
    return Fate.DELETE;
  }

  private static MessageAttributeValue text(String value) {
    return MessageAttributeValue.builder().dataType("String").stringValue(value).build();
  }

  /** Extends the visibility timeout. If that fails, the messages are delivered again. */
  private void extend(List<Message> unfinished) {
    changeVisibility(unfinished, Math.toIntExact(options.visibility().toSeconds()));
  }

  private void changeVisibility(List<Message> messages, int seconds) {
    if (messages.isEmpty()) {
      return;
    }
    List<ChangeMessageVisibilityBatchRequestEntry> entries = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      entries.add(
          ChangeMessageVisibilityBatchRequestEntry.builder()
              .id(Integer.toString(i))
              .receiptHandle(messages.get(i).receiptHandle())
              .visibilityTimeout(seconds)
              .build());
    }
    try {
      client.changeMessageVisibilityBatch(
          request -> request.queueUrl(options.queue().toString()).entries(entries));
    } catch (SdkException e) {
      LOGGER.debug("Visibility timeout not changed; messages are delivered again after it", e);
    }
  }

  private void delete(List<Message> done) {
    if (done.isEmpty()) {
      return;
    }
    List<DeleteMessageBatchRequestEntry> entries = new ArrayList<>();
    for (int i = 0; i < done.size(); i++) {
      entries.add(
          DeleteMessageBatchRequestEntry.builder()
              .id(Integer.toString(i))
              .receiptHandle(done.get(i).receiptHandle())
              .build());
    }
    try {
      client.deleteMessageBatch(
          request -> request.queueUrl(options.queue().toString()).entries(entries));
    } catch (SdkException e) {
      LOGGER.debug("Messages not deleted; they will be delivered again", e);
    }
  }

  /** Stops receiving, completes the messages in progress, and returns. */
  @Override
  public void close() {
    closed = true;
    pollers.forEach(Poller::stopWaiting);
    for (Poller poller : pollers) {
      try {
        poller.thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    batches.close();
    executor.close();
  }
}
