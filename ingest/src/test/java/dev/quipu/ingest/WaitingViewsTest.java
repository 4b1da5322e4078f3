package dev.quipu.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.simulation.steps.SimLink;
import dev.quipu.simulation.steps.SimProcess;
import dev.quipu.simulation.steps.StepScheduler;
import dev.quipu.store.Condition;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The queue over faulty links to both of its stores, in crashing processes, in virtual time. */
final class WaitingViewsTest {
  private static final long FIRST = Long.getLong("seed", 1);
  private static final int SEEDS = Integer.getInteger("steps.seeds", 300);
  private static final Instant TIME = Instant.parse("2026-11-22T10:00:00Z");
  private static final String PAGE = "https://a.example/page";
  private static final String REJECTED = "https://a.example/rejected";

  /** A thread that is killed while it logs would keep the lock of the log. */
  @BeforeAll
  static void logNothing() {
    log(Level.OFF);
  }

  @AfterAll
  static void logAgain() {
    log(null);
  }

  private static void log(@Nullable Level level) {
    ((Logger) LoggerFactory.getLogger("dev.quipu")).setLevel(level);
  }

  @Test
  void eachAcceptedEventCountsOnceOrIsADeadLetter() {
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      List<String> wrong = new Run(seed, new MemoryDriver()).run();
      assertEquals(List.of(), wrong, "-Dseed=" + seed + " -Dsteps.seeds=1");
    }
  }

  @Test
  void aQueueThatLosesAcceptedEventsIsDetected() {
    MemoryDriver memory = new MemoryDriver();
    List<String> wrong =
        new Run(FIRST, new InterceptingDriver(memory, new Forgetting(memory))).run();
    assertTrue(wrong.stream().anyMatch(each -> each.endsWith("is lost")), wrong::toString);
  }

  /** Loses some of the events that it acknowledged. */
  private static final class Forgetting implements InterceptingDriver.Interceptor {
    private final MemoryDriver memory;
    private int calls;

    Forgetting(MemoryDriver memory) {
      this.memory = memory;
    }

    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      WriteResult result = call.get();
      Write write = writes.getFirst();
      if (write instanceof Write.Put && ++calls % 50 == 0) {
        memory.write(new Write.Delete(write.key(), Condition.always()));
      }
      return result;
    }
  }

  /** Executes each task in a new thread of a process. */
  private static final class Threads extends AbstractExecutorService {
    private final SimProcess process;

    Threads(SimProcess process) {
      this.process = process;
    }

    @Override
    public void execute(Runnable task) {
      process.start(task);
    }

    @Override
    public void shutdown() {
      // nothing to stop
    }

    @Override
    public List<Runnable> shutdownNow() {
      return List.of();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return false;
    }
  }

  /** A counter that rejects the views of one page. */
  private static final class Rejecting implements InterceptingDriver.Interceptor {
    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      if (writes.getFirst().key().partition().contains("rejected")) {
        throw new NotAppliedException(Reason.INVALID, "too long for this store");
      }
      return call.get();
    }
  }

  /** Runs one seed. */
  private static final class Run {
    private static final int EVENTS = 200;
    private static final int ROUNDS_MAX = 20;
    private static final int STEPS_MAX = 500_000;
    private static final Duration RESTART_MAX = Duration.ofSeconds(30);

    private final StepScheduler scheduler;
    private final StoreDriver queue;
    private final StoreDriver counter = new InterceptingDriver(new MemoryDriver(), new Rejecting());
    private final List<String> wrong = new ArrayList<>();
    private final List<ViewEvent> sent = new ArrayList<>();
    private final List<ViewEvent> taken = new ArrayList<>();
    private final List<SimLink> links = new ArrayList<>();
    private boolean isHealed;
    private int senders;

    Run(long seed, StoreDriver queue) {
      this.queue = queue;
      this.scheduler = new StepScheduler(seed);
    }

    List<String> run() {
      for (int i = 0; i < 2; i++) {
        process();
      }
      scheduler.run(STEPS_MAX);
      isHealed = true;
      SimProcess last = scheduler.process(Duration.ZERO);
      last.start(() -> settle(last));
      scheduler.run(STEPS_MAX);
      check(links.stream().mapToLong(SimLink::faultCount).sum() > 0, "nothing went wrong");
      return wrong;
    }

    private void check(boolean holds, String otherwise) {
      if (!holds) {
        wrong.add(otherwise);
      }
    }

    private Store store(SimProcess process, StoreDriver driver) {
      SimLink link =
          new SimLink(scheduler, process, driver, isHealed ? LinkFaults.NONE : LinkFaults.ALL);
      links.add(link);
      return new Store(link, process, scheduler.random(), RetryPolicy.DEFAULT);
    }

    private WaitingViews waiting(SimProcess process) {
      ViewCounter views = new ViewCounter(store(process, counter));
      return new WaitingViews(
          store(process, queue), views, new Threads(process), scheduler.random());
    }

    private void process() {
      SimProcess process = scheduler.process(scheduler.upTo(Duration.ofSeconds(20)));
      WaitingViews waiting = waiting(process);
      for (int i = 0; i < 2; i++) {
        process.start(() -> send(process, waiting));
      }
      process.start(() -> {
        while (sent.size() < EVENTS) {
          waiting.round();
          process.sleep(StoredQueue.INTERVAL);
        }
      });
      watch(process);
    }

    /** Restarts the process when it is killed. */
    private void watch(SimProcess process) {
      scheduler.after(
          scheduler.upTo(RESTART_MAX),
          () -> {
            if (!process.isAlive()) {
              process();
            } else if (process.isRunning()) {
              watch(process);
            }
          });
    }

    /** Sends events, each until it is accepted or the process crashes. */
    private void send(SimProcess process, WaitingViews waiting) {
      String client = "client " + senders++;
      while (sent.size() < EVENTS) {
        String url = scheduler.random().nextInt(10) == 0 ? REJECTED : PAGE;
        ViewEvent event = new ViewEvent(url, TIME.plusSeconds(sent.size()), client);
        sent.add(event);
        while (!isTaken(waiting, event)) {
          process.sleep(scheduler.upTo(Duration.ofSeconds(1)));
        }
        taken.add(event);
        process.sleep(scheduler.upTo(Duration.ofSeconds(2)));
      }
    }

    private static boolean isTaken(WaitingViews waiting, ViewEvent event) {
      try {
        waiting.send(event);
        return true;
      } catch (QuipuException e) {
        return false; // or unknown
      }
    }

    private void settle(SimProcess process) {
      process.sleep(Duration.ofMinutes(10)); // late messages arrive
      WaitingViews waiting = waiting(process);
      for (int i = 0; i < ROUNDS_MAX && items("view-queue") > 0; i++) {
        waiting.round();
      }
      check(items("view-queue") == 0, "events stay in the queue");
      ViewCounter views = new ViewCounter(new Store(counter, process));
      long counted = 0;
      for (ViewEvent event : sent) {
        Optional<Instant> end = Optional.of(event.time().plusNanos(1));
        long markers = views.count(event.url(), Optional.of(event.time()), end);
        boolean isCountable = event.url().equals(PAGE);
        check(markers <= (isCountable ? 1 : 0), event + " has " + markers + " markers");
        check(markers == 1 || !isCountable || !taken.contains(event), event + " is lost");
        counted += markers;
      }
      long number = views.count(PAGE).orElse(0);
      check(number == counted, number + " views of " + counted + " events");
      long rejected = taken.stream().filter(each -> each.url().equals(REJECTED)).count();
      int dead = items(StoredQueue.DEAD_LETTERS);
      check(dead >= rejected, dead + " dead letters of " + rejected + " events");
    }

    private int items(String partition) {
      return ScanDriver.of(queue).scan(Scan.all(partition)).items().size();
    }
  }
}
