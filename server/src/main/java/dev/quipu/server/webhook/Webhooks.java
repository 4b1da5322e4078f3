package dev.quipu.server.webhook;

import dev.quipu.QuipuException;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.backend.CounterThresholds.Status;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the crossings of all thresholds. Thread-safe.
 *
 * <p>One thread looks ten times a second for thresholds whose crossings wait, if there are
 * thresholds; each group of them that has some gets a thread of its own until all are delivered.
 */
public final class Webhooks implements AutoCloseable {
  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration LOG_EVERY = Duration.ofMinutes(1);
  private static final Logger LOGGER = LoggerFactory.getLogger(Webhooks.class);

  private final CounterThresholds thresholds;
  private final AllowedHosts allowed;
  private final Sender sender;
  private final Backoff backoff;
  private final Clock clock;
  private final Consumer<Throwable> onError;
  private final RandomGenerator randomness = Randomness.secure();
  private final Routing routing = new Routing(); // of the thread that looks
  private volatile Map<String, List<String>> groups = Map.of();
  private final Map<String, Semaphore> active = new ConcurrentHashMap<>(); // wakes a group
  private final Map<String, Failing> failing = new ConcurrentHashMap<>();
  private final LongAdder delivered = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final Semaphore changes = new Semaphore(0);
  private final Thread looking;
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final Map<String, Long> loggedNanos = new ConcurrentHashMap<>(); // by threshold
  private volatile boolean isClosed;

  /**
   * A webhook that does not take what is sent.
   *
   * @param attempts how often in a row it did not
   */
  public record Failing(Instant since, int attempts, String reason) {}

  private Webhooks(
      CounterThresholds thresholds,
      AllowedHosts allowed,
      WebhookSecret secret,
      Backoff backoff,
      Clock clock,
      Consumer<Throwable> onError) {
    this.thresholds = thresholds;
    this.allowed = allowed;
    this.sender = new Sender(secret, clock);
    this.backoff = backoff;
    this.clock = clock;
    this.onError = onError;
    this.looking = Thread.ofPlatform().daemon().name("quipu-webhooks").unstarted(this::look);
  }

  /**
   * Begins to deliver.
   *
   * @param onError receives an unexpected error
   */
  public static Webhooks start(
      CounterThresholds thresholds,
      AllowedHosts allowed,
      WebhookSecret secret,
      Backoff backoff,
      Clock clock,
      Consumer<Throwable> onError) {
    Webhooks webhooks = new Webhooks(thresholds, allowed, secret, backoff, clock, onError);
    webhooks.looking.start();
    return webhooks;
  }

  /**
   * Ensures that a webhook is on an allowed host. One that is malformed is rejected when the
   * threshold is defined.
   *
   * @throws IllegalArgumentException if it is not
   */
  public void check(URI webhook) {
    String scheme = String.valueOf(webhook.getScheme()).toLowerCase(Locale.ROOT);
    if (List.of("http", "https").contains(scheme)
        && webhook.getHost() != null
        && !allowed.allow(webhook)) {
      throw new IllegalArgumentException(
          "field webhook has the host %s, which is not allowed; add it to serve --webhook-allow"
              .formatted(webhook.getAuthority()));
    }
  }

  /** Looks again, and delivers again, since a threshold was defined or removed. */
  public void defined(String id) {
    failing.remove(id);
    loggedNanos.remove(id);
    changes.release();
    active.values().forEach(Semaphore::release);
  }

  /** Returns why the crossings of a threshold are not taken; empty if they are. */
  public Optional<Failing> failing(String id) {
    return Optional.ofNullable(failing.get(id));
  }

  /** Returns the meter of the crossings that wait, whether they are delivered or not. */
  public static MeterBinder waiting(CounterThresholds thresholds) {
    return registry ->
        Gauge.builder("quipu.webhook.waiting", thresholds, Webhooks::sum)
            .description("Crossings of thresholds that wait for delivery")
            .baseUnit("crossings")
            .register(registry);
  }

  private static long sum(CounterThresholds thresholds) {
    return thresholds.list().stream().mapToLong(Status::waiting).sum();
  }

