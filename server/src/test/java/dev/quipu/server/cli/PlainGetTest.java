package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The short way to read a counter prints what the command prints, or leaves it to the command. */
final class PlainGetTest {
  @Test
  void itReadsWhatTheCommandReads() throws Exception {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (MemoryDriver driver = new MemoryDriver();
        Quipu quipu = Backends.on(driver);
        HttpServer server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system())) {
      String url = "http://127.0.0.1:" + server.address().getPort();
      Map<String, String> environment = Map.of("QUIPU_SERVER", url);
      List<String> names = List.of("a", "b c", "d/e", "ключ", "100%", "f+g", "..", "?x=1");
      long value = Long.MIN_VALUE;
      for (String name : names) {
        Add add = new Add(name, value++, Bounds.none(), null);
        assertEquals(add.delta(), quipu.counters().add(add).orElseThrow().value());
        assertEquals(Optional.of(command("get", name, "--server", url)), get(environment, name));
      }
      assertEquals(Optional.empty(), get(environment, "none"));
      assertEquals(Optional.empty(), get(environment, ""));
      assertEquals(Optional.empty(), get(environment, "--json"));
      assertEquals(Optional.empty(), get(environment, "@file"));
      assertEquals(Optional.empty(), PlainGet.value(environment, "get", "a", "b c"));
      assertEquals(Optional.empty(), PlainGet.value(environment, "add", "a"));
      assertEquals(
          Optional.empty(), get(Map.of("QUIPU_SERVER", url, "QUIPU_TOKEN", "0".repeat(16)), "a"));
    }
  }

  @Test
  void itLeavesTheUnusualToTheCommand() throws Exception {
    assertEquals(
        Optional.of("5"),
        answered("{\"name\":\"a\",\"value\":\"5\",\"low\":\"5\",\"high\":\"5\"}"));
    assertEquals(
        Optional.empty(),
        answered("{\"name\":\"a\",\"value\":\"5\",\"low\":\"4\",\"high\":\"5\"}"));
    assertEquals(
        Optional.empty(),
        answered("{\"name\":\"b\",\"value\":\"5\",\"low\":\"5\",\"high\":\"5\"}"));
    assertEquals(Optional.empty(), answered("<html>"));
    assertEquals(Optional.empty(), answered(""));
    assertEquals(Optional.empty(), get(Map.of("QUIPU_SERVER", "https://127.0.0.1:1"), "a"));
    assertEquals(Optional.empty(), get(Map.of("QUIPU_SERVER", "http://127.0.0.1:1"), "a"));
    assertEquals(Optional.empty(), get(Map.of("QUIPU_SERVER", "127.0.0.1:7080"), "a"));
    assertEquals(Optional.empty(), get(Map.of("QUIPU_SERVER", "no url"), "a"));
  }

  private static Optional<String> get(Map<String, String> environment, String name) {
    return PlainGet.value(environment, "get", name);
  }

  private static Optional<String> answered(String body) throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      Thread server = Thread.ofVirtual().start(() -> answer(socket, body));
      String url = "http://127.0.0.1:" + socket.getLocalPort();
      Optional<String> value = get(Map.of("QUIPU_SERVER", url), "a");
      server.join();
      return value;
    }
  }

  private static void answer(ServerSocket socket, String body) {
    try (Socket client = socket.accept()) {
      client.getInputStream().read(new byte[10_000]);
      String reply =
          "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
              .formatted(body.length(), body);
      client.getOutputStream().write(reply.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String command(String... arguments) {
    StringWriter out = new StringWriter();
    QuipuCommand.commandLine(arguments).setOut(new PrintWriter(out)).execute(arguments);
    return out.toString().strip();
  }
}
