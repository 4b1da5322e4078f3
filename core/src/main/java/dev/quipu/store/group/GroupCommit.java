package dev.quipu.store.group;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Measure;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Group commit of adds to one number, in one transaction of a store, for drivers. Stores execute
 * transactions on one item one after another, so the cost of queued adds adds up; a group pays it
 * once. An add may come with a new item, the marker of its request: a group stores all of these and
 * adds the sum in one transaction. Thread-safe.
 *
 * <p>The caller that finds no leader for a key becomes the commit leader: it takes the adds that
 * wait for the key, has the store execute them as one transaction, completes each waiter with its
 * own result, and passes the lead to a waiter that has arrived since. A member that the transaction
 * could not decide is executed separately, by its own caller. If the outcome of the transaction is
 * unknown, it is unknown for all members. A caller waits for a limited time until its add joins a
 * group; if it does not, nothing was sent.
 *
 * <p>Callers that add again and again come back soon after their group ends. The next group waits
 * for them, for an eighth of the time that theirs took at most: otherwise the first one would
 * execute its add by itself, while the others wait.
 *
 * <p>A store that executes transactions one after another is idle while callers receive their
 * results and come back. For such a store the callers of a key are divided among lanes, each with a
 * leader of its own.
 *
 * <p>An interrupt affects its own caller only: a transaction for several callers has its own
 * thread, and its leader waits for it as the others do.
 */
public final class GroupCommit {
  /** Maximum size of all markers of a group, in bytes, unless it has one member. */
  static final long BYTES_MAX = 1 << 20;

  private static final String THREAD = "quipu-group-commit";

  /** How long a group waits for the callers of the one before: this share of the time of that. */
  private static final int RETURN_SHARE = 8;

  private static final long RETURN_NANOS_MAX = 5_000_000;

  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private final String store;
  private final Table table;
  private final int membersMax;
  private final long waitMillisMax;
  private final LongUnaryOperator returnNanos;
  private final LongAdder adds = new LongAdder();
  private final LongAdder writes = new LongAdder();
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Lane, Set<Waiter>> waiting = new HashMap<>(); // has a lane with a leader
  private final Map<Lane, Return> returning = new HashMap<>(); // whose lead is not passed on yet
  private final int lanes;

  /** The operations on the store. Each call must have a deadline. */
  public interface Table {
    /** Returns whether the store can execute this member in a group. */
    boolean accepts(Member member);

    /**
     * Executes a group of two or more, atomically except for members without a result here. If it
     * throws with a permanent reason and {@link Outcome#NOT_APPLIED}, each member is executed
     * separately; any other exception is the result of each.
     *
     * @return for each member its result; empty if it was not applied and must be executed
     *     separately
     */
    List<Optional<WriteResult>> write(Group group);

    /** Executes the writes of one caller. */
    WriteResult alone(List<Write> writes);
  }

  /**
   * Creates a group commit.
   *
   * @param store name of the store, for messages
   * @param lanes how many groups on one number may be in progress: 1 if the store's transactions on
   *     one item would wait for each other, or conflict
   * @param membersMax maximum number of adds in a group, at least 1
   * @param waitMax longest wait until an add joins a group
   */
  public GroupCommit(String store, Table table, int lanes, int membersMax, Duration waitMax) {
    this(
        store,
        table,
        lanes,
        membersMax,
        waitMax,
        nanos -> Math.min(nanos / RETURN_SHARE, RETURN_NANOS_MAX));
  }

  /** The same, with how long a group waits for callers, by the time that theirs took. */
  public GroupCommit(
      String store,
      Table table,
      int lanes,
      int membersMax,
      Duration waitMax,
      LongUnaryOperator returnNanos) {
    this.store = store;
    this.table = table;
    this.lanes = lanes;
    this.membersMax = membersMax;
    this.waitMillisMax = waitMax.toMillis();
    this.returnNanos = returnNanos;
  }

  /** Returns the number of adds that were members of a group, and the number of groups. */
  public Map<Measure, Long> measures() {
    Map<Measure, Long> measures = new HashMap<>();
    measures.put(Measure.FOLDED_ADDS, adds.sum());
    measures.put(Measure.FOLDED_WRITES, writes.sum());
    return measures;
  }

