package dev.quipu.engine;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What a class writes to the program's log. */
final class Warnings implements AutoCloseable {
  private final Logger logger;
  private final ListAppender<ILoggingEvent> seen = new ListAppender<>();

  Warnings(Class<?> of) {
    logger = (Logger) LoggerFactory.getLogger(of);
    logger.setLevel(Level.WARN); // whatever other tests have made of the root's
    seen.start();
    logger.addAppender(seen);
  }

  List<String> messages() {
    return seen.list.stream().map(ILoggingEvent::getMessage).toList();
  }

  @Override
  public void close() {
    logger.detachAppender(seen);
    logger.setLevel(null);
  }
}
