package dev.quipu.threshold;

import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.ThresholdListener;
import dev.quipu.ThresholdListener.Crossing;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the thresholds that observed counters cross, for techniques that cannot enforce bounds.
 * Thread-safe.
 *
 * <p>Stored: in {@code threshold/N}, under the name of the counter, the number of crossings, in
 * {@code crossings}, and how many of them the listener has received, in {@code reported}. The
 * number of crossings determines on which side the counter was observed last, since it starts at 0.
 *
 * <p>Protocol: if a value is on the other side, increase {@code crossings}, on condition that the
 * item is unchanged. Call the listener for each crossing that is not reported, and then set {@code
 * reported}. A process that ends in between is continued by the next observation of any process, so
 * the listener is called at least once for each crossing, under one id.
 *
 * <p>Not guaranteed: a value that crosses a threshold and returns between two observations is not
 * noticed. Observations of several processes are not ordered, so close to a threshold a crossing
 * may be reported that has already been reversed.
 */
public final class Thresholds implements BiConsumer<String, Reading> {
  /** Maximum number of thresholds. */
  public static final int THRESHOLDS_MAX = 16;

  private static final String CROSSINGS = "crossings";
  private static final String REPORTED = "reported";
  private static final int TRIES_MAX = 5;
  private static final Logger LOGGER = LoggerFactory.getLogger(Thresholds.class);

  private final Store store;
  private final List<Long> thresholds;
  private final ThresholdListener listener;

  /**
   * Observes counters.
   *
   * @param thresholds at most {@link #THRESHOLDS_MAX}
   * @throws IllegalArgumentException if there are more
   */
  public Thresholds(Store store, List<Long> thresholds, ThresholdListener listener) {
    if (thresholds.size() > THRESHOLDS_MAX) {
      throw new IllegalArgumentException(
          "%d thresholds; the limit is %d. Remove some"
              .formatted(thresholds.size(), THRESHOLDS_MAX));
    }
    this.store = store;
    this.thresholds = List.copyOf(thresholds);
    this.listener = listener;
  }

  /** Returns a listener that logs. */
  public static ThresholdListener logging() {
    return crossing ->
        LOGGER
            .atInfo()
            .addKeyValue("id", crossing.id())
            .addKeyValue("counter", crossing.counter())
            .addKeyValue("threshold", crossing.threshold())
            .addKeyValue("value", crossing.value())
            .addKeyValue("direction", crossing.isUp() ? "up" : "down")
            .log("Threshold crossed");
  }

  /** Observes a value. A failure of the store is logged, and the next observation continues. */
  @Override
  public void accept(String counter, Reading reading) {
    for (long threshold : thresholds) {
      try {
        observe(counter, threshold, reading.value());
      } catch (QuipuException e) {
        LOGGER
            .atWarn()
            .addKeyValue("counter", counter)
            .addKeyValue("threshold", threshold)
            .addKeyValue("cause", e.getMessage())
            .log("Threshold not observed; will retry");
      }
    }
  }

  private void observe(String counter, long threshold, long value) {
    Key key = new Key("threshold/" + threshold, counter);
    for (int i = 0; i < TRIES_MAX; i++) {
      Optional<Item> found = store.get(key);
      long crossings = number(found, CROSSINGS);
      long reported = number(found, REPORTED);
      if (isUpAfter(threshold, crossings) != value >= threshold) {
        put(key, crossings + 1, reported, found); // if not stored, the next try finds out
      } else if (reported == crossings || !isReported(counter, threshold, value, reported + 1)) {
        return;
      } else {
        put(key, crossings, reported + 1, found);
      }
    }
  }

  private static long number(Optional<Item> item, String field) {
    return item.map(found -> found.number(field)).orElse(0L);
  }

  /** Returns whether a counter is at or above the threshold after this number of crossings. */
  private static boolean isUpAfter(long threshold, long crossings) {
    boolean isUpInitially = 0 >= threshold;
    return isUpInitially == (crossings % 2 == 0);
  }

  private void put(Key key, long crossings, long reported, Optional<Item> found) {
    Map<String, Field> fields =
        Map.of(CROSSINGS, new Field.Number(crossings), REPORTED, new Field.Number(reported));
    WriteResult result = store.write(new Write.Put(key, fields, Condition.unchanged(found)));
    LOGGER.atTrace().addKeyValue("key", key).addKeyValue("result", result).log("Threshold stored");
  }

  private boolean isReported(String counter, long threshold, long value, long number) {
    String id = "%s/%d/%d".formatted(counter, threshold, number);
    boolean isUp = isUpAfter(threshold, number);
    try {
      listener.crossed(new Crossing(id, counter, threshold, value, isUp));
      return true;
    } catch (RuntimeException e) { // of the listener, which changes nothing here
      LOGGER.atWarn().addKeyValue("id", id).setCause(e).log("Listener failed; will retry");
      return false;
    }
  }
}
