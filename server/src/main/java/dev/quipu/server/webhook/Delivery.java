package dev.quipu.server.webhook;

import dev.quipu.QuipuException;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.backend.CounterThresholds.Crossing;
import dev.quipu.backend.CounterThresholds.Status;
import dev.quipu.backend.CounterThresholds.Threshold;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Delivers the crossings of one threshold until none waits.
 *
 * <pre>{@code
 * The oldest crossings that wait are sent: those of each counter one after the other, and those of
 * up to eight counters at the same time. What was delivered is then recorded, and forgotten. After
 * a failure nothing more is begun; the rest is sent again later, in the same order. A crossing that
 * was delivered, but not recorded as such before a crash, is sent twice, under its id.
 * }</pre>
 */
final class Delivery {
  private static final int AT_ONCE = 500;
  private static final int LANES = 8;

  private final CounterThresholds thresholds;
  private final Sender sender;
  private final AllowedHosts allowed;
  private final String id;

  Delivery(CounterThresholds thresholds, Sender sender, AllowedHosts allowed, String id) {
    this.thresholds = thresholds;
    this.sender = sender;
    this.allowed = allowed;
    this.id = id;
  }

  /**
   * What a round did.
   *
   * @param found crossings that waited
   * @param delivered how many of them were delivered
   * @param failure why not all were; empty if all were
   */
  record Round(int found, int delivered, Optional<String> failure) {}

  /** Sends the oldest crossings. */
  Round round() throws InterruptedException {
    try {
      Optional<Status> status = thresholds.get(id);
      List<Crossing> some = thresholds.waiting(id, 0, AT_ONCE);
      if (status.isEmpty() || some.isEmpty()) {
        return new Round(0, 0, Optional.empty());
      }
      Threshold threshold = status.get().threshold();
      if (!allowed.allow(threshold.webhook())) {
        return new Round(some.size(), 0, Optional.of("the host is not in --webhook-allow"));
      }
      Lanes lanes = new Lanes(threshold, some);
      lanes.run();
      List<Long> delivered = List.copyOf(lanes.delivered);
      if (!delivered.isEmpty()) {
        thresholds.delivered(id, delivered);
      }
      return new Round(some.size(), delivered.size(), Optional.ofNullable(lanes.failure.get()));
    } catch (QuipuException e) { // such as a full disk: what was sent is sent again
      return new Round(1, 0, Optional.ofNullable(e.getMessage()));
    }
  }

  /** Sends crossings of different counters at the same time. */
  private final class Lanes {
    final Queue<Long> delivered = new ConcurrentLinkedQueue<>();
    final AtomicReference<String> failure = new AtomicReference<>();
    private final Threshold threshold;
    private final Queue<List<Crossing>> left;

    Lanes(Threshold threshold, List<Crossing> crossings) {
      this.threshold = threshold;
      Map<String, List<Crossing>> byCounter = new LinkedHashMap<>();
      for (Crossing each : crossings) {
        byCounter.computeIfAbsent(each.counter(), key -> new ArrayList<>()).add(each);
      }
      this.left = new ConcurrentLinkedQueue<>(byCounter.values());
    }

    void run() throws InterruptedException {
      List<Thread> threads = new ArrayList<>();
      for (int i = Math.min(LANES, left.size()); i > 0; i--) {
        threads.add(Thread.ofVirtual().name("quipu-webhook").start(this::sendLanes));
      }
      for (Thread each : threads) {
        try {
          each.join();
        } catch (InterruptedException e) {
          threads.forEach(Thread::interrupt);
          throw e;
        }
      }
    }

    private void sendLanes() {
      try {
        List<Crossing> lane = left.poll();
        while (lane != null) {
          for (Crossing each : lane) {
            if (failure.get() != null) {
              return;
            }
            Optional<String> why = sender.send(threshold, each);
            if (why.isPresent()) {
              failure.compareAndSet(null, why.get());
              return;
            }
            delivered.add(each.sequence());
          }
          lane = left.poll();
        }
      } catch (InterruptedException e) {
        failure.compareAndSet(null, "interrupted");
      } catch (RuntimeException e) {
        failure.compareAndSet(null, e.toString());
      }
    }
  }
}
