package dev.quipu.server.cli.output;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.spi.FilterReply;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * One JSON object a line, or plain text, on standard error. In code, for a start without parsing
 * XML.
 */
public final class LogSetup extends ContextAwareBase implements Configurator {
  /** A message on one line, whatever is in it: %kvp are its parts, %ex what it was about. */
  private static final String LINE =
      "%d{HH:mm:ss.SSS} %-5level %replace(%msg %kvp){'[\\p{Cntrl}]+', ' '}%n%ex";

  private static final List<String> SILENT =
      List.of("net.rubyeye.xmemcached", "com.google.code.yanf4j", "remoting");

  private static final List<String> ERRORS_ONLY =
      List.of("io.lettuce.core.resource.Transports", "com.zaxxer.hikari.pool.PoolBase");

  /** What the log looks like. */
  public enum Form {
    /** For programs. */
    json,
    /** For people. */
    text
  }

  private static volatile Form form = Form.json;
  private static volatile Consumer<Throwable> onVirtualMachineError = error -> {};

  /** For {@link java.util.ServiceLoader}. */
  public LogSetup() {}

  /** Sets what the log looks like. To be called before the first logger is made. */
  public static void use(Form wanted) {
    form = wanted;
  }

  /**
   * Sets what takes each {@link VirtualMachineError} that is about to be logged. Libraries log, and
   * then forget, what their threads and event loops meet: this is the only place that sees it.
   */
  public static void onVirtualMachineError(Consumer<Throwable> listener) {
    onVirtualMachineError = listener;
  }

  /** Sees what is logged before anything is allocated for it. */
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
    // The client of memcached logs each attempt to connect as an error; the driver reports it.
    SILENT.forEach(name -> context.getLogger(name).setLevel(Level.OFF));
    // These warn of a choice of transport, and of each connection that a restart of a store closed.
    ERRORS_ONLY.forEach(name -> context.getLogger(name).setLevel(Level.ERROR));
    context.getLogger("ROOT").addAppender(appender);
    context.addTurboFilter(new ErrorFilter());
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  private static Encoder<ILoggingEvent> json(LoggerContext context) {
    JsonEncoder encoder = new JsonEncoder();
    encoder.setContext(context);
    encoder.setWithContext(false);
    encoder.setWithSequenceNumber(false);
    encoder.setWithNanoseconds(false);
    encoder.setWithArguments(false);
    encoder.setWithFormattedMessage(true); // the message alone has {} for what it is about
    encoder.start();
    return encoder;
  }

  private static Encoder<ILoggingEvent> text(LoggerContext context) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern(LINE);
    encoder.start();
    return encoder;
  }
}
