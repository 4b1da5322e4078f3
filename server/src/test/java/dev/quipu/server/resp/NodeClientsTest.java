package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.Reading;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.NodeProject;
import dev.quipu.server.ToolProcess;
import dev.quipu.server.protocol.CommandPort;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Node clients, each in its own script in {@code src/test/node}. */
final class NodeClientsTest {
  private static final List<String> STEPS =
      List.of("connect", "count", "pipeline", "transaction", "watch", "reconnect");

  @SuppressWarnings("NullAway.Init") // set before all tests
  private static NodeProject project;

  @TempDir Path directory;

  @BeforeAll
  static void install() throws IOException, InterruptedException {
    project = NodeProject.install("node");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ioredis", "node-redis", "glide"})
  void counts(String client) throws IOException, InterruptedException {
    String node = project.node();
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      CommandPort server = LikeRedisTest.serve(engine, Optional.empty());
      int port = server.address().getPort();
      List<String> command = List.of(node, client + ".mjs", Integer.toString(port));
      try (ToolProcess process = ToolProcess.start(project.directory(), command)) {
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
