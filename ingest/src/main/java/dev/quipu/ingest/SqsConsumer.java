package dev.quipu.ingest;

import dev.quipu.QuipuException;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

/*
 * CONSUMING A QUEUE THAT DELIVERS AT LEAST ONCE
 *
 * Protocol, by each of several pollers.
 *   1. Receive up to ten messages, which hides them from others for a time.
 *   2. Count all in one transaction; if one has counted before, or that fails, count each, side by
 *      side, since the store groups what comes together. After half of that
 *      time, go to 3 with those that are done, and ask for the time again for the others.
 *   3. What is no event goes to the dead-letter queue with the reason, and is done.
 *   4. What the store did not take, or may have taken, becomes visible again after a second; while
 *      the store takes nothing at all, the pauses between batches grow.
 *   5. Delete what is done, and only that: the count is durable.
 *
 * Why it is right. A message is deleted only after its count is durable, so none is lost; one that
 * is delivered again, because a deletion was lost, the time ran out or a consumer died, finds its
 * marker, so none counts twice. Nothing is taken from the queue before what was taken is done, so a
 * slow store slows the queue down and fills no memory.
 *
 * Crash table.
 *   | broken off after | then                                             |
 *   | 1                | the time runs out: another counts them           |
 *   | 2                | the same; the markers tell that they counted     |
 *   | 3, before 5      | the message is in the dead-letter queue twice    |
 *   | 5                | done                                             |
 */

