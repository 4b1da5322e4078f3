package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.QuipuException;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.Threads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A caller that gives up waiting leaves no other caller waiting for it. */
final class HandOverTest {
  private static final String CALLER = "caller";
  private static final int ROUNDS = 20;
  private static final int GROUPS_OF_A_LEADER = 8;
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** Disables the engine threads' own calls, which would serve all waiting calls. */
  private static final Threads WITHOUT_TICKS =
      new Threads() {
        @Override
        public Thread start(String name, Runnable work) {
          return Threads.PLATFORM.start(name, work);
        }

        @Override
        @SuppressWarnings("WaitNotInLoop") // callers recheck their condition
        public void await(Lock lock, Condition condition, long nanos) throws InterruptedException {
          condition.await();
        }
      };

  @TempDir Path directory;

  /** A disk on which commit leaders wait for a permit to sync, while the gate is closed. */
  private static final class GatedDisk extends ForwardingDisk {
    final AtomicBoolean isClosed = new AtomicBoolean();
    final Semaphore waiting = new Semaphore(0);
    final Semaphore permits = new Semaphore(0);

    GatedDisk() {
      super(new FileDisk());
    }

    @Override
    public DiskFile opened(DiskFile file) {
      return new DiskFile() {
        @Override
        public void write(ByteBuffer bytes, long offset) throws IOException {
          file.write(bytes, offset);
        }

        @Override
        public void sync() throws IOException {
          if (isClosed.get() && Thread.currentThread().getName().equals(CALLER)) {
            waiting.release();
            permits.acquireUninterruptibly();
          }
          file.sync();
        }

        @Override
        public void close() throws IOException {
          file.close();
        }
      };
    }
  }

  @Test
  void aWaiterThatIsInterruptedHandsTheLeadershipOver() throws Exception {
    GatedDisk disk = new GatedDisk();
    // No forgotten caller reaches its deadline within this test.
    EngineOptions options =
        EngineOptions.defaults().withLog(1 << 20, 1 << 24).withCallDeadline(Duration.ofHours(1));
    try (Engine engine = Engine.open(directory, options, new Environment(disk, WITHOUT_TICKS))) {
      for (int round = 0; round < ROUNDS; round++) {
        disk.isClosed.set(true);
        List<Thread> done = new ArrayList<>();
        done.add(Thread.ofPlatform().name(CALLER).start(() -> add(engine)));
        disk.waiting.acquire();
        for (int i = 1; i < GROUPS_OF_A_LEADER; i++) { // after which it stops leading
          done.add(parked(engine));
          disk.permits.release();
          disk.waiting.acquire();
        }
        Thread quitter = parked(engine);
        Thread waiter = parked(engine);
        quitter.interrupt();
        assertTrue(quitter.join(PATIENCE));
        disk.isClosed.set(false);
        disk.permits.release();
        for (Thread each : done) {
          assertTrue(each.join(PATIENCE));
        }
        assertTrue(waiter.join(PATIENCE), "forgotten in round " + round);
      }
      long adds = (GROUPS_OF_A_LEADER + 2L) * ROUNDS;
      assertEquals(adds, engine.read("a").orElseThrow().value());
      assertFalse(engine.failure().isPresent());
    }
  }

  private static Thread parked(Engine engine) {
    Thread thread = Thread.ofPlatform().name(CALLER).start(() -> add(engine));
    awaitParked(thread);
    return thread;
  }

  private static void awaitParked(Thread thread) {
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      LockSupport.parkNanos(10_000);
    }
  }

  private static void add(Engine engine) {
    try {
      engine.add(new Add("a", 1, null));
    } catch (QuipuException e) {
      // unknown: it was interrupted, but completes
    }
  }
}
