package dev.quipu.bench.ports;

import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.QuipuServer;
import dev.quipu.testservers.Tool;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the page costs a browser, while many counters change. */
public final class PageCosts {
  private static final int COUNTERS = 100_000;
  private static final int CHANGES_PER_SECOND = 50_000;
  private static final Duration TICK = Duration.ofMillis(20);
  private static final int SECONDS = 20;
  private static final Path SCRIPTS = Path.of("server/web");

  private PageCosts() {}

  /** Returns the rows of the table. */
  public static String measure() throws Exception {
    String chromium = Tool.find("chromium").orElseThrow();
    try (QuipuServer server = QuipuServer.start(List.of(), false, List.of());
        Load load = new Load(server.port())) {
      load.addToAll();
      Thread changes = Thread.ofPlatform().daemon().start(load);
      StringBuilder rows = new StringBuilder();
      String printed =
          Processes.run(
              List.of(
                  "node",
                  SCRIPTS.resolve("test/trace.mjs").toString(),
                  "http://127.0.0.1:" + server.http(),
                  chromium,
                  Integer.toString(SECONDS)));
      changes.interrupt();
      changes.join();
      for (String line : printed.split("\n", -1)) {
        if (line.startsWith("{")) {
          rows.append(row(JsonMapper.shared().readTree(line)));
        }
      }
      System.out.printf(Locale.ROOT, "%,.0f changes per second%n", load.changes * 1e9 / load.nanos);
      return rows.toString();
    }
  }

  private static String row(JsonNode found) {
    return String.format(
        Locale.ROOT,
        "| %s | %.1f | %.1f | %.0f | %.0f | %.2f |%n",
        found.path("page").asString(),
        found.path("p95").asDouble(),
        found.path("max").asDouble(),
        found.path("heap").asDouble(),
        found.path("memory").asDouble(),
        found.path("bytes").asDouble());
  }

  /** Changes counters at a rate, in pipelines on a connection of its own. */
  private static final class Load implements Runnable, AutoCloseable {
    private static final int GROUP = 1_000;

    private final RandomGenerator random = Randomness.seeded(1);
    private final Socket socket;
    private final InputStream in;
    private volatile long changes;
    private volatile long nanos;

    Load(int port) throws IOException {
      this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
      this.in = new BufferedInputStream(socket.getInputStream());
    }

    void addToAll() throws IOException {
      for (int first = 0; first < COUNTERS; first += GROUP) {
        StringBuilder commands = new StringBuilder();
        for (int i = 0; i < GROUP; i++) {
          commands.append(increment(first + i));
        }
        send(commands, GROUP);
      }
    }

    private static String increment(int counter) {
      return "*2\r\n$4\r\nINCR\r\n$11\r\npage/%06d\r\n".formatted(counter);
    }

    private void send(StringBuilder commands, int replies) throws IOException {
      socket.getOutputStream().write(commands.toString().getBytes(StandardCharsets.US_ASCII));
      for (int i = 0; i < replies; ) {
        int each = in.read();
        if (each < 0 || each == '-') {
          throw new IOException("an add failed");
        }
        i += each == '\n' ? 1 : 0;
      }
    }

    @Override
    public void run() {
      Clock clock = Clock.system();
      long start = clock.nanoTime();
      long sent = 0;
      try {
        while (true) {
          long due = (clock.nanoTime() - start) * CHANGES_PER_SECOND / 1_000_000_000L - sent;
          StringBuilder commands = new StringBuilder();
          for (int i = 0; i < due; i++) {
            commands.append(increment(random.nextInt(COUNTERS)));
          }
          send(commands, (int) due);
          sent += due;
          changes = sent;
          nanos = clock.nanoTime() - start;
          clock.sleep(TICK);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // the end
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
