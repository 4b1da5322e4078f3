package dev.quipu.engine.commit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Threads;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** How a call ends, and what its caller gets. */
final class TaskTest {
  private final Task task = new Committer.Nothing();

  @Test
  void aTaskThatSucceededThrowsNothing() {
    assertFalse(task.isDone());
    task.succeed();
    assertTrue(task.isDone());
    assertFalse(task.isAbandoned());
    assertDoesNotThrow(task::rethrow);
  }

  @Test
  void anAbandonedTaskIsNotDone() {
    task.abandon();
    assertTrue(task.isAbandoned());
    assertFalse(task.isDone());
  }

  @Test
  void anExceptionIsThrownAsItIs() {
    RuntimeException why = new IllegalStateException("injected");
    task.fail(why);
    assertTrue(task.isDone());
    assertSame(why, assertThrows(IllegalStateException.class, task::rethrow));
    DamageException damage = new DamageException(Damage.ID_FILE, Path.of("x"), 1, "injected");
    task.fail(damage);
    assertSame(damage, assertThrows(DamageException.class, task::rethrow));
  }

  /** One exception ends many calls: each caller gets its own, with its own stack trace. */
  @Test
  void anExceptionOfManyCallsIsCopiedForEach() {
    QuipuException why = new NotAppliedException(Reason.FULL, "no room");
    task.fail(why);
    QuipuException thrown = assertThrows(QuipuException.class, task::rethrow);
    assertNotSame(why, thrown);
    assertSame(why, thrown.getCause());
    assertEquals(Outcome.NOT_APPLIED, thrown.outcome());
    assertEquals(Reason.FULL, thrown.reason());
    assertEquals("no room", thrown.getMessage());
    assertEquals("rethrow", thrown.getStackTrace()[1].getMethodName()); // 0 is the factory
  }

  @Test
  void theCallerIsWokenWhoeverEndsTheTask() {
    CompletableFuture<Task> made = new CompletableFuture<>();
    Thread caller =
        Thread.ofPlatform()
            .start(() -> {
              Task mine = new Committer.Nothing();
              made.complete(mine);
              while (!mine.isDone()) {
                LockSupport.park(mine);
              }
            });
    Task mine = made.join();
    assertSame(caller, mine.caller());
    while (caller.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    mine.succeed();
    Threads.join(caller);
    assertFalse(caller.isAlive());
  }
}