  /**
   * Executes a write or a batch: as a member of a group if it can join one, otherwise separately.
   *
   * @throws QuipuException if it joined no group in time, or its group failed
   */
  public WriteResult write(List<Write> writes) {
    Optional<Member> member = Member.of(writes);
    if (member.isEmpty() || !table.accepts(member.get())) {
      return table.alone(writes);
    }
    Waiter own = new Waiter(member.get(), new Lane(member.get().key(), laneOfCaller()));
    Signal signal = leadsAtOnce(own) ? new Signal.Lead() : await(own);
    boolean leads = signal instanceof Signal.Lead;
    if (leads) {
      signal = lead(own);
    }
    return result(own, signal, leads);
  }

  /**
   * Returns the lane of this thread: a caller that comes back is in the same one, so that groups
   * keep their size. Ids of threads are spread, as callers may have even ones only.
   */
  private int laneOfCaller() {
    long spread = (Thread.currentThread().threadId() * SPREAD) >>> Integer.SIZE;
    return (int) (spread % lanes);
  }

  private WriteResult result(Waiter own, Signal signal, boolean leads) {
    return switch (signal) {
      case Signal.Done done -> done.result();
      case Signal.Alone alone -> table.alone(own.member.writes());
      case Signal.Failed failed when !leads && failed.why() instanceof QuipuException e ->
          throw QuipuException.of(e.outcome(), e.reason(), e.getMessage(), e);
      case Signal.Failed failed -> throw failed.why();
      case Signal.Lead lead -> throw new IllegalStateException("a leader received the lead again");
    };
  }