/** Counts views out of an SQS queue, each once. Thread-safe. */
public final class SqsConsumer implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(SqsConsumer.class);
  private static final int BATCH = 10; // most that SQS gives at once
  private static final int BATCHES_A_POLLER = 2; // one is received while another is counted
  private static final int SECONDS_UNTIL_SHOWN = 1; // the pauses between batches grow
  private static final Duration PAUSE_MIN = Duration.ofMillis(100);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);
  private static final String REASON = "quipu.reason";
  private static final String FIELD = "quipu.field";
  private static final String ORIGINAL = "quipu.messageId";

  private final SqsClient client;
  private final SqsOptions options;
  private final ViewCounter views;
  private final Clock clock;
  private final ExecutorService batches = Executors.newVirtualThreadPerTaskExecutor();
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore places;
  private final List<Poller> pollers = new ArrayList<>();
  private final LongAdder counted = new LongAdder();
  private final LongAdder countedBefore = new LongAdder();
  private final LongAdder malformed = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private volatile boolean closed;

  /**
   * What it has done so far.
   *
   * @param counted views that counted
   * @param countedBefore deliveries of views that had counted
   * @param malformed deliveries of what is no event
   * @param failed deliveries that the store did not take for sure; they are delivered again
   */
  public record Statistics(long counted, long countedBefore, long malformed, long failed) {}

  /**
   * Begins to consume.
   *
   * @param client stays the caller's to close
   * @param views must be exact, or repeats count
   */
  public SqsConsumer(SqsClient client, SqsOptions options, ViewCounter views, Clock clock) {
    this.client = client;
    this.options = options;
    this.views = views;
    this.clock = clock;
    this.places = new Semaphore(BATCHES_A_POLLER * options.pollers());
    for (int i = 0; i < options.pollers(); i++) {
      Poller poller = new Poller();
      pollers.add(poller);
      poller.thread.start();
    }
  }

  /** What it has done so far. */
  public Statistics statistics() {
    return new Statistics(counted.sum(), countedBefore.sum(), malformed.sum(), failed.sum());
  }

  /** What is to be done with a message. */
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
          places.acquire();
          if (!takeBatch()) {
            places.release();
          }
        } catch (InterruptedException e) {
          return; // it is closed while it waits for messages
        }
      }
    }

    /** Whether there was a batch, which gives its place back when it is done. */
    private boolean takeBatch() throws InterruptedException {
      try {
        List<Message> batch = receive();
        if (batch.isEmpty()) {
          return false;
        }
        batches.submit(() -> handleAndGo(batch));
        if (!pause.equals(PAUSE_MIN)) {
          clock.sleep(pause); // the store took nothing of the last batch
        }
        return true;
      } catch (SdkException e) {
        if (!closed) {
          LOGGER.warn("The queue does not answer; tried again: {}", e.getMessage());
          pauseAfterError();
        }
        return false;
      } catch (RuntimeException e) { // a poller that ends in silence would leave the queue to grow
        LOGGER.error("Unhandled exception in a poller; it goes on", e);
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
        LOGGER.error("A batch was not finished; it is delivered again", e);
      } finally {
        places.release();
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

    /** A wait for messages is broken off; what it took shows up again later. Work is not. */
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

  /** Whether the store took at least one of them, or there was none to take. */
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
          (fate(counted) == Fate.DELETE ? done : left).add(message);
        }
      });
      done.forEach(running::remove);
      left.forEach(running::remove);
      failures += left.size();
      delete(done);
      showAgain(left);
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
   * Whether all of them counted at once; else nothing is known of any, and each is counted alone.
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
      LOGGER.debug("A batch is counted one by one", e);
    }
    return false;
  }

  /** Waits for all of them, but no longer than half the time for which they are hidden. */
  private void await(Collection<? extends Future<?>> running) throws InterruptedException {
    long until = clock.nanoTime() + options.visibility().toNanos() / 2;
    for (Future<?> each : running) {
      try {
        each.get(Math.max(0, until - clock.nanoTime()), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        return;
      } catch (ExecutionException e) {
        LOGGER.error("A message could not be counted; it stays in the queue", e.getCause());
      }
    }
  }

  private static Fate fate(Future<Fate> counted) {
    return counted.state() == Future.State.SUCCESS ? counted.resultNow() : Fate.LEAVE;
  }

  private Fate count(Message message) {
    ViewEvent event;
    try {
      event = EventReader.read(message.body());
    } catch (MalformedEvent e) {
      malformed.increment();
      return bury(message, e);
    }
    try {
      (views.add(event) ? counted : countedBefore).increment();
      return Fate.DELETE;
    } catch (QuipuException e) {
      failed.increment();
      LOGGER.debug("A view was not counted for sure; its message stays in the queue", e);
      return Fate.LEAVE;
    }
  }

  private Fate bury(Message message, MalformedEvent why) {
    LOGGER.warn("Message {} is no event: {}", message.messageId(), why.getMessage());
    if (options.deadLetter().isEmpty()) {
      return Fate.LEAVE;
    }
    client.sendMessage(request ->
        request
            .queueUrl(options.deadLetter().get().toString())
            .messageBody(message.body())
            .messageAttributes(
                Map.of(
                    REASON, text(String.valueOf(why.getMessage())),
                    FIELD, text(why.field()),
                    ORIGINAL, text(message.messageId()))));
    return Fate.DELETE;
  }

  private static MessageAttributeValue text(String value) {
    return MessageAttributeValue.builder().dataType("String").stringValue(value).build();
  }

  /** Asks for more time. If that fails, they are delivered again. */
  private void extend(List<Message> unfinished) {
    int seconds = Math.toIntExact(options.visibility().toSeconds());
    changeVisibility(unfinished, unfinished.stream().map(message -> seconds).toList());
  }

  private void showAgain(List<Message> left) {
    changeVisibility(left, left.stream().map(message -> SECONDS_UNTIL_SHOWN).toList());
  }

  private void changeVisibility(List<Message> messages, List<Integer> seconds) {
    if (messages.isEmpty()) {
      return;
    }
    List<ChangeMessageVisibilityBatchRequestEntry> entries = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      entries.add(
          ChangeMessageVisibilityBatchRequestEntry.builder()
              .id(Integer.toString(i))
              .receiptHandle(messages.get(i).receiptHandle())
              .visibilityTimeout(seconds.get(i))
              .build());
    }
    try {
      client.changeMessageVisibilityBatch(
          request -> request.queueUrl(options.queue().toString()).entries(entries));
    } catch (SdkException e) {
      LOGGER.debug("The queue did not answer; messages show up again in their own time", e);
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
      LOGGER.debug("A deletion was lost; what it concerned is delivered again", e);
    }
  }

  /** Takes no more messages, finishes what was taken, and ends. */
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
