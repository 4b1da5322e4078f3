package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.FailingFile;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.LogCapture;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.log.HighWater;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What stops an engine, and what does not. */
final class FailureTest {
  private static final EngineOptions OPTIONS = EngineOptions.defaults().withLog(1 << 20, 4 << 20);

  @TempDir Path directory;

  private static Throwable thrown(String name) {
    return switch (name) {
      case "OutOfMemoryError" -> new OutOfMemoryError("injected");
      case "StackOverflowError" -> new StackOverflowError("injected");
      case "InternalError" -> new InternalError("injected");
      case "AssertionError" -> new AssertionError("injected");
      default -> new IllegalStateException("injected");
    };
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneak(Throwable any) throws T {
    throw (T) any;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "OutOfMemoryError",
        "StackOverflowError",
        "InternalError",
        "AssertionError",
        "RuntimeException"
      })
  void anExceptionAfterAChangeStopsTheEngineAndTheChangeIsNotInTheLog(String name) {
    Throwable injected = thrown(name);
    List<Throwable> seen = new ArrayList<>();
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      engine.onFailure(seen::add);
      engine.add(new Add("a", 1, null));
      QuipuException e =
          assertThrows(
              QuipuException.class,
              () ->
                  TestOperation.run(
                      engine,
                      access -> {
                        access.set("a", 100);
                        access.set("b", 100);
                        FailureTest.<RuntimeException>sneak(injected);
                      }));
      assertEquals(Outcome.UNKNOWN, e.outcome());
      assertSame(injected, engine.failure().orElseThrow());
      assertEquals(List.of(injected), seen);
      for (int i = 0; i < 3; i++) {
        QuipuException later =
            assertThrows(QuipuException.class, () -> engine.add(new Add("a", 1, null)));
        assertEquals(Outcome.NOT_APPLIED, later.outcome());
        assertThrows(QuipuException.class, () -> engine.read("a"));
      }
    }
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      assertEquals(1, engine.read("a").orElseThrow().value());
      assertEquals(Optional.empty(), engine.read("b"));
    }
  }

  /** As with an exhausted heap, in which the message cannot be created. */
  private static final class Unspeakable extends OutOfMemoryError {
    private static final long serialVersionUID = 1;

    private int times;

    Unspeakable(int times) {
      this.times = times;
    }

    @Override
    public String getMessage() {
      if (times-- > 0) {
        throw new OutOfMemoryError("no memory for the message");
      }
      return "the heap was full";
    }
  }

  @Test
  void aCauseThatCannotBeReportedAtOnceIsReportedByALaterCall() {
    Failure failure = new Failure();
    failure.stop(new Unspeakable(2));
    assertEquals(Outcome.NOT_APPLIED, failure.notApplied().outcome(), "the second time");
    assertTrue(
        String.valueOf(failure.unknown().getMessage()).contains("the heap was full"),
        "the third: " + failure.unknown());
    assertEquals(Outcome.UNKNOWN, failure.unknown().outcome());
    assertTrue(String.valueOf(failure.notApplied().getMessage()).contains("the heap was full"));
  }

  @Test
  void aCloseEndsInOrderAndHidesNoFailure() {
    Failure failure = new Failure();
    assertFalse(failure.hasEnded());
    failure.close();
    assertTrue(failure.hasEnded());
    assertEquals(Optional.empty(), failure.cause());
    assertEquals("the engine is closed", failure.notApplied().getMessage());
    Failure stopped = new Failure();
    stopped.stop(new AssertionError("injected"));
    stopped.close();
    String message = String.valueOf(stopped.notApplied().getMessage());
    assertTrue(message.endsWith(": java.lang.AssertionError: injected"), message);
  }

  @Test
  void allListenersReceiveTheFirstCauseOnce() {
    Failure failure = new Failure();
    List<String> events = new ArrayList<>();
    failure.onEnd(() -> events.add("freed"));
    failure.onStop(why -> events.add(String.valueOf(why.getMessage())));
    AssertionError first = new AssertionError("first");
    failure.stop(first);
    failure.stop(new AssertionError("second"));
    assertEquals(List.of("first", "freed"), events);
    assertSame(first, failure.cause().orElseThrow());
    failure.onStop(why -> events.add("late"));
    assertEquals(List.of("first", "freed", "late"), events);
    assertSame(failure.unknown(), failure.unknown(), "it is made once");
    assertSame(first, failure.unknown().getCause());
  }

  @Test
  void anErrorWhileCallersAreReleasedIsKeptWithTheCause() {
    Failure failure = new Failure();
    RuntimeException injected = new IllegalStateException("while they are freed");
    failure.onEnd(() -> {
      throw injected;
    });
    AssertionError why = new AssertionError("injected");
    failure.stop(why);
    assertEquals(List.of(injected), List.of(why.getSuppressed()));
  }

  @Test
  void aStopIsLoggedOnceAndByALaterCallIfThereWasNoMemoryForIt() {
    List<String> logged = List.of("ERROR Engine stopped on a failure");
    try (LogCapture log = new LogCapture(Failure.class)) {
      Failure failure = new Failure();
      failure.stop(new AssertionError("injected"));
      assertEquals(logged, log.lines());
      assertEquals(Outcome.UNKNOWN, failure.unknown().outcome());
      assertEquals(logged, log.lines());
    }
    try (LogCapture log = new LogCapture(Failure.class)) {
      Failure failure = new Failure();
      log.failNext(1);
      failure.stop(new AssertionError("injected"));
      assertEquals(List.of(), log.lines());
      for (int i = 0; i < 2; i++) {
        assertEquals(Outcome.NOT_APPLIED, failure.notApplied().outcome());
        assertEquals(logged, log.lines());
      }
    }
  }

  @Test
  void anExceptionBeforeAChangeFailsOnlyThatOperation() {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      assertThrows(
          IllegalStateException.class,
          () ->
              TestOperation.run(
                  engine,
                  access -> {
                    throw new IllegalStateException("injected");
                  }));
      engine.add(new Add("a", 1, null));
      assertEquals(1, engine.read("a").orElseThrow().value());
      assertEquals(Optional.empty(), engine.failure());
    }
  }

  @Test
  void anErrorBeforeAChangeStopsTheEngineToo() {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      engine.add(new Add("a", 1, null));
      assertThrows(
          QuipuException.class,
          () ->
              TestOperation.run(
                  engine,
                  access -> {
                    throw new OutOfMemoryError("injected");
                  }));
      assertThrows(QuipuException.class, () -> engine.add(new Add("a", 1, null)));
    }
  }

  @Test
  void nothingIsAcknowledgedAfterTheProcessStoppedIt() {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      engine.add(new Add("a", 1, RequestId.of("one")));
      engine.stop(new OutOfMemoryError("in a thread of a server"));
      assertThrows(QuipuException.class, () -> engine.add(new Add("a", 1, RequestId.of("two"))));
      List<Throwable> seen = new ArrayList<>();
      engine.onFailure(seen::add);
      assertEquals(1, seen.size());
    }
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      assertEquals(1, engine.read("a").orElseThrow().value());
    }
  }

  /** If an engine thread dies, no caller waits for it forever. */
  @Test
  void anErrorInABackgroundThreadStopsTheEngine() {
    AtomicBoolean isBroken = new AtomicBoolean();
    Disk disk =
        new ForwardingDisk(new FileDisk()) {
          @Override
          public void allocate(Path path, long size) throws IOException {
            if (isBroken.get()) {
              throw new OutOfMemoryError("injected");
            }
            super.allocate(path, size);
          }
        };
    int acknowledged = 0;
    EngineOptions neverRecycles = EngineOptions.defaults().withLog(1 << 20, 1 << 30);
    try (Engine engine =
        Engine.open(directory, neverRecycles, new Environment(disk, Threads.PLATFORM))) {
      isBroken.set(true);
      while (engine.failure().isEmpty()) { // until a segment is full
        try {
          engine
              .addAll(
                  Stream.generate(() -> new Add("a", 1, RequestId.random())).limit(1_000).toList())
              .forEach(ItemResult::result);
          acknowledged += 1_000;
        } catch (QuipuException e) {
          assertTrue(engine.failure().isPresent(), e.getMessage());
        }
      }
    }
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      long kept = engine.read("a").map(Reading::value).orElse(0L); // none if it failed immediately
      assertTrue(kept >= acknowledged);
    }
  }

  /** Whatever fails in a close, the directory is released and no thread is left. */
  @Test
  void aCloseThatFailsFreesTheDirectory() throws Exception {
    AtomicBoolean isBroken = new AtomicBoolean();
    Disk disk =
        new ForwardingDisk(new FileDisk()) {
          @Override
          public DiskFile opened(DiskFile file) {
            return new FailingFile(file, isBroken::get);
          }
        };
    Engine engine = Engine.open(directory, OPTIONS, new Environment(disk, Threads.PLATFORM));
    engine.add(new Add("a", 1, null));
    isBroken.set(true);
    engine.close();
    try (Engine again = Engine.open(directory, OPTIONS)) {
      assertEquals(1, again.read("a").orElseThrow().value());
    }
    assertEquals(
        List.of(),
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("quipu-"))
            .toList());
  }

  @Test
  void anOpenThatFailsLeavesNothingBehind() {
    Disk disk =
        new ForwardingDisk(new FileDisk()) {
          @Override
          public DiskFile open(Path file) throws IOException {
            if (file.endsWith(HighWater.FILE)) {
              throw new IOException("injected");
            }
            return super.open(file);
          }
        };
    Environment environment = new Environment(disk, Threads.PLATFORM);
    assertThrows(QuipuException.class, () -> Engine.open(directory, OPTIONS, environment));
    Engine.open(directory, OPTIONS).close();
    assertEquals(
        0,
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("quipu-"))
            .count());
  }
}
