package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code quipu watch} on a real server, also over its restart. */
@SuppressWarnings("NullAway.Init") // JUnit calls start before each test
final class WatchCommandTest {
  @TempDir Path directory;
  private Quipu quipu;
  private HttpServer server;
  private int port;

  @BeforeEach
  void start() throws IOException {
    quipu = Backends.on(Engine.open(directory, EngineOptions.defaults()));
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", port, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "engine:"), Clock.system());
    port = server.address().getPort();
  }

  @AfterEach
  void stop() {
    server.close();
    quipu.close();
  }

  private void add(String name, long delta) {
    var unused = quipu.counter(name).add(delta);
  }

  private static void await(BooleanSupplier condition) {
    assertTimeoutPreemptively(
        Progress.STALL_MAX,
        () -> {
          while (!condition.getAsBoolean()) {
            Thread.sleep(5);
          }
        });
  }

  /** Runs the command in a thread of its own, until it ends by its limit. */
  private CompletableFuture<Integer> run(StringWriter out, String... options) {
    CommandLine line = QuipuCommand.commandLine();
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(out));
    String[] all = new String[options.length + 3];
    all[0] = "watch";
    all[1] = "--server";
    all[2] = "http://127.0.0.1:" + port;
    System.arraycopy(options, 0, all, 3, options.length);
    return CompletableFuture.supplyAsync(() -> line.execute(all));
  }

  @Test
  void presentCountersAndChangesArePrinted() {
    add("a/1", 5);
    add("b", 1);
    StringWriter out = new StringWriter();
    CompletableFuture<Integer> code = run(out, "a/", "--limit", "3");
    await(() -> out.toString().equals("5\ta/1\n"));
    add("a/1", 1);
    await(() -> out.toString().equals("5\ta/1\n6\ta/1\n"));
    quipu.counter("a/1").delete();
    assertEquals(0, code.join());
    assertEquals("5\ta/1\n6\ta/1\n-\ta/1\n", out.toString());
  }

  @Test
  void itGoesOnAfterARestartOfTheServer() throws IOException {
    add("a", 5);
    StringWriter out = new StringWriter();
    CompletableFuture<Integer> code = run(out, "--json", "--limit", "3");
    await(() -> out.toString().equals("{\"name\":\"a\",\"value\":\"5\"}\n"));
    stop();
    await(() -> out.toString().contains("the connection was lost; waiting for the server"));
    start();
    add("a", 2);
    await(() -> out.toString().contains("\"7\""));
    assertTrue(out.toString().contains("connected again"), out.toString());
    assertTrue(out.toString().contains("\n{\"reset\":true}\n{"), out.toString());
    await(() -> {
      add("a", 1); // until the limit is reached
      return code.isDone();
    });
    assertEquals(0, code.join());
  }

  @Test
  void changesThatWereMissedAreStated() throws IOException {
    StringWriter out = new StringWriter();
    CompletableFuture<Integer> code = run(out, "--changes", "--limit", "2");
    await(() -> {
      add("a", 1); // until the command is connected
      return out.toString().contains("\ta\n");
    });
    stop();
    start();
    await(() -> out.toString().contains("connected again"));
    await(() -> {
      add("b", 1);
      return code.isDone();
    });
    assertEquals(0, code.join());
    assertTrue(out.toString().contains("connected again\nmissed\n"), out.toString());
  }

  @Test
  void wrongTargetsAreErrors() {
    StringWriter out = new StringWriter();
    CommandLine line = QuipuCommand.commandLine();
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(out));
    stop();
    assertEquals(2, line.execute("watch", "--data", directory.toString()));
    assertTrue(out.toString().contains("quipu serve --data DIR"), out.toString());
    StringWriter none = new StringWriter();
    assertEquals(6, run(none).join());
    assertTrue(none.toString().contains("no server at"), none.toString());
    StringWriter limit = new StringWriter();
    assertEquals(2, run(limit, "--limit", "0").join());
    assertTrue(limit.toString().contains("--limit is 0; the minimum is 1"), limit.toString());
  }
}
