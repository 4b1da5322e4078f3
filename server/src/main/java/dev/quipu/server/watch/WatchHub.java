package dev.quipu.server.watch;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.backend.CounterFeed;
import dev.quipu.backend.CounterFeed.Change;
import dev.quipu.backend.EmbeddedEngine;
import dev.quipu.server.http.message.EventSink;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends changes of counters to clients. Thread-safe.
 *
 * <pre>{@code
 * Every 100 ms, a tick: one thread reads which counters of the engine changed, and sends each
 * client those with its prefix as one event. If there is much to read or to send, ticks are longer,
 * up to a second, so that adds keep the processor: all of this takes about a fiftieth of one.
 * Clients with the same prefix share the bytes, also if they are compressed. The changes of the
 * last ticks are kept; a client that has not read its last event yet gets the rest, coalesced, when
 * it has, and one that lost its connection, when it comes back with the id of its last event.
 *
 * A new client is first sent all counters with its prefix, page by page, by a thread of its own.
 * The changes of the tick before which that began, and later ones, follow; so no change is missed,
 * and some values are sent twice.
 *
 * The thread ends a minute after the last client. Ids begin with a number of this run, so that
 * those of another one do not count.
 * }</pre>
 */
public final class WatchHub implements AutoCloseable {
  /** Maximum number of clients. */
  public static final int CLIENTS_MAX = 1_000;

  /** Maximum number of counters of one event that is sent after the first ones. */
  static final int EVENT_COUNTERS_MAX = 50_000;

  private static final Duration TICK_MIN = Duration.ofMillis(100);
  private static final Duration TICK_MAX = Duration.ofSeconds(1);

  /** The processor's time for a change that is read, and for an event that is sent: rounded up. */
  private static final long NANOS_PER_CHANGE = 600;

  private static final long NANOS_PER_EVENT = 12_000;

  /** A tick is this number of times as long as the processor works for it. */
  private static final int SHARE = 50;

  private static final Duration SILENCE_MAX = Duration.ofSeconds(15);
  private static final Duration KEPT = Duration.ofSeconds(60);
  private static final Logger LOGGER = LoggerFactory.getLogger(WatchHub.class);

  private final EmbeddedEngine engine;
  private final Counters counters;
  private final MemoryBudget budget;
  private final Clock clock;
  private final Consumer<Throwable> onError;
  private final Object lock = new Object();
  private final List<Follower> followers = new ArrayList<>(); // guarded by lock
  private boolean isRunning; // guarded by lock
  private volatile boolean isClosed;

  /**
   * Creates a hub without clients.
   *
   * @param onError receives an unexpected error
   */
  public WatchHub(
      EmbeddedEngine engine,
      Counters counters,
      MemoryBudget budget,
      Clock clock,
      Consumer<Throwable> onError) {
    this.engine = engine;
    this.counters = counters;
    this.budget = budget;
    this.clock = clock;
    this.onError = onError;
  }

  /** Returns the number of clients. */
  public int clients() {
    synchronized (lock) {
      return followers.size();
    }
  }

  /** Adds a client. Does not block. */
  public void follow(Follower follower) {
    EventSink sink = follower.sink();
    synchronized (lock) {
      if (followers.size() >= CLIENTS_MAX || isClosed) {
        sink.end();
        return;
      }
      followers.add(follower);
      if (!isRunning) {
        isRunning = true;
        Thread.ofPlatform().daemon().name("quipu-watch").start(() -> guarded(this::run));
      }
    }
    sink.onEnd(() -> remove(follower));
  }

  private void guarded(Runnable work) {
    try {
      work.run();
    } catch (QuipuException e) { // the engine has stopped, or is closing
      LOGGER.atDebug().setCause(e).log("Streams of changes ended");
      endAll();
    } catch (Throwable e) {
      onError.accept(e);
      endAll();
    }
  }

  private void remove(Follower follower) {
    follower.ended();
    synchronized (lock) {
      followers.remove(follower);
    }
  }

  /** Ends all responses; clients come back if they can. */
  private void endAll() {
    synchronized (lock) {
      followers.forEach(each -> each.sink().end());
    }
  }

  @Override
  public void close() {
    isClosed = true;
    endAll();
  }

