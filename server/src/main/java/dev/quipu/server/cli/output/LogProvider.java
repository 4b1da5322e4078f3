package dev.quipu.server.cli.output;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * Logback with the configuration of {@link LogSetup}, named by the property {@code slf4j.provider}.
 * Otherwise SLF4J and Logback search the whole jar for services, which takes a tenth of the time of
 * a start.
 */
public final class LogProvider implements SLF4JServiceProvider {
  private static final String API_VERSION = "2.0.99"; // as Logback states it

  private final LoggerContext context = new LoggerContext();
  private final IMarkerFactory markers = new BasicMarkerFactory();
  private final LogbackMDCAdapter mdc = new LogbackMDCAdapter();

  /** Creates the provider, for SLF4J. */
  public LogProvider() {}

  @Override
  public void initialize() {
    context.setMDCAdapter(mdc);
    LogSetup setup = new LogSetup();
    setup.setContext(context);
    setup.configure(context);
    context.start();
  }

  @Override
  public ILoggerFactory getLoggerFactory() {
    return context;
  }

  @Override
  public IMarkerFactory getMarkerFactory() {
    return markers;
  }

  @Override
  public MDCAdapter getMDCAdapter() {
    return mdc;
  }

  @Override
  public String getRequestedApiVersion() {
    return API_VERSION;
  }
}