  /** Waits for the signal. Members of a group must not leave it; its calls have a deadline. */
  private Signal await(Waiter own) {
    try {
      return own.signal.get(waitMillisMax, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      if (leaves(own)) {
        throw new NotAppliedException(
            Reason.THROTTLED,
            ("%s: the add waited %d ms for other adds to the item; nothing was sent. Raise"
                    + " 'timeoutMillis' in the store's URI, send fewer adds at a time, or shard the"
                    + " counter")
                .formatted(store, waitMillisMax));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      if (leaves(own)) {
        throw new NotAppliedException(
            Reason.UNAVAILABLE,
            store + ": interrupted while waiting for other adds to the item; nothing was sent");
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a signal completed exceptionally", e);
    }
    return own.signal.join();
  }

  /** The callers of a group, who may come back with further adds. */
  private record Return(int callers, CountDownLatch end) {}

  /** Executes a group, completes the others, and returns the leader's own signal. */
  private Signal lead(Waiter own) {
    List<Waiter> group = new ArrayList<>(List.of(own));
    boolean isPassedOn = false;
    try {
      take(own.lane, group);
      long start = Clock.system().nanoTime();
      List<Signal> signals = execute(group(group));
      long nanos = Clock.system().nanoTime() - start;
      for (int i = 1; i < group.size(); i++) {
        group.get(i).signal.complete(signals.get(i));
      }
      isPassedOn = group.size() > 1 && passesOnLater(own.lane, group.size(), nanos);
      return signals.getFirst();
    } finally {
      completeLost(group.subList(1, group.size()));
      if (!isPassedOn) {
        passOn(own.lane);
      }
    }
  }

  /**
   * Passes the lead on when the callers of a group are back with their next adds, or after a part
   * of the time that the group took. Otherwise the first of them would execute its add by itself,
   * while the others wait.
   *
   * @return false if enough callers wait already; then the caller passes it on
   */
  private boolean passesOnLater(Lane lane, int callers, long nanos) {
    CountDownLatch end = new CountDownLatch(1);
    lock.lock();
    try {
      if (waiting.getOrDefault(lane, Set.of()).size() >= callers) {
        return false;
      }
      returning.put(lane, new Return(callers, end));
    } finally {
      lock.unlock();
    }
    long most = returnNanos.applyAsLong(nanos);
    Thread.ofVirtual()
        .name(THREAD)
        .start(() -> {
          try {
            var unused = end.await(most, TimeUnit.NANOSECONDS);
          } catch (InterruptedException e) { // only if the process ends
            Thread.currentThread().interrupt();
          } finally {
            passOn(lane);
          }
        });
    return true;
  }

  private static Group group(List<Waiter> waiters) {
    Key key = waiters.getFirst().member.key();
    return new Group(key, waiters.stream().map(each -> each.member).toList());
  }

  /** Completes waiters after an Error: none may block forever. */
  private void completeLost(List<Waiter> group) {
    for (Waiter each : group) {
      if (!each.signal.isDone()) {
        each.signal.complete(
            new Signal.Failed(
                new OutcomeUnknownException(
                    Reason.UNAVAILABLE, store + ": the commit leader of the adds failed", null)));
      }
    }
  }

  private boolean leadsAtOnce(Waiter own) {
    Return back;
    lock.lock();
    try {
      for (int i = 0; i < lanes; i++) {
        Lane lane = new Lane(own.member.key(), i);
        if (!waiting.containsKey(lane)) {
          waiting.put(lane, new LinkedHashSet<>());
          own.lane = lane;
          return true;
        }
      }
      Set<Waiter> others = Objects.requireNonNull(waiting.get(own.lane));
      others.add(own);
      back = returning.get(own.lane);
      if (back == null || others.size() < back.callers) {
        return false;
      }
    } finally {
      lock.unlock();
    }
    back.end.countDown();
    return false;
  }

  /** Removes a waiter that is in no group; returns whether it was removed. */
  private boolean leaves(Waiter own) {
    lock.lock();
    try {
      Set<Waiter> others = waiting.get(own.lane); // null after the last group of the lane
      return others != null && others.remove(own);
    } finally {
      lock.unlock();
    }
  }

  /** Moves waiters into the group, as far as they fit into one sum and the limits. */
  private void take(Lane lane, List<Waiter> group) {
    lock.lock();
    try {
      Member first = group.getFirst().member;
      Sum sum = first.sum();
      long bytes = group.getFirst().bytes;
      Set<Key> markers = new HashSet<>();
      first.markerKey().ifPresent(markers::add);
      Iterator<Waiter> others = waiting.getOrDefault(lane, Set.of()).iterator();
      while (others.hasNext() && group.size() < membersMax) {
        Waiter next = others.next();
        Optional<Sum> both = sum.then(next.member.sum());
        bytes += next.bytes;
        // A repeat of a request in the group: it must see the result of the first.
        if (both.isEmpty()
            || bytes > BYTES_MAX
            || !next.member.markerKey().map(markers::add).orElse(true)) {
          break;
        }
        sum = both.get();
        group.add(next);
        others.remove();
      }
    } finally {
      lock.unlock();
    }
  }

  private List<Signal> execute(Group group) {
    int members = group.members().size();
    adds.add(members);
    writes.increment();
    List<Optional<WriteResult>> results;
    try {
      results =
          members == 1
              ? List.of(Optional.of(table.alone(group.members().getFirst().writes())))
              : inOwnThread(group);
    } catch (RuntimeException e) {
      return Collections.nCopies(members, failed(e, members));
    }
    List<Signal> signals = new ArrayList<>(members);
    for (Optional<WriteResult> each : results) {
      signals.add(each.isPresent() ? new Signal.Done(each.get()) : new Signal.Alone());
    }
    return signals;
  }

  /** Executes a group in a thread that nothing interrupts; waits for it, interrupted or not. */
  private List<Optional<WriteResult>> inOwnThread(Group group) {
    CompletableFuture<Finished> finished = new CompletableFuture<>();
    Thread.ofVirtual()
        .name(THREAD)
        .start(() -> {
          try {
            finished.complete(new Finished(table.write(group), null));
          } catch (Throwable e) { // the leader throws it
            finished.complete(new Finished(List.of(), e));
          }
        });
    Finished result = finished.join();
    return switch (result.thrown) {
      case null -> result.results;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(result.thrown);
    };
  }

  private record Finished(List<Optional<WriteResult>> results, @Nullable Throwable thrown) {}

  /**
   * Returns the signal for a failure: if one member may be the cause, each is executed separately.
   */
  private static Signal failed(RuntimeException e, int members) {
    boolean isOfOne =
        e instanceof QuipuException why
            && why.outcome() == Outcome.NOT_APPLIED
            && !why.reason().isTemporary();
    return isOfOne && members > 1 ? new Signal.Alone() : new Signal.Failed(e);
  }

  /** Passes the lead to the next waiter. */
  private void passOn(Lane lane) {
    Waiter next;
    lock.lock();
    try {
      returning.remove(lane);
      Iterator<Waiter> others = waiting.getOrDefault(lane, Set.of()).iterator();
      if (!others.hasNext()) {
        waiting.remove(lane);
        return;
      }
      next = others.next();
      others.remove();
    } finally {
      lock.unlock();
    }
    next.signal.complete(new Signal.Lead());
  }
}
