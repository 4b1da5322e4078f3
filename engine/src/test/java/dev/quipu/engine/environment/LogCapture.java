package dev.quipu.engine.environment;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Collects the log messages of a class instead of printing them. */
public final class LogCapture extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private final Logger logger;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final @Nullable Level levelBefore;
  private int failures;

  public LogCapture(Class<?> type) {
    logger = (Logger) LoggerFactory.getLogger(type);
    setContext(logger.getLoggerContext());
    start();
    levelBefore = logger.getLevel();
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    logger.addAppender(this);
  }

  /** Makes the next attempts to log fail as with an exhausted heap. */
  public void failNext(int times) {
    failures = times;
  }

  /** Returns level and message of each logged event. */
  public List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  protected void append(ILoggingEvent event) {
    if (failures > 0) {
      failures--;
      throw new OutOfMemoryError("no memory for the log");
    }
    lines.add(event.getLevel() + " " + event.getFormattedMessage());
  }

  @Override
  public void close() {
    logger.detachAppender(this);
    logger.setAdditive(true);
    logger.setLevel(levelBefore);
  }
}
