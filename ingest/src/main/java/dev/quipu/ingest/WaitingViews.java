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
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the events of {@link StoredQueue} and moves them to the counter. Any number of threads may
 * send; one moves them.
 */
final class WaitingViews {
  private static final Logger LOGGER = LoggerFactory.getLogger(WaitingViews.class);
  private static final String PARTITION = "view-queue";
  private static final String URL = "url";
  private static final String TIME = "time";
  private static final String CLIENT = "client";
  private static final String VALUE = "value";
  private static final String REASON = "reason";
  private static final int AT_ONCE = 100;
  private static final int REASON_CHARS_MAX = 1_000; // to keep the item within its limits

  private final Store store;
  private final ViewCounter views;
  private final ExecutorService executor;
  private final RandomGenerator random;
  private String next = ""; // sort where the next scan starts; of the thread that moves events

  /**
   * Creates the queue without starting it.
   *
   * @param executor counts several events concurrently
   */
  WaitingViews(Store store, ViewCounter views, ExecutorService executor, RandomGenerator random) {
    store.profile().require(Capability.ORDERED_SCAN);
    this.store = store;
    this.views = views;
    this.executor = executor;
    this.random = random;
  }

  /** Implements {@link ViewQueue#send}. */
  void send(ViewEvent event) {
    String sort =
        String.format(
            Locale.ROOT, "%013d#%s", store.clock().epochMillis(), RequestId.random(random).bits());
    Map<String, Field> fields = new HashMap<>();
    fields.put(URL, new Field.Text(event.url()));
    fields.put(TIME, new Field.Text(event.time().toString()));
    fields.put(CLIENT, new Field.Text(event.clientId()));
    event.value().ifPresent(value -> fields.put(VALUE, new Field.Number(value)));
    store.write(new Write.Put(new Key(PARTITION, sort), fields, Condition.always()));
  }

  /** Moves events until none is left or one page fails. */
  void round() {
    try {
      while (movePage()) {
        // until done
      }
    } catch (QuipuException e) {
      LOGGER.warn("Views stay in the queue: cause={}", e.getMessage());
    } catch (RuntimeException e) {
      LOGGER.error("Unhandled exception in the queue; will retry", e);
    }
  }

  /**
   * Moves one page, after the last one; returns whether there are more events and one of this page
   * is complete. Otherwise the counter may be unreachable, and the others wait for the next round.
   */
  private boolean movePage() {
    Page page = store.scan(Scan.all(PARTITION).resumedAt(next).withPages(AT_ONCE));
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
              item.text(CLIENT).orElseThrow(),
              item.fields().containsKey(VALUE)
                  ? OptionalLong.of(item.number(VALUE))
                  : OptionalLong.empty()));
    } catch (QuipuException e) {
      boolean isRejected = e.outcome() == Outcome.NOT_APPLIED && e.reason() == Reason.INVALID;
      if (!isRejected) {
        return false; // it stays in the queue
      }
      moveToDeadLetters(item, e);
    } catch (IllegalArgumentException | DateTimeException | NoSuchElementException e) {
      moveToDeadLetters(item, e); // malformed
    }
    store.write(new Write.Delete(item.key(), Condition.always()));
    return true;
  }

  private void moveToDeadLetters(Item item, RuntimeException why) {
    LOGGER.warn(
        "Event moved to dead letters: sort={} cause={}", item.key().sort(), why.getMessage());
    Map<String, Field> fields = new HashMap<>(item.fields());
    String reason = String.valueOf(why.getMessage());
    fields.put(
        REASON, new Field.Text(reason.substring(0, Math.min(reason.length(), REASON_CHARS_MAX))));
    Key key = new Key(StoredQueue.DEAD_LETTERS, item.key().sort());
    store.write(new Write.Put(key, fields, Condition.always()));
  }

  private static boolean isDone(Future<Boolean> counted) {
    try {
      return counted.get();
    } catch (ExecutionException e) {
      LOGGER.error(
          "Unhandled exception while counting a view; it stays in the queue", e.getCause());
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
