package dev.quipu.client;

import dev.quipu.ItemResult;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import tools.jackson.databind.JsonNode;

/**
 * Combines concurrent adds: those that wait while requests are in flight go together in the next
 * one. A single add is sent immediately, so combining costs no time.
 */
final class AddQueue implements AutoCloseable {
  /** Maximum number of adds that wait. */
  static final int WAITING_ADDS_MAX = 100_000;

  /** Maximum number of adds in one request. */
  static final int BATCH_ADDS_MAX = 1_000;

  /** Maximum number of requests in flight. */
  private static final int REQUESTS_MAX = 2;

  private static final String PATH = "/v1/counters/bulk";

  private final ServerCalls calls;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  private final ArrayDeque<PendingAdds> waiting = new ArrayDeque<>();
  private int waitingAdds;
  private boolean isStarted;
  private boolean isClosed;

  AddQueue(ServerCalls calls) {
    this.calls = calls;
  }

  /**
   * Sends adds with the next request.
   *
   * @throws NotAppliedException if too many wait
   */
  void submit(PendingAdds adds) {
    lock.lock();
    try {
      if (isClosed) {
        throw new NotAppliedException(Reason.UNAVAILABLE, "the client is closed");
      }
      if (waitingAdds + adds.size() > WAITING_ADDS_MAX) {
        throw new NotAppliedException(
            Reason.THROTTLED,
            "%d adds wait for the server; the limit is %d. Retry later"
                .formatted(waitingAdds, WAITING_ADDS_MAX));
      }
      if (!isStarted) {
        isStarted = true;
        for (int i = 0; i < REQUESTS_MAX; i++) {
          Thread.ofVirtual().name("quipu-client-" + i).start(this::send);
        }
      }
      waiting.addLast(adds);
      waitingAdds += adds.size();
      arrived.signal();
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
    lock.lock();
    try {
      while (waiting.isEmpty() && !isClosed) {
        arrived.awaitUninterruptibly();
      }
      List<PendingAdds> batch = new ArrayList<>();
      int adds = 0;
      while (!waiting.isEmpty() && adds + waiting.getFirst().size() <= BATCH_ADDS_MAX) {
        PendingAdds next = waiting.removeFirst();
        adds += next.size();
        batch.add(next);
      }
      waitingAdds -= adds;
      return batch;
    } finally {
      lock.unlock();
    }
  }

  /** An add in a request. */
  private record Sent(PendingAdds call, int place) {}

  private void attempt(List<PendingAdds> batch) {
    StringBuilder lines = new StringBuilder();
    List<Sent> sent = new ArrayList<>();
    long deadline = Long.MIN_VALUE;
    for (PendingAdds call : batch) {
      for (int place : call.begin()) {
        AddLines.append(lines, call.add(place), call.id(place));
        sent.add(new Sent(call, place));
      }
      long of = call.deadlineNanos();
      deadline = deadline == Long.MIN_VALUE || of - deadline > 0 ? of : deadline;
    }
    try {
      if (!sent.isEmpty()) {
        attempt(Request.lines(PATH, Request.Effect.REPEATABLE, lines.toString()), sent, deadline);
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
      List<JsonNode> results = reply.lines(sent.size());
      for (int i = 0; i < sent.size(); i++) {
        record(sent.get(i), results.get(i));
      }
    } catch (QuipuException e) {
      sent.forEach(each -> failed(each, e, e.reason().isTemporary()));
    }
  }

  private void record(Sent add, JsonNode line) {
    ItemResult result;
    try {
      result = AddLines.result(line);
    } catch (RuntimeException e) { // of this line alone
      boolean mayRepeat =
          e instanceof QuipuException known
              && ServerCalls.isTemporary(line.path("status").asInt(0), known);
      failed(add, e, mayRepeat);
      return;
    }
    add.call.done(add.place, result);
  }

  private void failed(Sent add, RuntimeException failure, boolean mayRepeat) {
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
    lock.lock();
    try {
      isClosed = true;
      arrived.signalAll();
      for (PendingAdds call : waiting) {
        call.giveUp(Reason.UNAVAILABLE, "the client was closed");
        call.end();
      }
      waiting.clear();
      waitingAdds = 0;
    } finally {
      lock.unlock();
    }
  }
}
