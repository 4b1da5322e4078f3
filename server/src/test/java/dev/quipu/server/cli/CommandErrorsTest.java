package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Quipu;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.testservers.Tool;
import dev.quipu.time.Clock;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The message and the exit code of a command that fails state what to do. */
final class CommandErrorsTest {
  @TempDir Path temporary;

  /** Runs a command, which must end with this code, and returns its standard error. */
  private static String errorOf(int code, String... arguments) {
    StringWriter err = new StringWriter();
    CommandLine line = QuipuCommand.commandLine(arguments);
    line.setErr(new PrintWriter(err));
    assertEquals(code, line.execute(arguments), err::toString);
    return err.toString();
  }

  private static void assertContains(String expected, String text) {
    assertTrue(text.contains(expected), text);
  }

  @Test
  void aMissingAndAWrongTokenAreDistinct() throws Exception {
    HttpOptions options =
        HttpOptions.defaults().at("127.0.0.1", 0, Optional.of("0123456789abcdef"), false);
    Path wrong = Files.writeString(temporary.resolve("token"), "fedcba9876543210\n");
    try (Quipu quipu = Quipu.builder().directory(temporary.resolve("data")).build();
        HttpServer server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system())) {
      String url = "http://127.0.0.1:" + server.address().getPort();
      assertEquals(
          "quipu: the server %s requires a token; set the server's by --token-file or QUIPU_TOKEN\n"
              .formatted(url),
          errorOf(ExitCode.DENIED, "add", "a", "1", "--server", url));
      for (String command : new String[] {"add a 1", "get a", "set a 1", "list", "hits list a"}) {
        String[] words = (command + " --token-file " + wrong + " --server " + url).split(" ", -1);
        assertEquals(
            "quipu: the server %s does not accept this token; set the server's by %s\n"
                .formatted(url, "--token-file or QUIPU_TOKEN"),
            errorOf(ExitCode.DENIED, words));
      }
    }
  }

  @Test
  void aDirectoryInUseIsDenied() {
    String directory = temporary.resolve("data").toString();
    try (Quipu quipu = Quipu.builder().directory(Path.of(directory)).build()) {
      assertTrue(quipu.counter("a").add(1).isApplied());
      assertContains(directory, errorOf(ExitCode.DENIED, "get", "a", "--data", directory));
    }
  }

  @Test
  void unknownWordsAreAnsweredByThePossibleOnes() {
    assertContains("--server", errorOf(ExitCode.USAGE, "get", "a", "--sever", "http://x"));
    assertEquals(
        """
        quipu: Unknown option: '--nope'
        Options: --ca, --config, --data, --help, --json, --server, --token-file, --version
        Try: quipu get --help
        """,
        errorOf(ExitCode.USAGE, "get", "a", "--nope"));
    assertEquals(
        """
        quipu: unknown command 'liste'
        Did you mean: hits list or hits delete?
        Try: quipu hits --help
        """,
        errorOf(ExitCode.USAGE, "hits", "liste"));
    assertContains("or", errorOf(ExitCode.USAGE, "help", "serv"));
    for (String store : new String[] {"engine:DIR", "memory:", "redis", "postgresql"}) {
      assertContains(store, errorOf(ExitCode.USAGE, "serve", "--store", "nope://x"));
    }
    assertContains("memory", errorOf(ExitCode.USAGE, "advise", "--store", "nope"));
  }

  @ParameterizedTest
  @CsvSource({
    "serve --durability x, 'fsync, interval=TIME or none'",
    "serve --store memory: --after-unknown x, give-up or retry",
    "serve --also x, 'site, day or both'",
    "serve --identity x, 'event, client, client-day, hash'",
    "serve --online x, '[exact, ring, approximate]'",
    "serve --on-failure x, '[exit, serve]'",
    "serve --log x, '[json, text]'",
    "serve --store memory: --technique x, 'atomic-add, optimistic'",
    "serve --store memory: --technique marker-item --markers x, 'counter, partition or table:NAME'",
    "import file --format x, combined-log, ndjson or directory",
    "commands x, 'http, redis or memcached'",
    "completion tcsh, '[bash, zsh, fish]'",
  })
  void anUnknownValueIsAnsweredByThePossibleOnes(String command, String values) {
    assertContains(values, errorOf(ExitCode.USAGE, command.split(" ", -1)));
  }

  @Test
  void helpShowsACommandBelowAnother() {
    for (String path : new String[] {"get", "hits list", ""}) {
      StringWriter out = new StringWriter();
      String[] words = ("help " + path).split(" ");
      CommandLine line = QuipuCommand.commandLine(words);
      line.setOut(new PrintWriter(out));
      assertEquals(ExitCode.OK, line.execute(words));
      assertTrue(out.toString().startsWith(("Usage: quipu " + path).strip() + " ["), out::toString);
    }
    assertContains("unknown command 'nope'", errorOf(ExitCode.USAGE, "help", "hits", "nope"));
  }

  @Test
  void anUnreachableServerIsNamed() throws Exception {
    int port;
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }
    String url = "http://127.0.0.1:" + port;
    assertEquals(
        "quipu: gave up after 1 attempt: no server at %s; start one: quipu serve\n".formatted(url),
        errorOf(ExitCode.UNREACHABLE, "add", "a", "1", "--server", url));
  }

  @Test
  void anErrorIsJsonIfTheResultIs() {
    String usage = errorOf(ExitCode.USAGE, "add", "a", "x", "--json");
    assertContains("{\"error\":{\"exit\":2,\"type\":\"usage\",\"message\":\"Invalid value", usage);
    Path data = temporary.resolve("data");
    assertEquals(
        "no such counter: a\n", errorOf(ExitCode.FAILED, "get", "a", "--data", emptyAt(data)));
    assertEquals(
        "{\"error\":{\"exit\":1,\"type\":\"failed\",\"message\":\"no such counter: a\"}}\n",
        errorOf(ExitCode.FAILED, "get", "a", "--json", "--data", data.toString()));
    String url = "http://127.0.0.1:1";
    JsonNode error =
        JsonMapper.shared()
            .readTree(errorOf(ExitCode.UNREACHABLE, "get", "a", "--json", "--server", url))
            .path("error");
    assertEquals(6, error.path("exit").asInt());
    assertEquals("unreachable", error.path("type").asString());
    assertEquals(
        "no server at %s; start one: quipu serve".formatted(url), error.path("message").asString());
  }

  private static String emptyAt(Path data) {
    Quipu.builder().directory(data).build().close();
    return data.toString();
  }

  @Test
  void fishCompletesCommandsOptionsAndValues() throws Exception {
    Optional<String> fish = Tool.find("fish");
    assumeTrue(fish.isPresent(), "no fish on this machine: ./dev deps installs it");
    StringWriter script = new StringWriter();
    CommandLine line = QuipuCommand.commandLine("completion", "fish");
    line.setOut(new PrintWriter(script));
    assertEquals(ExitCode.OK, line.execute("completion", "fish"));
    Path file = Files.writeString(temporary.resolve("quipu.fish"), script.toString());
    assertContains("serve\tStart the server", complete(fish.get(), file, "quipu se"));
    assertContains("--durability\t", complete(fish.get(), file, "quipu serve --du"));
    assertContains("json", complete(fish.get(), file, "quipu serve --log "));
    assertContains("insert", complete(fish.get(), file, "quipu hits in"));
    assertEquals("", complete(fish.get(), file, "quipu get --durab"));
  }

  private static String complete(String fish, Path script, String typed) throws Exception {
    Process process =
        new ProcessBuilder(
                fish,
                "--no-config",
                "-c",
                "source $argv[1]; complete -C $argv[2]",
                script.toString(),
                typed)
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    return output;
  }
}
