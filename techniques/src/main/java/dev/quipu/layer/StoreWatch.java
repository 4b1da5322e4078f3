package dev.quipu.layer;

import dev.quipu.QuipuException;
import dev.quipu.store.StoreDriver.Finding;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Survival;
import dev.quipu.time.Periodic;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the configuration of a store, at the start and every ten seconds, and logs settings that
 * endanger writes. It rejects writes while acknowledged writes could be lost silently and the user
 * did not accept that by {@code durability} in the URI, and until the store could be checked. While
 * the store itself rejects writes, their errors name the setting and the remedy. Findings stay
 * valid for {@link #VALID} if the store does not respond to a later check.
 */
public final class StoreWatch implements AutoCloseable {
  /** Time between two checks. */
  public static final Duration INTERVAL = Duration.ofSeconds(10);

  /** How long the last answer of a store about its settings is relied on. */
  public static final Duration VALID = Duration.ofMinutes(1);

  private static final Logger LOGGER = LoggerFactory.getLogger(StoreWatch.class);

  private final Store store;
  private final Periodic running;
  private volatile List<Finding> last = List.of();
  private long answeredNanos;
  private boolean isAnswering = true;

  /**
   * Checks the store, and then every ten seconds until it is closed.
   *
   * @throws IllegalArgumentException if acknowledged writes can be lost and the user did not accept
   *     that
   * @throws QuipuException if the store rejects the check
   */
  public StoreWatch(Store store) {
    this.store = store;
    try {
      check();
      Optional<String> stopped = store.barrier().stoppedBy();
      if (stopped.isPresent()) {
        throw new IllegalArgumentException(stopped.get());
      }
    } catch (QuipuException e) {
      if (!e.reason().isTemporary()) {
        throw e;
      }
      stop("settings of store %s are still unknown: %s", e);
    }
    this.running = new Periodic("quipu-store-watch", INTERVAL, this::checkAgain);
  }

  /**
   * Returns why writes are rejected, and the remedy, as of the last check; empty if they are not
   * rejected.
   */
  public Optional<String> impediment() {
    return store.barrier().impediment().map(why -> "writes are rejected: " + why);
  }

  /**
   * Returns what acknowledged writes survive, as of the last check: {@code fsync}, or less with the
   * settings that the user accepted.
   */
  public String durability() {
    List<Finding> found = last;
    Survival survival = survival(found);
    if (survival == Survival.FSYNC) {
      return store.profile().has(Capability.DURABLE) ? survival.text() : Survival.NONE.text();
    }
    return "%s, accepted: %s"
        .formatted(
            survival.text(),
            found.stream()
                .filter(each -> each.effect() == Finding.Effect.LOSES_WRITES_BY_CHOICE)
                .map(Finding::setting)
                .collect(Collectors.joining(", ")));
  }

  private static Survival survival(List<Finding> found) {
    return found.stream()
        .filter(Finding::losesWrites)
        .map(Finding::survives)
        .min(Comparator.naturalOrder())
        .orElse(Survival.FSYNC);
  }

  /** Checks once more. */
  public void checkAgain() {
    try {
      check();
    } catch (QuipuException e) {
      unanswered(e);
    } catch (RuntimeException e) {
      store.barrier().noteRejecting(Optional.empty()); // unknown now
      LOGGER.warn("Store check failed; will retry: store={}", store.profile().name(), e);
    }
  }

  /**
   * A failed check reveals no setting: the decision about writes stays, and writes to an
   * unreachable store fail anyway.
   */
  private void unanswered(QuipuException e) {
    store.barrier().noteRejecting(Optional.empty()); // unknown now
    if (isAnswering) {
      LOGGER.warn(
          "Store did not report its settings; will retry: store={} reason={}",
          store.profile().name(),
          e.getMessage());
      isAnswering = false;
    }
    boolean wasSafe = store.barrier().stoppedBy().isEmpty();
    if (!wasSafe) {
      stop("the settings of store %s are currently unknown; writes stay rejected: %s", e);
    } else if (store.clock().nanoTime() - answeredNanos > VALID.toNanos()) {
      stop("the settings of store %s were unknown for " + VALID.toSeconds() + " s: %s", e);
    }
  }

  private void stop(String why, QuipuException e) {
    store.barrier().stop(why.formatted(store.profile().name(), e.getMessage()));
  }

  private void check() {
    String name = store.profile().name();
    List<Finding> found = store.barrier().inspect();
    answeredNanos = store.clock().nanoTime();
    if (!isAnswering) {
      LOGGER.info("Store responds again: store={}", name);
      isAnswering = true;
    }
    if (!found.equals(last)) {
      for (Finding each : found) {
        LOGGER.warn(
            "Store setting endangers writes: store={} effect={} {} remedy=\"{}\"",
            name,
            each.effect(),
            each.setting(),
            each.remedy());
      }
      if (found.isEmpty()) {
        LOGGER.info("Store settings are safe again: store={}", name);
      }
      last = found;
    }
    String rejecting = settings(found, Finding.Effect.REJECTS_WRITES);
    store
        .barrier()
        .noteRejecting(
            Optional.of(rejecting)
                .filter(settings -> !settings.isEmpty())
                .map(settings -> "store %s rejects writes: %s".formatted(name, settings)));
    String losing = settings(found, Finding.Effect.LOSES_WRITES);
    if (losing.isEmpty()) {
      store.barrier().resume();
    } else {
      store
          .barrier()
          .stop(
              ("store %s can lose acknowledged writes: %s. Change the setting, or"
                      + " accept it with durability=%s in the store's URI")
                  .formatted(name, losing, survival(found).text()));
    }
  }

  private static String settings(List<Finding> found, Finding.Effect effect) {
    return found.stream()
        .filter(each -> each.effect() == effect)
        .map(each -> each.setting() + " (" + each.remedy() + ")")
        .collect(Collectors.joining(", "));
  }

  @Override
  public void close() {
    running.close();
  }
}
