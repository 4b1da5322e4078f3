package dev.quipu.testservers;

import dev.quipu.time.Clock;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A server in a separate process, on a free port of 127.0.0.1. It is stopped with this JVM. */
final class ServerProcess implements AutoCloseable {
  private static final int START_SECONDS_MAX = 600; // then it hangs
  private static final Set<Integer> TAKEN = ConcurrentHashMap.newKeySet();
  private static final Duration PAUSE = Duration.ofMillis(10);

  private final Process process;
  private final Thread atExit;

  private ServerProcess(Process process) {
    this.process = process;
    this.atExit = new Thread(process::destroyForcibly, "stop-test-server");
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Starts a command and waits until it listens on {@code port}. */
  static ServerProcess start(List<String> command, Map<String, String> environment, int port) {
    try {
      File log = File.createTempFile("quipu-test-server", ".log");
      log.deleteOnExit();
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log);
      builder.environment().putAll(environment);
      ServerProcess server = new ServerProcess(builder.start());
      server.awaitPort(port, command, log.toPath());
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start " + command, e);
    }
  }

  private void awaitPort(int port, List<String> command, Path log) throws IOException {
    long start = Clock.system().nanoTime();
    while (!listens(port)) {
      boolean late =
          Clock.system().nanoTime() - start > Duration.ofSeconds(START_SECONDS_MAX).toNanos();
      if (late || !process.isAlive()) {
        process.destroyForcibly();
        throw new IllegalStateException(
            "%s does not listen on port %d:%n%s".formatted(command, port, Files.readString(log)));
      }
      pause();
    }
  }

  /** Pauses while a server starts. */
  static void pause() {
    try {
      Clock.system().sleep(PAUSE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a test server starts", e);
    }
  }

  private static boolean listens(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns a free port below the ephemeral range. */
  static int freePort() {
    // Far from those of other processes, which may bind a free port at the same time.
    int first = 20_000 + (int) (ProcessHandle.current().pid() * 211 % 10_000);
    for (int port = first; port < 32_000; port++) {
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        if (TAKEN.add(socket.getLocalPort())) {
          return port;
        }
      } catch (IOException e) {
        // in use
      }
    }
    throw new IllegalStateException("no free port from 20000 to 31999");
  }

  long pid() {
    return process.pid();
  }

  /** Kills it, as kill -9 does. */
  void kill() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    kill();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }
}
