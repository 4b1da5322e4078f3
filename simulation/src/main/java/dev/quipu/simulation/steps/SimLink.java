package dev.quipu.simulation.steps;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** A store as reached by one simulated process: each call takes time, and may fail. */
public final class SimLink extends ForwardingDriver {
  private static final Duration USUAL = Duration.ofMillis(20); // maximum one-way latency
  private static final Duration SLOW = Duration.ofSeconds(2);
  private static final int CALLS_WITHOUT_FAULT_MAX = 40; // so that each run meets a fault

  private final StepScheduler scheduler;
  private final RandomGenerator random;
  private final SimProcess process;
  private final StoreDriver store;
  private LinkFaults faults;
  private long faultCount;
  private long calls;

  private enum Fault {
    NONE,
    REJECTED,
    LOST_REQUEST,
    LATE,
    LOST_REPLY,
    REPEATED,
    KILLED,
    PAUSED
  }

  /**
   * Creates a link.
   *
   * @param store the store that all processes share; executes each call atomically, and never
   *     blocks
   */
  public SimLink(
      StepScheduler scheduler, SimProcess process, StoreDriver store, LinkFaults faults) {
    this.scheduler = scheduler;
    this.random = scheduler.random();
    this.process = process;
    this.store = store;
    this.faults = faults;
  }

  /** Ends all faults; late requests still arrive. */
  public void heal() {
    faults = LinkFaults.NONE;
  }

  /** Returns the number of faults so far. */
  public long faultCount() {
    return faultCount;
  }

  /** Returns the number of calls so far. */
  public long calls() {
    return calls;
  }

  @Override
  protected StoreDriver driver() {
    return store;
  }

  @Override
  protected <T> T forward(Supplier<T> call) {
    return call(false, call);
  }

  @Override
  protected <T> T forwardWrite(Supplier<T> write) {
    return call(true, write);
  }

  @Override
  public Page scan(Scan scan) {
    int most = Math.min(scan.itemsMax(), faults.pageMax());
    return forward(() ->
        ScanDriver.of(store)
            .scan(
                new Scan(
                    scan.partition(),
                    scan.from(),
                    scan.until(),
                    scan.descending(),
                    most,
                    scan.consistency())));
  }

  /** Counts page by page: each page is a call, between which other processes may write. */
  @Override
  public long count(Scan scan) {
    Page page = scan(scan);
    return page.items().size()
        + page.resumeAt().map(from -> count(scan.resumedAt(from))).orElse(0L);
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    return forwardWrite(() -> store.removeExpired(before, itemsMax));
  }

  /** Returns no operations: those of the store would bypass the link. */
  @Override
  public Optional<AtomicOperations> operations() {
    return Optional.empty();
  }

  @Override
  public void close() {
    // the store outlives its links
  }

  private <T> T call(boolean isWrite, Supplier<T> call) {
    calls++;
    boolean isDue =
        calls >= CALLS_WITHOUT_FAULT_MAX && faultCount == 0 && !faults.equals(LinkFaults.NONE);
    Fault drawn = draw(isWrite);
    Fault fault = isDue && drawn == Fault.NONE ? Fault.REJECTED : drawn;
    faultCount += fault == Fault.NONE ? 0 : 1;
    process.sleep(oneWay());
    return switch (fault) {
      case NONE -> answered(call);
      case REJECTED -> throw new NotAppliedException(Reason.THROTTLED, "simulated: rejected");
      case LOST_REQUEST -> throw timeout(isWrite);
      case LATE -> {
        scheduler.after(scheduler.upTo(faults.lateMax()), () -> unanswered(call));
        throw timeout(isWrite);
      }
      case LOST_REPLY -> {
        unanswered(call);
        throw timeout(isWrite);
      }
      case REPEATED -> {
        T answer = answered(call);
        scheduler.after(scheduler.upTo(faults.lateMax()), () -> unanswered(call));
        yield answer;
      }
      case KILLED -> {
        if (random.nextBoolean()) {
          unanswered(call);
        }
        process.kill();
        throw new IllegalStateException("a killed process is running");
      }
      case PAUSED -> {
        boolean isBefore = random.nextBoolean();
        if (isBefore) {
          process.pause(scheduler.upTo(faults.pauseMax()));
        }
        T answer = answered(call);
        if (!isBefore) {
          process.pause(scheduler.upTo(faults.pauseMax()));
        }
        yield answer;
      }
    };
  }

  private Fault draw(boolean isWrite) {
    double at = random.nextDouble();
    double[] rates = {
      faults.rejected(),
      faults.lostRequest(),
      isWrite ? faults.late() : 0,
      faults.lostReply(),
      isWrite ? faults.repeated() : 0,
      faults.killed(),
      faults.paused()
    };
    for (int i = 0; i < rates.length; i++) {
      at -= rates[i];
      if (at < 0) {
        return Fault.values()[i + 1];
      }
    }
    return Fault.NONE;
  }

  private <T> T answered(Supplier<T> call) {
    T answer = call.get();
    process.sleep(oneWay());
    return answer;
  }

  private static void unanswered(Supplier<?> call) {
    try {
      var unused = call.get();
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        throw e; // the store itself always knows
      }
    }
  }

  private Duration oneWay() {
    return scheduler.upTo(random.nextInt(50) == 0 ? SLOW : USUAL);
  }

  private QuipuException timeout(boolean isWrite) {
    process.sleep(LinkFaults.TIMEOUT);
    return isWrite
        ? new OutcomeUnknownException(Reason.TIMEOUT, "simulated: no answer", null)
        : new NotAppliedException(Reason.TIMEOUT, "simulated: no answer to a read");
  }
}
