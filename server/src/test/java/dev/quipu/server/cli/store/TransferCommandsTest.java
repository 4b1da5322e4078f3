package dev.quipu.server.cli.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.Operation;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code quipu export --all} and {@code quipu import --format directory}. */
final class TransferCommandsTest {
  private static final String VIEW =
      "192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] \"GET /p HTTP/1.1\" 200 1 \"-\" \"x\"\n";

  @TempDir Path temporary;
  private Path data = Path.of("");
  private Path copy = Path.of("");
  private Path file = Path.of("");

  @BeforeEach
  void name() {
    data = temporary.resolve("data");
    copy = temporary.resolve("copy");
    file = temporary.resolve("all.json");
  }

  private static String done(Object... arguments) {
    CommandResult result = CommandResult.run(arguments);
    assertEquals(0, result.code(), result.toString());
    return result.out().strip();
  }

  /** Counts in every way that a data directory has. */
  private void count() throws IOException {
    Path log = Files.writeString(temporary.resolve("access.log"), VIEW);
    done("add", "likes", "3", "--id", "one", "--data", data);
    done("add", "likes", "4", "--data", data);
    done("add", "stock", "-2", "--floor", "-2", "--id", "bounded", "--data", data);
    done("outcome", "likes", "never", "--cancel", "--data", data);
    done("online", "lobby", "--seen", "ann", "--data", data);
    done("next", "invoices", "--payload", "Zoë 1 €", "--id", "first", "--data", data);
    done("revise", "books", "insert", "b1", "--payload", "Quipu", "--data", data);
    done("job", "mails", "--last", "3", "--data", data, "--", "true");
    done("import", "--format", "combined-log", log, "--data", data);
    try (Engine engine = Engine.open(data, EngineOptions.defaults())) {
      engine.run(List.of(new Setting()));
    }
  }

  /** Sets a text, as the Redis protocol does. */
  private record Setting() implements Operation {
    @Override
    public int bytesMax(CounterAccess counters) {
      return CounterAccess.bytesMax(1, 100);
    }

    @Override
    public void on(CounterAccess counters) {
      counters.setText("session", "abc".getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean isDone() {
      return true;
    }

    @Override
    public void failed(RuntimeException why) {
      throw why;
    }
  }

  /** Everything that commands show of a directory; the calls change nothing. */
  private List<String> shown(Path directory) {
    Path log = temporary.resolve("access.log");
    List<String> shown = new ArrayList<>();
    shown.add(done("list", "--data", directory));
    shown.add(
        CommandResult.run("add", "likes", "3", "--id", "one", "--data", directory).toString());
    shown.add(
        CommandResult.run(
                "add", "stock", "-2", "--floor", "-2", "--id", "bounded", "--data", directory)
            .toString());
    shown.add(
        CommandResult.run("add", "likes", "9", "--id", "never", "--data", directory).toString());
    shown.add(done("online", "lobby", "--data", directory));
    shown.add(
        done("next", "invoices", "--payload", "Zoë 1 €", "--id", "first", "--data", directory));
    shown.add(done("sequence", "invoices", "--from", "1", "--data", directory));
    shown.add(done("revisions", "books", "--data", directory));
    shown.add(done("job", "mails", "--data", directory));
    shown.add(done("views", "/p", "--data", directory));
    shown.add(done("import", "--format", "combined-log", log, "--data", directory));
    shown.add(done("export", "--data", directory));
    return shown;
  }

  @Test
  void everythingIsTheSame() throws Exception {
    count();
    Files.writeString(file, done("export", "--all", "--data", data) + "\n");
    assertTrue(Files.readString(file).contains("\"base64\":\"YWJj\""));
    List<String> before = shown(data);
    assertTrue(before.get(1).contains("replayed"), before.toString());
    assertTrue(before.get(10).contains("0 counted now, 1 counted before"), before.toString());
    String said = done("import", "--format", "directory", file, "--data", copy);
    assertTrue(said.endsWith(" entries imported"), said);
    assertEquals(before, shown(copy));
    assertTrue(done("check", "--data", copy).contains("sound"));
    assertEquals("2", done("next", "invoices", "--payload", "two", "--data", copy));
  }

  @Test
  void errorsNameTheLineAndTheRemedy() throws Exception {
    count();
    List<String> lines = done("export", "--all", "--data", data).lines().toList();
    Files.write(file, lines.subList(0, lines.size() - 1));
    CommandResult.run("import", "--format", "directory", file, "--data", copy)
        .expectError(2, "the end is missing: the export is incomplete; the directory was not");
    Files.writeString(file, String.join("\n", lines).replace("\"value\":\"7\"", "\"value\":7"));
    CommandResult.run("import", "--format", "directory", file, "--data", copy)
        .expectError(2, "line 2: value: not a string; the directory was not created");
    Files.writeString(file, String.join("\n", lines).replace("\"value\":\"7\"", "\"value\":\"8\""));
    CommandResult.run("import", "--format", "directory", file, "--data", copy)
        .expectError(2, "the file is damaged or was edited; export again; the directory was not");
    assertFalse(Files.exists(copy));
    try (OutputStream zipped = new GZIPOutputStream(Files.newOutputStream(file))) {
      zipped.write((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
    }
    done("import", "--format", "directory", file, "--data", temporary.resolve("unzipped"));
    CommandResult.run("import", "--format", "directory", file, "--data", file)
        .expectError(2, "is a file; specify a new directory");
    CommandResult.run("export", "--all").expectError(2, "--all requires --data DIR");
    CommandResult.run("import", "--format", "directory", file)
        .expectError(2, "--format directory requires --data DIR; use a new directory");
    CommandResult.run("import", "--format", "directory", file, "--data", data)
        .expectError(2, "is not empty; specify a new directory");
    CommandResult.run("export", "--all", "--data", copy).expectError(2, "is not a data directory");
  }
}
