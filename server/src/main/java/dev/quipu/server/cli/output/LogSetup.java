package dev.quipu.server.cli.output;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.spi.FilterReply;
import co.elastic.logging.JsonUtils;
import co.elastic.logging.logback.EcsEncoder;
import dev.quipu.server.net.RecentLog;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.KeyValuePair;

/**
 * Configures logging to standard error: one JSON object per line, in the Elastic Common Schema, or
 * plain text. In code, since parsing XML would slow the start down.
 */
public final class LogSetup extends ContextAwareBase implements Configurator {
  /** A message on one line, with its key-value pairs, and then the stack trace. */
  private static final String LINE =
      "%d{HH:mm:ss.SSS} %-5level %replace(%msg %kvp){'[\\p{Cntrl}]+', ' '}%n%ex";

  private static final List<String> SILENT =
      List.of("net.rubyeye.xmemcached", "com.google.code.yanf4j", "remoting");

  private static final List<String> ERRORS_ONLY =
      List.of("io.lettuce.core.resource.Transports", "com.zaxxer.hikari.pool.PoolBase");

  /** The log format. */
  public enum Form {
    /** One JSON object per line, in the Elastic Common Schema. */
    json,
    /** Plain text. */
    text
  }

  private static volatile Form form = Form.json;
  private static volatile Consumer<Throwable> onVirtualMachineError = error -> {};

  /** Creates the configurator, for {@link java.util.ServiceLoader}. */
  public LogSetup() {}

  /** Sets the log format. Must be called before the first logger is created. */
  public static void use(Form wanted) {
    form = wanted;
  }

  /**
   * Sets the listener for each {@link VirtualMachineError} that is logged. Libraries catch, log and
   * drop the errors of their threads and event loops: only the log sees them.
   */
  public static void onVirtualMachineError(Consumer<Throwable> listener) {
    onVirtualMachineError = listener;
  }

  /** Runs before anything is allocated for a log event. */
  private static final class ErrorFilter extends TurboFilter {
    @Override
    public FilterReply decide(
        @Nullable Marker marker,
        Logger logger,
        Level level,
        @Nullable String format,
        Object @Nullable [] parameters,
        @Nullable Throwable thrown) {
      if (thrown instanceof VirtualMachineError) {
        onVirtualMachineError.accept(thrown);
      }
      return FilterReply.NEUTRAL;
    }
  }

  @Override
  public ExecutionStatus configure(LoggerContext context) {
    Encoder<ILoggingEvent> encoder =
        switch (form) {
          case json -> json(context);
          case text -> text(context);
        };
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setContext(context);
    appender.setTarget("System.err");
    appender.setEncoder(encoder);
    appender.start();
    context.getLogger("ROOT").setLevel(Level.WARN);
    context.getLogger("dev.quipu").setLevel(Level.INFO);
    // The memcached client logs each failed connection attempt; the driver reports them.
    SILENT.forEach(name -> context.getLogger(name).setLevel(Level.OFF));
    // These warn of a choice of transport, and of each connection that a restart of a store closed.
    ERRORS_ONLY.forEach(name -> context.getLogger(name).setLevel(Level.ERROR));
    context.getLogger("ROOT").addAppender(appender);
    RecentAppender recent = new RecentAppender();
    recent.setContext(context);
    recent.start();
    context.getLogger("ROOT").addAppender(recent);
    context.addTurboFilter(new ErrorFilter());
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  /** Keeps the last entries in memory, too. */
  private static final class RecentAppender extends AppenderBase<ILoggingEvent> {
    @Override
    protected void append(ILoggingEvent entry) {
      RecentLog.ofProcess().add(entry);
    }
  }

  /** One line of JSON for each entry, in the Elastic Common Schema. */
  private static Encoder<ILoggingEvent> json(LoggerContext context) {
    EcsEncoder encoder = new LabelingEncoder();
    encoder.setContext(context);
    encoder.setServiceName("quipu");
    encoder.start();
    return encoder;
  }

  /** Adds the key-value pairs of an entry as labels, where the schema has those of its users. */
  private static final class LabelingEncoder extends EcsEncoder {
    @Override
    protected void addCustomFields(ILoggingEvent entry, StringBuilder json) {
      List<KeyValuePair> pairs = entry.getKeyValuePairs();
      if (pairs != null) {
        for (KeyValuePair each : pairs) {
          json.append("\"labels.");
          JsonUtils.quoteAsString(each.key, json);
          json.append("\":\"");
          JsonUtils.quoteAsString(String.valueOf(each.value), json);
          json.append("\",");
        }
      }
    }
  }

  private static Encoder<ILoggingEvent> text(LoggerContext context) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern(LINE);
    encoder.start();
    return encoder;
  }
}
