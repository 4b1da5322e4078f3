package dev.quipu.client;

import dev.quipu.AddResult;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Combines concurrent adds: those that wait while requests are in flight go together in the next
 * one. A single add is sent immediately, so combining costs no time.
 */
final class AddQueue implements AutoCloseable {
  /** Maximum number of adds that wait. */
  static final int WAITING_ADDS_MAX = 100_000;

  /** Maximum number of adds of one call; a request has less than twice as many. */
  static final int BATCH_ADDS_MAX = 1_000;

  /** Maximum number of requests in flight. */
  private static final int REQUESTS_MAX = 4;

  private static final String PATH = "/v1/counters/bulk";

  private final ServerCalls calls;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  private final Queue<PendingAdds> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waitingAdds = new AtomicInteger();

  /** Senders that wait for adds, or are about to. */
  private final AtomicInteger idle = new AtomicInteger();

  private final AtomicBoolean isStarted = new AtomicBoolean();
  private volatile boolean isClosed;

  AddQueue(ServerCalls calls) {
    this.calls = calls;
  }

  /**
   * Sends adds with the next request.
   *
   * @throws NotAppliedException if too many wait
   */
  void submit(PendingAdds adds) {
    if (isClosed) {
      throw new NotAppliedException(Reason.UNAVAILABLE, "the client is closed");
    }
    int before = waitingAdds.getAndAdd(adds.size());
    if (before + adds.size() > WAITING_ADDS_MAX) {
      waitingAdds.addAndGet(-adds.size());
      throw new NotAppliedException(
          Reason.THROTTLED,
          "%d adds wait for the server; the limit is %d. Retry later"
              .formatted(before, WAITING_ADDS_MAX));
    }
    if (isStarted.compareAndSet(false, true)) {
      for (int i = 0; i < REQUESTS_MAX; i++) {
        Thread.ofVirtual().name("quipu-client-" + i).start(this::send);
      }
    }
    waiting.add(adds);
    if (idle.get() > 0) {
      wake();
    }
    if (isClosed) {
      endWaiting();
    }
  }

  private void wake() {
    lock.lock();
    try {
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void send() {
    for (List<PendingAdds> batch = take(); !batch.isEmpty(); batch = take()) {
      attempt(batch);
    }
  }

  /** Waits for adds, and returns those of the next request; none after the end. */
  private List<PendingAdds> take() {
    List<PendingAdds> batch = taken();
    while (batch.isEmpty() && !isClosed) {
      idle.incrementAndGet();
      lock.lock();
      try {
        if (waiting.isEmpty() && !isClosed) {
          arrived.awaitUninterruptibly();
        }
      } finally {
        idle.decrementAndGet();
        lock.unlock();
      }
      batch = taken();
    }
    return batch;
  }

  /** Returns waiting adds, at most as many as a request may have. */
  private List<PendingAdds> taken() {
    List<PendingAdds> batch = new ArrayList<>();
    int adds = 0;
    while (adds < BATCH_ADDS_MAX) {
      PendingAdds next = waiting.poll();
      if (next == null) {
        break;
      }
      batch.add(next);
      adds += next.size();
    }
    waitingAdds.addAndGet(-adds);
    return batch;
  }

  /** An add in a request. */
  private record Sent(PendingAdds call, int place) {}

  private void attempt(List<PendingAdds> batch) {
    LineWriter lines = new LineWriter();
    List<Sent> sent = new ArrayList<>();
    long deadline = Long.MIN_VALUE;
    for (PendingAdds call : batch) {
      for (int place : call.begin()) {
        lines.add(call.add(place), call.id(place), call.isOwnId(place));
        sent.add(new Sent(call, place));
      }
      long of = call.deadlineNanos();
      deadline = deadline == Long.MIN_VALUE || of - deadline > 0 ? of : deadline;
    }
    try {
      if (!sent.isEmpty()) {
        attempt(Request.lines(PATH, Request.Effect.REPEATABLE, lines.lines()), sent, deadline);
      }
    } finally {
      endAll(batch);
    }
  }

  private void attempt(Request request, List<Sent> sent, long deadline) {
    try {
      Reply reply = calls.attempt(request, deadline);
      if (reply.status() != 200) {
        RuntimeException failure = reply.failure();
        boolean mayRepeat =
            failure instanceof QuipuException known
                && ServerCalls.isTemporary(reply.status(), known);
        sent.forEach(each -> failed(each, failure, mayRepeat));
        return;
      }
      int count = LineReader.count(reply.body());
      if (count != sent.size()) {
        throw reply.malformed("%d lines in the response to %d".formatted(count, sent.size()), null);
      }
      LineReader lines = new LineReader(reply.body());
      for (Sent each : sent) {
        lines.next();
        AddResult success = lines.success();
        if (success != null) {
          each.call.done(each.place, success);
        } else {
          record(each, lines, reply);
        }
      }
    } catch (QuipuException e) {
      sent.forEach(each -> failed(each, e, e.reason().isTemporary()));
    }
  }

  private static void record(Sent add, LineReader lines, Reply reply) {
    int status = 0;
    try {
      JsonNode line = lines.parsed();
      status = line.path("status").asInt(0);
      add.call.done(add.place, AddLines.result(status, line));
    } catch (JacksonException e) {
      failed(add, reply.malformed("a line of the response is not JSON", e), true);
    } catch (QuipuException e) {
      failed(add, e, ServerCalls.isTemporary(status, e));
    } catch (IllegalArgumentException | UnsupportedOperationException e) {
      failed(add, e, false); // malformed, or not supported: not applied
    }
  }

  private static void failed(Sent add, RuntimeException failure, boolean mayRepeat) {
    add.call.failed(add.place, failure, mayRepeat);
  }

  /** Ends an attempt; calls with adds to repeat wait for a later one. */
  private void endAll(List<PendingAdds> batch) {
    for (PendingAdds call : batch) {
      if (call.end()) {
        repeat(call);
      }
    }
  }

  private void repeat(PendingAdds call) {
    Duration pause = calls.pauseAfter(call.attempts());
    boolean isUseful =
        calls.waits(call.attempts(), call.isUnknown())
            && calls.clock().nanoTime() + pause.toNanos() < call.deadlineNanos();
    if (!isUseful) {
      call.giveUp(Reason.UNAVAILABLE, "gave up after %d attempts".formatted(call.attempts()));
      call.end();
      return;
    }
    Thread.ofVirtual()
        .start(() -> {
          try {
            calls.clock().sleep(pause);
            submit(call);
          } catch (InterruptedException | QuipuException e) {
            call.giveUp(Reason.UNAVAILABLE, String.valueOf(e.getMessage()));
            call.end();
          }
        });
  }

  @Override
  public void close() {
    isClosed = true;
    wake();
    endWaiting();
  }

  private void endWaiting() {
    for (PendingAdds call = waiting.poll(); call != null; call = waiting.poll()) {
      call.giveUp(Reason.UNAVAILABLE, "the client was closed");
      call.end();
    }
  }
}