  /** Returns the meters of deliveries. */
  public MeterBinder meters() {
    return registry -> {
      FunctionCounter.builder("quipu.webhook.delivered", delivered, LongAdder::sum)
          .description("Delivered crossings")
          .baseUnit("crossings")
          .register(registry);
      FunctionCounter.builder("quipu.webhook.failures", failures, LongAdder::sum)
          .description("Failed deliveries, which are retried")
          .register(registry);
    };
  }

  private void look() {
    try {
      while (!isClosed) {
        List<Status> all = thresholds.list();
        groups = routing.groups(all.stream().map(Status::threshold).toList());
        Set<String> waiting =
            all.stream()
                .filter(each -> each.waiting() > 0)
                .map(each -> each.threshold().id())
                .collect(Collectors.toSet());
        groups.forEach((name, ids) -> {
          if (!Collections.disjoint(waiting, ids)) {
            deliver(name);
          }
        });
        if (all.isEmpty()) {
          changes.acquire();
        } else {
          var unused = changes.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS);
        }
        changes.drainPermits();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closing
    } catch (QuipuException e) {
      LOGGER.atDebug().setCause(e).log("Deliveries ended with the engine");
    } catch (Throwable e) {
      onError.accept(e);
    }
  }

  private void deliver(String group) {
    Semaphore wake = new Semaphore(0);
    if (active.putIfAbsent(group, wake) == null) {
      Thread.ofVirtual().name("quipu-webhook-" + group).start(() -> run(group, wake));
    }
  }

  private void run(String group, Semaphore wake) {
    threads.add(Thread.currentThread()); // here, so that it is not added after it was removed
    try {
      deliverAll(group, wake);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closing
    } catch (Throwable e) {
      onError.accept(e);
    } finally {
      active.remove(group);
      threads.remove(Thread.currentThread());
    }
  }

  private void deliverAll(String group, Semaphore wake) throws InterruptedException {
    Delivery delivery = new Delivery(thresholds, sender, allowed);
    while (!isClosed) {
      List<String> ids = groups.getOrDefault(group, List.of());
      if (ids.isEmpty()) {
        return; // its thresholds are in other groups now
      }
      Delivery.Round round = delivery.round(ids);
      delivered.add(round.delivered());
      if (round.failure().isEmpty()) {
        ids.forEach(this::recovered);
        if (round.found() == 0) {
          return;
        }
        continue;
      }
      failures.increment();
      Failing now = failed(round.failure().get(), round);
      Duration pause = backoff.after(now.attempts(), randomness.nextDouble());
      boolean unused = wake.tryAcquire(pause.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private Failing failed(Delivery.Failure failure, Delivery.Round round) {
    String id = failure.id();
    String reason = failure.reason();
    Failing before = failing.get(id);
    Failing now =
        before == null || round.delivered() > 0
            ? new Failing(Instant.ofEpochMilli(clock.epochMillis()), 1, reason)
            : new Failing(before.since(), before.attempts() + 1, reason);
    if (now.attempts() == 1 && !isClosed && mayLog(id)) {
      LOGGER
          .atWarn()
          .addKeyValue("threshold", id)
          .addKeyValue("reason", reason)
          .log("Webhook failed; the delivery will be retried");
    }
    failing.put(id, now);
    return now;
  }

  /** Forgets that a delivery failed; logs it only if it had failed for long: it may fail often. */
  private void recovered(String id) {
    Failing before = failing.remove(id);
    Instant now = Instant.ofEpochMilli(clock.epochMillis());
    if (before != null && Duration.between(before.since(), now).compareTo(LOG_EVERY) > 0) {
      LOGGER
          .atInfo()
          .addKeyValue("threshold", id)
          .addKeyValue("since", before.since())
          .log("Webhook accepts crossings again");
    }
  }

  /** Returns whether the log has no such line of the last minute: a webhook may fail often. */
  private boolean mayLog(String id) {
    long now = clock.nanoTime();
    Long before = loggedNanos.get(id);
    boolean mayLog = before == null || now - before > LOG_EVERY.toNanos();
    if (mayLog) {
      loggedNanos.put(id, now);
    }
    return mayLog;
  }

  @Override
  public void close() {
    isClosed = true;
    looking.interrupt();
    threads.forEach(Thread::interrupt);
    sender.close();
  }
}
