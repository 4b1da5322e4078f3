package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.AtomicOperations;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Number of calls of memcached's operations on a store without native ones. */
final class StoredOperationsTest {
  private final ManualClock clock = new ManualClock(1_000_000);
  private final MemoryDriver memory = new MemoryDriver();
  private final AtomicOperations others = new Store(memory, clock).operations();

  @Test
  void countingFromZeroIsOneCall() {
    RecordingDriver recording = new RecordingDriver(memory);
    AtomicOperations operations = new Store(recording, clock).operations();
    assertTrue(operations.add("k", "0", Optional.empty()));
    recording.calls();
    assertEquals(OptionalLong.of(1), operations.incr("k", 1));
    assertEquals(OptionalLong.of(0), operations.decr("k", 1));
    assertEquals(2, recording.calls().size());
  }

  /** Another client changes the value before each conditional write. */
  private AtomicOperations crowded(String value, int[] writes) {
    InterceptingDriver.Interceptor around =
        new InterceptingDriver.Interceptor() {
          @Override
          public WriteResult write(List<Write> all, Supplier<WriteResult> call) {
            writes[0]++;
            others.set("k", value, Optional.empty());
            return call.get();
          }
        };
    return new Store(new InterceptingDriver(memory, around), clock).operations();
  }

  private static void isGivenUp(Runnable operation) {
    QuipuException e = assertThrows(QuipuException.class, operation::run);
    assertEquals(Reason.THROTTLED, e.reason());
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals("gave up after 1000 attempts: contention on k", e.getMessage());
  }

  @Test
  void anOperationThatOthersAlwaysComeBetweenIsGivenUp() {
    int[] writes = new int[1];
    others.set("k", "a", Optional.empty());
    isGivenUp(() -> crowded("a", writes).append("k", "b"));
    assertEquals(1_000, writes[0]);
    assertEquals("a", others.get("k").orElseThrow().text());
  }

  @Test
  void aCountThatOthersAlwaysComeBetweenIsGivenUp() {
    int[] writes = new int[1];
    String beyond = "9223372036854775808"; // 2^63 is kept as a text
    isGivenUp(() -> crowded(beyond, writes).incr("k", 1));
    assertEquals(2 * 1_000, writes[0], "an add and a replacement each");
    assertEquals(beyond, others.get("k").orElseThrow().text());
  }
}
