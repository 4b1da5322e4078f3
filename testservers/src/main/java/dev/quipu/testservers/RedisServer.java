package dev.quipu.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A Redis process. */
public final class RedisServer implements AutoCloseable {
  private static final String VERSION = "7.0.15";

  private final Path directory;
  private final List<String> command;
  private final int port;
  private ServerProcess process;

  private RedisServer(Path directory, int port, List<String> options) {
    this.directory = directory;
    this.port = port;
    this.command = new ArrayList<>(List.of(Binary.PATH.toString()));
    command.addAll(List.of("--port", Integer.toString(port), "--bind", "127.0.0.1"));
    command.addAll(List.of("--dir", directory.toString(), "--save", ""));
    command.addAll(options);
    this.process = ServerProcess.start(command, Map.of(), port);
  }

  /** Starts a server that syncs its log before it replies. */
  public static RedisServer startDurable() {
    return startDurableAt(ServerProcess.freePort());
  }

  /** Starts a server on a fixed port that syncs its log before it replies. */
  public static RedisServer startDurableAt(int port) {
    return new RedisServer(
        DataDirectory.make("quipu-redis"),
        port,
        List.of("--appendonly", "yes", "--appendfsync", "always"));
  }

  /** Starts a server with these options. */
  public static RedisServer start(String... options) {
    return new RedisServer(
        DataDirectory.make("quipu-redis"), ServerProcess.freePort(), List.of(options));
  }

  /** Kills it, as kill -9 does, and restarts it on its data. */
  public void killAndRestart() {
    process.close();
    process = ServerProcess.start(command, Map.of(), port);
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
    DataDirectory.delete(directory);
  }

  /** The server's binary, extracted once from a jar. */
  private static final class Binary {
    private static final Path PATH = extract();

    private static Path extract() {
      String machine = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
      String name =
          "/redis-server-%s-linux-%s"
              .formatted(VERSION, machine.equals("aarch64") ? "arm64" : "amd64");
      try (InputStream from = RedisServer.class.getResourceAsStream(name)) {
        if (from == null) {
          throw new IllegalStateException(name + " is missing on the class path");
        }
        Path to = Files.createTempFile("quipu-redis-server", "");
        Files.write(to, from.readAllBytes());
        Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwx------"));
        to.toFile().deleteOnExit();
        return to;
      } catch (IOException e) {
        throw new UncheckedIOException("cannot extract " + name, e);
      }
    }
  }
}
