package dev.quipu.server.cli.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** A store that cannot be reached hides no usage error, and its error shows no password. */
final class UnreachableStoreTest {
  private static final String STORE = "redis://127.0.0.1:1";

  private record CommandResult(int code, String text) {}

  private static CommandResult run(String command) {
    StringWriter text = new StringWriter();
    CommandLine line =
        QuipuCommand.commandLine(
            directory -> Quipu.builder().directory(directory).build(),
            new ManualClock(Clock.system().epochMillis()));
    line.setOut(new PrintWriter(text)).setErr(new PrintWriter(text));
    int code = line.execute(command.split(" ", -1));
    return new CommandResult(code, text.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "serve --store STORE --technique x       | technique",
        "serve --store STORE --window 0s         | --window",
        "serve --store STORE --shards 65         | shards",
        "serve --store STORE --floor 1           | bounds",
        "serve --store STORE --identity x        | identity 'x'",
        "serve --store STORE --also week         | --also is 'week'",
        "serve --store STORE --keep 0s           | keep is 0s",
        "serve --store STORE --age 2s            | need --cache",
        "serve --store STORE --online ring --online-window 0s | window is 0s",
        "serve --store STORE --online exact --session-key-file k | needs --online ring",
        "serve --store STORE --queue http://a|b  | --queue",
        "ingest sqs --queue http://127.0.0.1:1/q --store STORE --identity x | identity 'x'",
        "adopt STORE --technique x               | technique",
        "adopt STORE --window 0s                 | --window",
        "repair a --store STORE --shards 65      | shards",
        "verify --store STORE --technique x      | technique"
      })
  void aUsageErrorIsReported(String command, String words) {
    CommandResult result = run(command.replace("STORE", STORE));
    assertEquals(ExitCode.USAGE, result.code, result.text);
    assertTrue(result.text.contains(words), result.text);
    assertFalse(result.text.contains("127.0.0.1:1 "), result.text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://name:S3CRET@127.0.0.1:1",
        "redis://name:S3CRET@127.0.0.1:1/?nonsense=1",
        "redis://name:S3CRET@127.0.0.1:1/^",
        "redis:name:S3CRET@127.0.0.1",
        "postgresql://name:S3CRET@127.0.0.1:1/db",
        "postgresql://name:S3CRET@127.0.0.1:1/db?nonsense=1",
        "dynamodb://key:S3CRET@eu-west-1/t?nonsense=1",
        "dynamodb://key:S3CRET@eu-west-1/t^",
        "simpledb://key:S3CRET@eu-west-1/d?nonsense=1",
        "nosuch://key:S3CRET@eu-west-1/t"
      })
  void noCredentialsAreShown(String uri) {
    for (String command :
        new String[] {"explain a --store ", "adopt ", "serve --http 0 --store "}) {
      CommandResult result = run(command + uri);
      assertNotEquals(ExitCode.OK, result.code, result.text);
      assertFalse(result.text.contains("S3CRET"), result.text);
    }
  }
}
