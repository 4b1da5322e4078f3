package dev.quipu.bench.ports.subject;

import dev.quipu.testservers.DataDirectory;
import dev.quipu.time.Clock;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * The released server in a separate process.
 *
 * @param port its port for Redis' protocol
 * @param http its port for HTTP
 * @param memcached its port for memcached, if enabled
 * @param start the time from the start of the process to its ready line
 */
public record QuipuServer(
    Path directory, Process process, int port, int http, OptionalInt memcached, Duration start)
    implements AutoCloseable {
  private static final Duration START_MAX = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(2);

  /** Returns whether the server supports an option. */
  public static boolean has(String option) throws IOException, InterruptedException {
    return Processes.run(List.of(java(), "-jar", jar(), "serve", "--help")).contains(option);
  }

  /**
   * Starts a server on an empty directory and waits until it is ready.
   *
   * @param before prefix of the command
   */
  public static QuipuServer start(List<String> before, boolean memcached, List<String> options)
      throws IOException, InterruptedException {
    return start(jar(), before, memcached, options);
  }

  /** Starts a server of another jar. */
  public static QuipuServer start(
      String jar, List<String> before, boolean memcached, List<String> options)
      throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("quipu-ports");
    int port = freePort();
    int http = freePort();
    OptionalInt second = memcached ? OptionalInt.of(freePort()) : OptionalInt.empty();
    List<String> command = new ArrayList<>(before);
    command.addAll(
        List.of(java(), "--enable-native-access=ALL-UNNAMED", "-XX:+UseTransparentHugePages"));
    command.add("-XX:MaxRAMPercentage=50"); // as the launcher does
    command.addAll(List.of("-jar", jar, "serve", "--data", directory.resolve("data").toString()));
    command.addAll(List.of("--http", "" + http, "--resp", "" + port));
    second.ifPresent(each -> command.addAll(List.of("--memcached", "" + each)));
    command.addAll(options);
    File log = directory.resolve("log").toFile();
    long begun = Clock.system().nanoTime();
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "stop-quipu"));
    while (!Files.readString(log.toPath()).contains("quipu is ready")) {
      Duration waited = Duration.ofNanos(Clock.system().nanoTime() - begun);
      if (!process.isAlive() || waited.compareTo(START_MAX) > 0) {
        process.destroyForcibly();
        throw new IOException(command + " is not ready: " + Files.readString(log.toPath()));
      }
      Clock.system().sleep(PAUSE);
    }
    Duration start = Duration.ofNanos(Clock.system().nanoTime() - begun);
    return new QuipuServer(directory, process, port, http, second, start);
  }

  public static String jar() {
    return System.getProperty("quipu.jar", "server/target/quipu.jar");
  }

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  public long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
    DataDirectory.delete(directory);
  }
}
