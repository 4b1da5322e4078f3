package dev.quipu.server.cli.serve;

import dev.quipu.engine.Engine;
import dev.quipu.server.archive.BackupTarget;
import dev.quipu.time.Clock;
import dev.quipu.time.Periodic;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Backs up the directory of an engine twice a second, while there is something new. A run that
 * fails is repeated: the engine keeps the log that the backup lacks, up to 1 GiB.
 */
public final class ContinuousBackup implements AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger(ContinuousBackup.class);
  private static final Duration INTERVAL = Duration.ofMillis(500);

  private final Engine engine;
  private final BackupTarget target;
  private final Clock clock;
  private final Periodic running;
  private final AtomicLong failures = new AtomicLong();
  private boolean isFailing;
  private volatile long position;
  private volatile long upToNanos;

  /**
   * Makes a first run, and then others until it is closed. If an earlier server made a backup to a
   * bucket that is unreachable now, counting does not wait for it.
   *
   * @throws IOException if the first run fails
   */
  public ContinuousBackup(Engine engine, Path data, String to, Clock clock) throws IOException {
    this.engine = engine;
    this.target = BackupTarget.open(data, to);
    this.clock = clock;
    this.upToNanos = clock.nanoTime();
    try {
      run();
    } catch (IOException e) {
      if (!target.isUnreached()) {
        target.close();
        throw e;
      }
      failed(e);
    } catch (RuntimeException e) {
      target.close();
      throw e;
    }
    this.running = new Periodic("quipu-backup", INTERVAL, this::runIfNew);
  }

  private void run() throws IOException {
    long start = clock.nanoTime();
    position = target.run().position();
    upToNanos = start;
    engine.keepLogAfter(position);
  }

  private void runIfNew() {
    if (engine.position() == position && !isFailing) {
      return;
    }
    try {
      run();
      if (isFailing) {
        isFailing = false;
        LOGGER.atInfo().addKeyValue("target", target).log("Backup is complete again");
      }
    } catch (IOException | RuntimeException e) { // also of a damaged backup
      failed(e);
    }
  }

  private void failed(Exception e) {
    failures.incrementAndGet();
    if (!isFailing) {
      isFailing = true;
      LOGGER
          .atWarn()
          .addKeyValue("target", target)
          .setCause(e)
          .log("Backup failed; retrying twice a second");
    }
  }

  /** Returns the time since the backup had everything; 0 if it has now. */
  private double lagSeconds() {
    long nanos = clock.nanoTime() - upToNanos;
    return engine.position() == position ? 0 : nanos / (double) TimeUnit.SECONDS.toNanos(1);
  }

  /** Returns its meters. */
  public MeterBinder meters() {
    return registry -> {
      Gauge.builder("quipu.backup.lag", this, ContinuousBackup::lagSeconds)
          .description("Time since the backup had everything; 0 if it has now")
          .baseUnit("seconds")
          .register(registry);
      FunctionCounter.builder("quipu.backup.failures", failures, AtomicLong::get)
          .description("Failed runs of the backup")
          .register(registry);
    };
  }

  /** Makes a last run. */
  @Override
  public void close() {
    running.close();
    runIfNew();
    try {
      target.close();
    } catch (IOException e) {
      LOGGER.atWarn().addKeyValue("target", target).setCause(e).log("Backup cannot be released");
    }
  }
}
