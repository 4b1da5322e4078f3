package dev.quipu.server.cli.serve;

import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineStatistics;
import dev.quipu.engine.Operation;
import dev.quipu.time.Clock;
import dev.quipu.time.Periodic;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the engine every second whether it accepts writes, and logs when this changes. It does not
 * if the disk is full, or does not answer.
 */
final class EngineWatch implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(EngineWatch.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** How long the disk may take for a write until the server is not ready. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Shares of the memory at which the log warns, and below which it may warn again. */
  private static final double MEMORY_WARNING = 0.9;

  private static final double MEMORY_ENOUGH = 0.8;

  private final Engine engine;
  private final Clock clock;
  private final Periodic running;
  private volatile @Nullable Question asked;
  private volatile @Nullable String rejection;
  private boolean isReady = true;
  private boolean isMemoryShort;

  EngineWatch(Engine engine, Clock clock) {
    this.engine = engine;
    this.clock = clock;
    this.running = new Periodic("quipu-engine-watch", INTERVAL, this::look);
  }

  /** A write of nothing, which fails for the reason for which an add would fail. */
  private static final class Question implements Operation {
    private final long startedNanos;
    private @Nullable String rejection;

    Question(long startedNanos) {
      this.startedNanos = startedNanos;
    }

    @Override
    public int bytesMax(CounterAccess access) {
      return 0;
    }

    @Override
    public void on(CounterAccess access) {
      access.requireRoom(List.of());
    }

    @Override
    public void failed(RuntimeException why) {
      rejection = why.getMessage();
    }
  }

  /** Returns why writes are rejected; empty if they are not. */
  Optional<String> impediment() {
    Question open = asked;
    long seconds =
        open == null ? 0 : TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime() - open.startedNanos);
    return seconds >= PATIENCE.toSeconds()
        ? Optional.of("the disk has not answered for %d s".formatted(seconds))
        : Optional.ofNullable(rejection).map(why -> "writes are rejected: " + why);
  }

  /** In this thread nothing waits for the disk. */
  private void look() {
    if (asked == null) {
      Question question = new Question(clock.nanoTime());
      asked = question;
      Thread.ofVirtual().name("quipu-engine-question").start(() -> ask(question));
    }
    Optional<String> now = impediment();
    if (now.isPresent() && isReady) {
      LOGGER.atWarn().addKeyValue("reason", now.get()).log("Not ready");
    } else if (now.isEmpty() && !isReady) {
      LOGGER.info("Ready again");
    }
    isReady = now.isEmpty();
    lookAtMemory();
  }

  /** Warns before new counters are rejected. */
  private void lookAtMemory() {
    EngineStatistics statistics = engine.latestStatistics();
    double used = (double) statistics.memoryBytes() / statistics.memoryBytesMax();
    if (used >= MEMORY_WARNING && !isMemoryShort) {
      LOGGER
          .atWarn()
          .addKeyValue("usedBytes", statistics.memoryBytes())
          .addKeyValue("maxBytes", statistics.memoryBytesMax())
          .log(
              used > 1
                  ? "Counters take more than --memory: new ones are rejected. Raise it"
                  : "The memory for counters is almost used up: raise --memory");
    }
    isMemoryShort = used >= (isMemoryShort ? MEMORY_ENOUGH : MEMORY_WARNING);
  }

  private void ask(Question question) {
    String now;
    try {
      engine.run(List.of(question));
      now = question.rejection;
    } catch (RuntimeException e) { // it has stopped
      now = e.getMessage();
    }
    rejection = now;
    asked = null;
  }

  @Override
  public void close() {
    running.close();
  }
}
