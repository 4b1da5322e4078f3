package dev.quipu.server;

import dev.quipu.server.cli.PlainGet;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.cli.output.LogProvider;
import dev.quipu.server.cli.serve.PlainServe;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine;

/** The command {@code quipu}. */
public final class Main {
  private static final String LEAK_DETECTION = "io.netty.leakDetection.level";
  private static final String DIRECT_MEMORY = "io.netty.maxDirectMemory";
  private static final String NETTY_EVENTS = "io.netty.jfr.enabled";
  private static final String LOG_PROVIDER = "slf4j.provider";
  private static final String LOG_NOTES = "slf4j.internal.verbosity";

  /** The share of the buffers of the network, in addition to the heap: one part in this many. */
  private static final int DIRECT_SHARE = 2;

  private static final long DIRECT_BYTES_MIN = 64 << 20;

  private static final int FAILED = 1;

  private Main() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    // Leak detection is for tests; here it would only cost time.
    setDefault(LEAK_DETECTION, "disabled");
    // Events of Netty's allocator: their classes are generated at each start.
    setDefault(NETTY_EVENTS, "false");
    setDefault(LOG_PROVIDER, LogProvider.class.getName());
    setDefault(LOG_NOTES, "ERROR"); // it would name the provider, and loggers made meanwhile
    // Otherwise as much as the heap, and both together might exceed the memory of the machine.
    long heap = Runtime.getRuntime().maxMemory();
    long limit = Math.max(heap / DIRECT_SHARE, Math.min(heap, DIRECT_BYTES_MIN));
    setDefault(DIRECT_MEMORY, Long.toString(limit));
    Optional<String> value = PlainGet.value(System.getenv(), args);
    if (value.isPresent()) {
      System.out.println(value.get());
      System.exit(System.out.checkError() ? FAILED : 0);
    }
    int code = FAILED;
    try {
      OptionalInt served = PlainServe.run(System.getenv(), args);
      code = served.isPresent() ? served.getAsInt() : execute(args);
    } catch (Error e) {
      System.err.println("quipu: " + e);
    } finally { // also after an Error: running threads must not keep the process alive
      System.exit(code);
    }
  }

  private static void setDefault(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }

  private static int execute(String... args) {
    CommandLine line = QuipuCommand.commandLine(args);
    // Not System.out, which hides write errors: these must lead to a failure code.
    line.setOut(
        new PrintWriter(new FileOutputStream(FileDescriptor.out), true, System.out.charset()));
    return line.execute(args);
  }
}
