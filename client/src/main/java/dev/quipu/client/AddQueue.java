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
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Combines concurrent adds: those that wait while requests are in flight go together in the next
 * one. A single add is sent immediately, so combining costs no time.
 *
 * <p>Few requests are in flight at once: more of them would only be smaller, and a request costs
 * more than an add in it.
 */
final class AddQueue implements AutoCloseable {
  /** Maximum number of adds that wait. */
  static final int WAITING_ADDS_MAX = 100_000;

  /** Maximum number of adds of one call; a request has less than twice as many. */
  static final int BATCH_ADDS_MAX = 1_000;

  /** Number of requests in flight. */
  private static final int REQUESTS = 2;

  /** Maximum number of requests in flight while enough adds wait for a full one. */
  private static final int REQUESTS_MAX = 4;

  /** Calls end at most this long after their deadline. */
  private static final Duration TICK = Duration.ofMillis(10);

  private static final String PATH = "/v1/counters/bulk";

  private final ServerCalls calls;
  private final Queue<PendingAdds> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waitingAdds = new AtomicInteger();
  private final AtomicInteger sentAdds = new AtomicInteger();

  /** Requests in flight, those about to be built included. */
  private final AtomicInteger requests = new AtomicInteger();

  private final Queue<Batch> inFlight = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean isWatching = new AtomicBoolean();
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
    waiting.add(adds);
    startRequest();
    if (!isWatching.get() && isWatching.compareAndSet(false, true)) {
      Thread.ofVirtual().name("quipu-client-deadlines").start(this::watch);
    }
    if (isClosed) {
      endWaiting();
    }
  }

  private void startRequest() {
    int started = requests.get();
    while (started < requestsMax()) {
      if (requests.compareAndSet(started, started + 1)) {
        Thread.ofVirtual().name("quipu-client").start(this::send);
        return;
      }
      started = requests.get();
    }
  }

  private int requestsMax() {
    return waitingAdds.get() < BATCH_ADDS_MAX ? REQUESTS : REQUESTS_MAX;
  }

  @SuppressWarnings("ThreadPriorityCheck") // only the size of requests depends on it
  private void send() {
    try {
      for (Batch batch = taken(); batch.adds > 0; batch = taken()) {
        inFlight.add(batch);
        try {
          attempt(batch);
        } finally {
          inFlight.remove(batch);
          sentAdds.addAndGet(-batch.adds);
        }
        if (requests.get() > requestsMax()) {
          break;
        }
        Thread.yield(); // callers with results may add again, for this request
      }
    } finally {
      requests.decrementAndGet();
    }
    if (!waiting.isEmpty()) {
      startRequest(); // for adds that arrived after the last look, and saw a request in flight
    }
  }

  /**
   * Ends calls whose deadline has passed, as long as there are any. Without a timer for each call,
   * which would cost as much as the call.
   */
  private void watch() {
    while (true) {
      try {
        calls.clock().sleep(TICK);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e); // nobody has the thread
      }
      long now = calls.clock().nanoTime();
      waiting.forEach(call -> call.endAfterDeadline(now));
      inFlight.forEach(batch -> batch.calls.forEach(call -> call.endAfterDeadline(now)));
      if (requests.get() == 0 && waiting.isEmpty()) {
        isWatching.set(false);
        boolean isIdle = requests.get() == 0 && waiting.isEmpty();
        if (isIdle || !isWatching.compareAndSet(false, true)) {
          return;
        }
      }
    }
  }

  /**
   * Returns waiting adds for a request: its share, at most as many as a request may have. If it had
   * all, then all callers would wait while the server works, and the server while they do.
   */
  private Batch taken() {
    int unfinished = waitingAdds.get() + sentAdds.get();
    int share = Math.clamp((unfinished + 1) / REQUESTS, 1, BATCH_ADDS_MAX);
    List<PendingAdds> batch = new ArrayList<>();
    int adds = 0;
    while (adds < share) {
      PendingAdds next = waiting.poll();
      if (next == null) {
        break;
      }
      batch.add(next);
      adds += next.size();
    }
    sentAdds.addAndGet(adds);
    waitingAdds.addAndGet(-adds);
    return new Batch(batch, adds);
  }

  /** The calls of a request, and the number of adds in them. */
  private record Batch(List<PendingAdds> calls, int adds) {}

  /** An add in a request. */
  private record Sent(PendingAdds call, int place) {}

  private void attempt(Batch batch) {
    boolean inUnits = batch.calls.stream().anyMatch(PendingAdds::hasUnits);
    LineWriter lines = new LineWriter(inUnits);
    List<Sent> sent = new ArrayList<>();
    long deadline = Long.MIN_VALUE;
    for (PendingAdds call : batch.calls) {
      for (int place : call.begin()) {
        lines.add(call.add(place), call.id(place), call.isOwnId(place));
        sent.add(new Sent(call, place));
      }
      long of = call.deadlineNanos();
      deadline = deadline == Long.MIN_VALUE || of - deadline > 0 ? of : deadline;
    }
    try {
      if (!sent.isEmpty()) {
        Request request = Request.lines(PATH, Request.Effect.REPEATABLE, lines.lines());
        attempt(inUnits ? request.inUnits() : request, sent, deadline);
      }
    } finally {
      endAll(batch.calls);
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
      int attempts = call.attempts();
      call.giveUp(
          Reason.UNAVAILABLE,
          "gave up after %d %s".formatted(attempts, attempts == 1 ? "attempt" : "attempts"));
      return;
    }
    Thread.ofVirtual()
        .start(() -> {
          try {
            calls.clock().sleep(pause);
            submit(call);
          } catch (InterruptedException | QuipuException e) {
            call.giveUp(Reason.UNAVAILABLE, String.valueOf(e.getMessage()));
          }
        });
  }

  @Override
  public void close() {
    isClosed = true;
    endWaiting();
  }

  private void endWaiting() {
    for (PendingAdds call = waiting.poll(); call != null; call = waiting.poll()) {
      call.giveUp(Reason.UNAVAILABLE, "the client was closed");
    }
  }
}
