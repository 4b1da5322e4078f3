package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Reading;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.ToolProcess;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.testservers.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Node clients, each in its own script in {@code src/test/node}. */
final class NodeClientsTest {
  private static final Path SCRIPTS = Path.of("src/test/node");
  private static final Path INSTALLED = Path.of("target/node");
  private static final List<String> STEPS =
      List.of("connect", "count", "pipeline", "transaction", "watch", "reconnect");

  @TempDir Path directory;

  @BeforeAll
  static void install() throws IOException, InterruptedException {
    Optional<String> npm = Tool.find("npm");
    assumeTrue(npm.isPresent(), "no npm on this machine: ./dev deps installs it");
    Files.createDirectories(INSTALLED);
    try (Stream<Path> files = Files.list(SCRIPTS)) {
      for (Path file : files.toList()) {
        Path to = INSTALLED.resolve(file.getFileName());
        Files.copy(file, to, StandardCopyOption.REPLACE_EXISTING);
      }
    }
    List<String> command =
        List.of(
            npm.orElseThrow(),
            "install",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts");
    try (ToolProcess process = ToolProcess.start(INSTALLED, command)) {
      process.await(0);
    }
  }

  /** Returns the Node that was installed with the clients; that of the system may be too old. */
  private static Optional<String> node() {
    return Stream.of("x64", "arm64")
        .map(machine -> INSTALLED.resolve("node_modules/node-linux-" + machine + "/bin/node"))
        .filter(Files::isExecutable)
        .map(path -> path.toAbsolutePath().toString())
        .findFirst()
        .or(() -> Tool.find("node"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ioredis", "node-redis", "glide"})
  void counts(String client) throws IOException, InterruptedException {
    Optional<String> node = node();
    assumeTrue(node.isPresent(), "no node on this machine: ./dev deps installs it");
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      CommandPort server = LikeRedisTest.serve(engine, Optional.empty());
      int port = server.address().getPort();
      List<String> command = List.of(node.orElseThrow(), client + ".mjs", Integer.toString(port));
      try (ToolProcess process = ToolProcess.start(INSTALLED, command)) {
        process.awaitLine("ready to reconnect");
        server.close();
        server = LikeRedisTest.serve(engine, port);
        process.send("go\n");
        assertEquals(STEPS, process.await(0).stream().filter(STEPS::contains).toList());
      } finally {
        server.close();
      }
      assertEquals(Optional.of(Reading.exact(7)), engine.read("a"));
    }
  }
}
