package dev.quipu.testservers;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A memcached process; {@code ./dev deps} installs it. */
public final class MemcachedServer implements AutoCloseable {
  private static final int MEGABYTES = 64;

  private final int port;
  private final String binary;
  private ServerProcess process;

  private MemcachedServer(String binary, int port) {
    this.binary = binary;
    this.port = port;
    this.process = run();
  }

  private ServerProcess run() {
    List<String> command =
        List.of(
            binary,
            "-u",
            "root",
            "-l",
            "127.0.0.1",
            "-p",
            Integer.toString(port),
            "-m",
            Integer.toString(MEGABYTES));
    return ServerProcess.start(command, Map.of(), port);
  }

  /**
   * Starts a server.
   *
   * @return empty if it is not installed; in CI that is an error
   */
  public static Optional<MemcachedServer> start() {
    return startAt(ServerProcess.freePort());
  }

  /**
   * Starts one on a fixed port.
   *
   * @return empty if the machine has none; in CI that is an error
   */
  public static Optional<MemcachedServer> startAt(int port) {
    return Tool.find("memcached").map(binary -> new MemcachedServer(binary, port));
  }

  /** Kills it, as {@code kill -9} does; its items are lost. */
  public void kill() {
    process.close();
  }

  /** Restarts it, empty, on the same port. */
  public void restart() {
    process = run();
  }

  /** Returns its port on 127.0.0.1. */
  public int port() {
    return port;
  }

  /** Returns its process id, which a restart changes. */
  public long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.close();
  }
}
