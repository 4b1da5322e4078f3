package dev.quipu.ingest;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The events of {@link StoredQueue} in its store, and how they come to the counter. Any number of
 * threads may send; one carries.
 */
final class WaitingViews {
  private static final Logger LOGGER = LoggerFactory.getLogger(WaitingViews.class);
  private static final String PARTITION = "view-queue";
  private static final String URL = "url";
  private static final String TIME = "time";
  private static final String CLIENT = "client";
  private static final String REASON = "reason";
  private static final int AT_ONCE = 100;
  private static final int REASON_CHARS_MAX = 1_000; // so that the item stays within its limits

  private final Store store;
  private final ViewCounter views;
  private final ExecutorService executor;
  private final RandomGenerator random;
  private String next = ""; // sort at which the next look begins; of the thread that carries

  /**
   * Carries nothing yet.
   *
   * @param executor counts several at once
   */
  WaitingViews(Store store, ViewCounter views, ExecutorService executor, RandomGenerator random) {
    store.profile().require(Capability.ORDERED_SCAN);
    this.store = store;
    this.views = views;
    this.executor = executor;
    this.random = random;
  }

  /** Stores an event. See {@link ViewQueue#send}. */
  void send(ViewEvent event) {
    String sort =
        String.format(
            Locale.ROOT, "%013d#%s", store.clock().epochMillis(), RequestId.random(random).bits());
    Map<String, Field> fields =
        Map.of(
            URL,
            new Field.Text(event.url()),
            TIME,
            new Field.Text(event.time().toString()),
            CLIENT,
            new Field.Text(event.clientId()));
    store.write(
        new Write.Put(new Key(PARTITION, sort), fields, Optional.empty(), Condition.always()));
  }

  /** Carries as many as it can. */
  void round() {
    try {
      while (carry()) {
        // there is more
      }
    } catch (QuipuException e) {
      LOGGER.warn("Views wait in the queue: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("The queue cannot go on; it tries again", e);
    }
  }

  /**
   * Carries some, from where the last look ended; returns whether there are more, and any of these
   * is done: else the counter may be away, and the others wait for the next round.
   */
  private boolean carry() {
    Page page =
        store.scan(new Scan(PARTITION, next, Optional.empty(), false, AT_ONCE, Consistency.STRONG));
    List<Future<Boolean>> counting = new ArrayList<>();
    for (Item item : page.items()) {
      counting.add(executor.submit(() -> count(item)));
    }
    boolean any = false;
    for (Future<Boolean> each : counting) {
      any |= isDone(each);
    }
    next = page.resumeAt().orElse("");
    return any && page.resumeAt().isPresent();
  }

  private boolean count(Item item) {
    try {
      views.add(
          new ViewEvent(
              item.text(URL).orElseThrow(),
              Instant.parse(item.text(TIME).orElseThrow()),
              item.text(CLIENT).orElseThrow()));
    } catch (QuipuException e) {
      boolean isRejected = e.outcome() == Outcome.NOT_APPLIED && e.reason() == Reason.INVALID;
      if (!isRejected) {
        return false; // it stays
      }
      bury(item, e);
    } catch (IllegalArgumentException | DateTimeException | NoSuchElementException e) {
      bury(item, e); // it is no event
    }
    store.write(new Write.Delete(item.key(), Condition.always()));
    return true;
  }

  private void bury(Item item, RuntimeException why) {
    LOGGER.warn("Event {} cannot be counted: {}", item.key().sort(), why.getMessage());
    Map<String, Field> fields = new HashMap<>(item.fields());
    String reason = String.valueOf(why.getMessage());
    fields.put(
        REASON, new Field.Text(reason.substring(0, Math.min(reason.length(), REASON_CHARS_MAX))));
    Key key = new Key(StoredQueue.DEAD_LETTERS, item.key().sort());
    store.write(new Write.Put(key, fields, Optional.empty(), Condition.always()));
  }

  private static boolean isDone(Future<Boolean> counted) {
    try {
      return counted.get();
    } catch (ExecutionException e) {
      LOGGER.error("A view in the queue could not be counted", e.getCause());
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