  private void run() {
    String run = "%08x-".formatted(Randomness.secure().nextInt());
    Changes changes = new Changes();
    try (CounterFeed feed = engine.follow()) {
      long next = clock.nanoTime();
      long used = next;
      while (!isClosed) {
        List<Follower> present;
        synchronized (lock) {
          present = List.copyOf(followers);
          used = present.isEmpty() ? used : next;
          if (next - used > KEPT.toNanos()) {
            isRunning = false;
            return;
          }
        }
        present.forEach(each -> admit(each, run, changes));
        long read = read(feed, changes);
        Map<Follower.Audience, SharedEvent> events = new HashMap<>();
        long sent = present.stream().filter(each -> send(each, run, changes, events)).count();
        events.values().forEach(SharedEvent::release);
        next = Math.max(next + tickNanos(read, sent), clock.nanoTime());
        clock.sleep(Duration.ofNanos(Math.max(0, next - clock.nanoTime())));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (lock) {
        if (isRunning) { // it failed
          isRunning = false;
          endAll();
        }
      }
    }
  }

  private static long tickNanos(long changes, long events) {
    long work = changes * NANOS_PER_CHANGE + events * NANOS_PER_EVENT;
    return Math.clamp(work * SHARE, TICK_MIN.toNanos(), TICK_MAX.toNanos());
  }

  /** Begins to send a new client what it does not have. */
  private void admit(Follower follower, String run, Changes changes) {
    if (follower.isAdmitted()) {
      return;
    }
    follower.admitted();
    String lastId = follower.lastId();
    if (lastId.startsWith(run) && lastId.substring(run.length()).matches("[0-9]{1,15}")) {
      long last = Long.parseLong(lastId.substring(run.length()));
      if (isLittle(changes.since(last, follower.prefix()))) {
        follower.reached(last);
        return;
      }
    }
    long tick = changes.last();
    if (follower.isSentAll()) {
      startAll(follower, run, tick);
    } else if (lastId.isEmpty()) {
      follower.reached(tick);
    } else {
      startAfterMissing(follower, tick);
    }
  }

  /** Begins with the event that some changes were not sent. */
  private void startAfterMissing(Follower follower, long tick) {
    follower.reached(-1);
    Thread.ofVirtual()
        .name("quipu-watch-missed")
        .start(() ->
            guarded(() -> {
              if (sendAndWait(follower, Events.missed(follower.prefix()))) {
                follower.reached(tick);
              }
            }));
  }

  /** Begins to send all counters; until it has them, a client is sent no changes. */
  private void startAll(Follower follower, String run, long tick) {
    follower.reached(-1);
    Thread.ofVirtual()
        .name("quipu-watch-all")
        .start(() -> guarded(() -> sendAll(follower, run + tick, tick)));
  }

  /** Returns whether changes are all that there are, and fit into an event. */
  private static boolean isLittle(Optional<Collection<Change>> changes) {
    return changes.filter(each -> each.size() <= EVENT_COUNTERS_MAX).isPresent();
  }

  /** Sends all counters. Changes after this tick, which is over, are sent later. */
  private void sendAll(Follower follower, String id, long tick) {
    boolean sent = sendAndWait(follower, Events.reset(follower.prefix()));
    String after = "";
    for (long counters = 0; sent; ) {
      CounterPage page = this.counters.list(follower.prefix(), after, Limits.PAGE_COUNTERS_MAX);
      counters += page.counters().size();
      sent = sendAndWait(follower, Events.counters(page));
      if (page.resumeAfter().isEmpty()) {
        if (sent && sendAndWait(follower, Events.complete(id, counters))) {
          follower.reached(tick);
        }
        return;
      }
      after = page.resumeAfter().get();
    }
  }

  private boolean sendAndWait(Follower follower, byte[] bytes) {
    SharedEvent event = SharedEvent.reserve(follower.encoded(bytes), budget);
    if (event == null) {
      follower.sink().end(); // there is no memory
      return false;
    }
    Semaphore sent = new Semaphore(0);
    follower
        .sink()
        .send(
            event.bytes(),
            () -> {
              event.release();
              sent.release();
            });
    sent.acquireUninterruptibly(); // a client that does not read is disconnected
    return !follower.hasEnded();
  }

  /** Returns the number of changes. */
  private static int read(CounterFeed feed, Changes changes) {
    List<Change> found = new ArrayList<>();
    boolean isComplete = true;
    CounterFeed.Changes page;
    do {
      page = feed.next(Limits.PAGE_COUNTERS_MAX);
      found.addAll(page.changes());
      isComplete &= page.isComplete();
    } while (!page.isLast() && found.size() < EVENT_COUNTERS_MAX);
    changes.add(found);
    if (!isComplete) {
      changes.clear();
    }
    return found.size();
  }

  /**
   * Sends a client what changed since its last event, if it has read that; returns whether an event
   * was sent.
   */
  private boolean send(
      Follower follower, String run, Changes changes, Map<Follower.Audience, SharedEvent> events) {
    if (!follower.isReady()) {
      return false;
    }
    Follower.Audience audience = follower.audience();
    SharedEvent event = events.get(audience);
    if (event == null) {
      Optional<Collection<Change>> found = changes.since(follower.tick(), follower.prefix());
      if (!isLittle(found)) {
        if (follower.isSentAll()) {
          startAll(follower, run, changes.last()); // it is too far behind
        } else {
          follower.sink().end();
        }
        return false;
      }
      if (found.get().isEmpty()) {
        reached(follower, changes.last());
        return false;
      }
      byte[] bytes = Events.changes(run + changes.last(), found.get());
      event = SharedEvent.reserve(follower.encoded(bytes), budget);
      if (event == null) {
        return false; // there is no memory now
      }
      events.put(audience, event);
    }
    follower.reached(changes.last());
    follower.sent(clock.nanoTime());
    event.use();
    follower.sink().send(event.bytes(), event::release);
    return true;
  }

  /** Notes that there is nothing to send, and shows the client at times that it is connected. */
  private void reached(Follower follower, long tick) {
    follower.reached(tick);
    if (clock.nanoTime() - follower.sentNanos() > SILENCE_MAX.toNanos()) {
      follower.sent(clock.nanoTime());
      follower.sink().send(follower.encoded(Events.nothing()), () -> {});
    }
  }
}
