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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the crossings of all thresholds. Thread-safe.
 *
 * <p>One thread looks ten times a second for thresholds whose crossings wait, if there are
 * thresholds; each that has some gets a thread of its own until all are delivered.
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
  private final Set<String> active = ConcurrentHashMap.newKeySet();
  private final Map<String, Failing> failing = new ConcurrentHashMap<>();
  private final LongAdder delivered = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final Semaphore changes = new Semaphore(0);
  private final Thread looking;
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private OptionalLong loggedNanos = OptionalLong.empty(); // guarded by this
  private volatile long waiting;
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
   * Ensures that a webhook is on an allowed host.
   *
   * @throws IllegalArgumentException if it is not
   */
  public void check(URI webhook) {
    if (webhook.getHost() != null && !allowed.allow(webhook)) {
      throw new IllegalArgumentException(
          "field webhook has the host %s, which is not allowed; add it to serve --webhook-allow"
              .formatted(webhook.getAuthority()));
    }
  }

  /** Looks again, since a threshold was defined. */
  public void defined() {
    changes.release();
  }

  /** Returns why the crossings of a threshold are not taken; empty if they are. */
  public Optional<Failing> failing(String id) {
    return Optional.ofNullable(failing.get(id));
  }

  /** Returns its meters. */
  public MeterBinder meters() {
    return registry -> {
      Gauge.builder("quipu.webhook.waiting", this, each -> each.waiting)
          .description("Crossings of thresholds that wait for delivery")
          .baseUnit("crossings")
          .register(registry);
      FunctionCounter.builder("quipu.webhook.delivered", delivered, LongAdder::sum)
          .description("Crossings that a webhook has taken")
          .baseUnit("crossings")
          .register(registry);
      FunctionCounter.builder("quipu.webhook.failures", failures, LongAdder::sum)
          .description("Attempts that a webhook has not taken; they are repeated")
          .register(registry);
    };
  }

  private void look() {
    try {
      while (!isClosed) {
        List<Status> all = thresholds.list();
        long sum = 0;
        for (Status each : all) {
          sum += each.waiting();
          if (each.waiting() > 0) {
            deliver(each.threshold().id());
          }
        }
        waiting = sum;
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

  private void deliver(String id) {
    if (active.add(id)) {
      threads.add(Thread.ofVirtual().name("quipu-webhook-" + id).start(() -> run(id)));
    }
  }

  private void run(String id) {
    try {
      deliverAll(id);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closing
    } catch (Throwable e) {
      onError.accept(e);
    } finally {
      active.remove(id);
      threads.remove(Thread.currentThread());
    }
  }

  private void deliverAll(String id) throws InterruptedException {
    Delivery delivery = new Delivery(thresholds, sender, allowed, id);
    while (!isClosed) {
      Delivery.Round round = delivery.round();
      delivered.add(round.delivered());
      if (round.failure().isEmpty()) {
        failing.remove(id);
        if (round.found() == 0) {
          return;
        }
        continue;
      }
      failures.increment();
      Failing now = failed(id, round);
      clock.sleep(backoff.after(now.attempts(), randomness.nextDouble()));
    }
  }

  private Failing failed(String id, Delivery.Round round) {
    String reason = round.failure().orElseThrow();
    Failing before = failing.get(id);
    Failing now =
        before == null || round.delivered() > 0
            ? new Failing(Instant.ofEpochMilli(clock.epochMillis()), 1, reason)
            : new Failing(before.since(), before.attempts() + 1, reason);
    if (now.attempts() == 1 && !isClosed && mayLog()) {
      LOGGER
          .atWarn()
          .addKeyValue("threshold", id)
          .addKeyValue("reason", reason)
          .log("Webhook failed; it is repeated");
    }
    failing.put(id, now);
    return now;
  }

  /** Returns whether the log has no such line of the last minute: a webhook may fail often. */
  private synchronized boolean mayLog() {
    long now = clock.nanoTime();
    boolean mayLog = loggedNanos.isEmpty() || now - loggedNanos.getAsLong() > LOG_EVERY.toNanos();
    if (mayLog) {
      loggedNanos = OptionalLong.of(now);
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
