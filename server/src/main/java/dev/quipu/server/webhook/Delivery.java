package dev.quipu.server.webhook;

import dev.quipu.QuipuException;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.backend.CounterThresholds.Crossing;
import dev.quipu.backend.CounterThresholds.Status;
import dev.quipu.backend.CounterThresholds.Threshold;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Delivers the crossings of a group of thresholds.
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

  Delivery(CounterThresholds thresholds, Sender sender, AllowedHosts allowed) {
    this.thresholds = thresholds;
    this.sender = sender;
    this.allowed = allowed;
  }

  /**
   * Why not all were delivered.
   *
   * @param id of the threshold whose webhook failed
   */
  record Failure(String id, String reason) {}

  /**
   * What a round did.
   *
   * @param found crossings that waited
   * @param delivered how many of them were delivered
   * @param failure empty if all were
   */
  record Round(int found, int delivered, Optional<Failure> failure) {}

  /** A crossing to be sent. */
  private record Message(Threshold threshold, Crossing crossing) {}

  /** Sends the oldest crossings of some thresholds. */
  Round round(List<String> ids) throws InterruptedException {
    try {
      List<Message> some = oldest(ids);
      for (Message each : some) {
        if (!allowed.allow(each.threshold.webhook())) {
          String why =
              "the host %s is not in --webhook-allow"
                  .formatted(each.threshold.webhook().getAuthority());
          return new Round(some.size(), 0, Optional.of(new Failure(each.threshold.id(), why)));
        }
      }
      Lanes lanes = new Lanes(some);
      lanes.run();
      Map<String, List<Long>> delivered = new HashMap<>();
      for (Message each : lanes.delivered) {
        delivered
            .computeIfAbsent(each.threshold.id(), key -> new ArrayList<>())
            .add(each.crossing.sequence());
      }
      delivered.forEach(thresholds::delivered);
      return new Round(
          some.size(), lanes.delivered.size(), Optional.ofNullable(lanes.failure.get()));
    } catch (QuipuException e) { // such as a full disk: what was sent is sent again
      return new Round(
          1, 0, Optional.of(new Failure(ids.getFirst(), String.valueOf(e.getMessage()))));
    }
  }

  /** Returns the oldest crossings that wait, in the order of their commits. */
  private List<Message> oldest(List<String> ids) {
    List<Message> found = new ArrayList<>();
    for (String id : ids) {
      Optional<Status> status = thresholds.get(id);
      if (status.isPresent() && status.get().waiting() > 0) {
        Threshold threshold = status.get().threshold();
        thresholds.waiting(id, 0, AT_ONCE).forEach(each -> found.add(new Message(threshold, each)));
      }
    }
    found.sort(Comparator.comparingLong(each -> each.crossing.sequence()));
    return found.subList(0, Math.min(found.size(), AT_ONCE));
  }

  /** Sends crossings of different counters at the same time. */
  private final class Lanes {
    final Queue<Message> delivered = new ConcurrentLinkedQueue<>();
    final AtomicReference<Failure> failure = new AtomicReference<>();
    private final Queue<List<Message>> left;

    Lanes(List<Message> messages) {
      Map<String, List<Message>> byCounter = new LinkedHashMap<>();
      for (Message each : messages) {
        byCounter.computeIfAbsent(each.crossing.counter(), key -> new ArrayList<>()).add(each);
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
      for (List<Message> lane = left.poll(); lane != null; lane = left.poll()) {
        for (Message each : lane) {
          if (failure.get() != null) {
            return;
          }
          Optional<String> why = send(each);
          if (why.isPresent()) {
            failure.compareAndSet(null, new Failure(each.threshold.id(), why.get()));
            return;
          }
          delivered.add(each);
        }
      }
    }

    private Optional<String> send(Message message) {
      try {
        return sender.send(message.threshold, message.crossing);
      } catch (InterruptedException e) {
        return Optional.of("the server is stopping");
      } catch (RuntimeException e) {
        return Optional.of(e.toString());
      }
    }
  }
}
