package dev.quipu.server.resp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Reading;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.ToolProcess;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.testservers.Tool;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tools of Redis: redis-cli and redis-benchmark. */
final class RedisToolsTest {
  private static final int ADDS = 20_000;

  @TempDir Path directory;

  private Engine engine;
  private CommandPort server;

  @BeforeEach
  void start() throws IOException {
    engine = Engine.open(directory, EngineOptions.defaults());
    server = LikeRedisTest.serve(engine, Optional.empty());
  }

  @AfterEach
  void stop() {
    server.close();
    engine.close();
  }

  private ToolProcess tool(String name, String... options) throws IOException {
    Optional<String> found = Tool.find(name);
    assumeTrue(found.isPresent(), "no " + name + " on this machine: ./dev deps installs it");
    List<String> command = new ArrayList<>(List.of(found.orElseThrow()));
    command.addAll(List.of("-p", Integer.toString(server.address().getPort())));
    command.addAll(List.of(options));
    return ToolProcess.start(directory, command);
  }

  private List<String> cli(String... options) throws IOException, InterruptedException {
    return run("", options);
  }

  private List<String> run(String input, String... options)
      throws IOException, InterruptedException {
    try (ToolProcess process = tool("redis-cli", options)) {
      process.send(input);
      return process.await(0);
    }
  }

  private List<String> benchmark(int exit, String... options)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("-n", Integer.toString(ADDS), "-P", "16", "-q"));
    all.addAll(List.of(options));
    try (ToolProcess process = tool("redis-benchmark", all.toArray(String[]::new))) {
      return process.await(exit);
    }
  }

  @Test
  void commandsByThemselves() throws IOException, InterruptedException {
    assertEquals(List.of("1"), cli("INCR", "a"));
    assertEquals(List.of("42"), cli("-3", "INCRBY", "a", "41"));
    assertEquals(List.of("(integer) 41"), cli("--no-raw", "DECR", "a"));
    assertEquals(List.of("41"), cli("GET", "a"));
    assertEquals(List.of("OK"), cli("SET", "a", "7"));
    assertEquals(List.of("[\"7\",null]"), cli("--json", "MGET", "a", "none"));
    assertEquals(List.of("8", "9", "10"), cli("-r", "3", "INCR", "a"));
    assertEquals(List.of("OK"), run("5", "-x", "SET", "b"));
    assertEquals(Optional.of(Reading.exact(5)), engine.read("b"));
    try (ToolProcess process = tool("redis-cli", "-e", "SET", "a", "text")) {
      assertTrue(process.await(1).getFirst().contains("only integers"));
    }
  }

  @Test
  void commandsOnStandardInput() throws IOException, InterruptedException {
    assertEquals(
        List.of("OK", "QUEUED", "QUEUED", "1", "1"),
        run("MULTI\nINCR t\nGET t\nEXEC\n").stream().filter(line -> !line.isEmpty()).toList());
    assertEquals(
        List.of("OK", "2", "OK", "QUEUED"),
        run("WATCH t\nINCR t\nMULTI\nINCR t\nEXEC\n").stream()
            .filter(line -> !line.isEmpty())
            .toList());
    assertEquals(List.of("2"), cli("GET", "t"));
  }

  @Test
  void allAtOnceThroughAPipe() throws IOException, InterruptedException {
    List<String> said = run("*2\r\n$4\r\nINCR\r\n$1\r\np\r\n".repeat(1_000), "--pipe");
    assertEquals("errors: 0, replies: 1000", said.getLast());
    assertEquals(List.of("1000"), cli("GET", "p"));
    said = run("INCRBY p 2\r\n".repeat(1_000), "--pipe");
    assertEquals("errors: 0, replies: 1000", said.getLast());
    assertEquals(Optional.of(Reading.exact(3_000)), engine.read("p"));
  }

  @Test
  void looksAround() throws IOException, InterruptedException {
    StringBuilder sets = new StringBuilder();
    IntStream.range(0, 300).forEach(i -> sets.append("SET k:%d %d\n".formatted(i, i)));
    run(sets.toString());
    assertEquals(300, cli("--scan").stream().distinct().count());
    assertEquals(111, cli("--scan", "--pattern", "k:1*").stream().distinct().count());
    assertTrue(cli("--bigkeys").contains("Sampled 300 keys in the keyspace!"));
    List<String> info = cli("INFO");
    // --stat
    for (String field :
        List.of(
            "used_memory",
            "connected_clients",
            "blocked_clients",
            "total_commands_processed",
            "total_connections_received")) {
      assertTrue(info.stream().anyMatch(line -> line.matches(field + ":\\d+")), field);
    }
    assertTrue(info.contains("db0:keys=300,expires=0,avg_ttl=0"), info::toString);
  }

  @Test
  void countsOnAfterARestart() throws IOException, InterruptedException {
    try (ToolProcess process = tool("redis-cli")) {
      process.send("INCR a\n");
      process.awaitLine("1");
      int port = server.address().getPort();
      server.close();
      server = LikeRedisTest.serve(engine, port);
      // The first finds the connection closed; the second reconnects.
      process.send("PING\nPING\n");
      process.awaitLine("PONG");
      process.send("INCR a\n");
      process.awaitLine("2");
      process.await(0);
    }
    assertEquals(Optional.of(Reading.exact(2)), engine.read("a"));
  }

  @Test
  void benchmarks() throws IOException, InterruptedException {
    assertRan(benchmark(0, "-t", "incr,get"), "INCR: ", "GET: ");
    assertEquals(Optional.of(Reading.exact(ADDS)), engine.read("counter:__rand_int__"));
    assertRan(benchmark(0, "SET", "s", "7"), "SET s 7: ");
    assertRan(benchmark(0, "-3", "-t", "incr", "-r", "100"), "INCR: ");
    long sum = 0;
    for (int i = 0; i < 100; i++) {
      sum += engine.read("counter:%012d".formatted(i)).map(Reading::value).orElse(0L);
    }
    assertEquals(ADDS, sum);
    // Its built-in SET sends a text, which is rejected.
    assertTrue(benchmark(1, "-t", "set").getLast().contains("only integers"));
  }

  /** Checks the results; the tool overwrites its progress line with carriage returns. */
  private static void assertRan(List<String> said, String... tests) {
    for (String test : tests) {
      assertTrue(
          said.stream().anyMatch(line -> line.matches(".*" + test + "[0-9.]+ requests .*")),
          said::toString);
    }
  }
}
