package dev.quipu.server.cli.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.server.cli.output.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code quipu backup}, {@code restore} and {@code check}, beside the process that counts. */
final class BackupCommandsTest {
  @TempDir Path temporary;
  private Path data = Path.of("");
  private Path target = Path.of("");
  private Path copy = Path.of("");

  @BeforeEach
  void name() {
    data = temporary.resolve("data");
    target = temporary.resolve("backup");
    copy = temporary.resolve("copy");
  }

  private static JsonNode json(Object... arguments) {
    CommandResult result = CommandResult.run(arguments);
    assertEquals(0, result.code(), result.toString());
    return JsonMapper.builder().build().readTree(result.out());
  }

  private static void add(Quipu quipu, String id) {
    var unused = quipu.counters().add(new Add("a", 1, RequestId.of(id)));
  }

  private static void expectValue(String value, Path directory) {
    CommandResult result = CommandResult.run("get", "a", "--data", directory);
    assertEquals(value, result.out().strip(), result.toString());
  }

  @Test
  void positionsAndTimesAreRestored() throws Exception {
    long position;
    Instant between;
    try (Quipu quipu = Quipu.builder().directory(data).build()) {
      add(quipu, "one");
      JsonNode first = json("backup", "--data", data, "--to", target, "--json");
      position = first.path("position").asLong();
      assertEquals(1, first.path("commands").asLong());
      between = Instant.parse(first.path("time").asString());
      while (!Instant.now().isAfter(between.plusMillis(50))) {
        Thread.onSpinWait();
      }
      add(quipu, "two");
      CommandResult second = CommandResult.run("backup", "--data", data, "--to", target);
      assertEquals(0, second.code(), second.toString());
      assertTrue(second.out().contains("backed up position " + (position + 1)), second.out());
    }
    CommandResult check = CommandResult.run("check", "--data", target);
    assertEquals(0, check.code(), check.toString());
    assertTrue(check.out().contains("restored: 0 to " + (position + 1)), check.out());
    assertEquals(0, CommandResult.run("restore", "--from", target, "--data", copy).code());
    expectValue("2", copy);
    Path atPosition = temporary.resolve("position");
    JsonNode restored =
        json("restore", "--from", target, "--at", position, "--data", atPosition, "--json");
    assertEquals(position, restored.path("position").asLong());
    expectValue("1", atPosition);
    assertTrue(
        CommandResult.run("add", "a", "1", "--id", "one", "--data", atPosition)
            .out()
            .contains("replayed"));
    Path atTime = temporary.resolve("time");
    CommandResult time =
        CommandResult.run("restore", "--from", target, "--at", between, "--data", atTime);
    assertEquals(0, time.code(), time.toString());
    expectValue("1", atTime);
  }

  @Test
  void whatCannotBeDoneIsRejectedWithTheReason() throws Exception {
    CommandResult.run("backup", "--data", data, "--to", target)
        .expectError(ExitCode.USAGE, data + " is not a data directory");
    assertFalse(Files.exists(target));
    CommandResult.run("add", "a", "1", "--data", data);
    CommandResult.run("restore", "--from", target, "--data", copy)
        .expectError(ExitCode.USAGE, target + " is not a backup");
    assertEquals(0, CommandResult.run("backup", "--data", data, "--to", target).code());
    CommandResult.run("backup", "--data", target, "--to", copy)
        .expectError(ExitCode.USAGE, target + " is not a data directory");
    CommandResult.run("backup", "--data", data, "--to", data)
        .expectError(ExitCode.USAGE, data + " is in the data directory " + data);
    CommandResult.run("restore", "--from", target, "--at", "yesterday", "--data", copy)
        .expectError(ExitCode.USAGE, "--at is 'yesterday'; use a position, such as 1234, or");
    CommandResult.run("restore", "--from", target, "--at", "99", "--data", copy)
        .expectError(ExitCode.USAGE, "position 99 is outside the backup");
    CommandResult.run("restore", "--from", target, "--at", "2001-01-01T00:00:00Z", "--data", copy)
        .expectError(ExitCode.USAGE, "is outside the backup");
    CommandResult.run("restore", "--from", target, "--data", data)
        .expectError(ExitCode.USAGE, data + " is not empty; specify a new directory");
    CommandResult.run("get", "a", "--data", target)
        .expectError(ExitCode.USAGE, "is a backup; restore it to a data directory");
    CommandResult.run("salvage", "--data", target).expectError(ExitCode.USAGE, "is a backup");
    assertFalse(Files.exists(copy));
    expectValue("1", data);
  }

  @Test
  void aFileInPlaceOfADirectoryIsAnError() throws Exception {
    CommandResult.run("add", "a", "1", "--data", data);
    Path file = Files.createFile(temporary.resolve("file"));
    CommandResult.run("backup", "--data", data, "--to", file.resolve("below"))
        .expectError(ExitCode.UNREACHABLE, "cannot back up " + data + " to " + file);
    CommandResult.run("backup", "--data", data, "--to", file)
        .expectError(ExitCode.UNREACHABLE, "cannot back up " + data + " to " + file);
    assertEquals(0, CommandResult.run("backup", "--data", data, "--to", target).code());
    CommandResult.run("restore", "--from", target, "--data", file.resolve("below"))
        .expectError(ExitCode.UNREACHABLE, "cannot restore " + target + " to " + file);
  }

  @Test
  void aDamagedBackupIsReported() throws Exception {
    CommandResult.run("add", "a", "1", "--data", data);
    assertEquals(0, CommandResult.run("backup", "--data", data, "--to", target).code());
    Path log = target.resolve("log/0000000000000001.log");
    byte[] bytes = Files.readAllBytes(log);
    bytes[bytes.length - 10] ^= 1;
    Files.write(log, bytes);
    CommandResult check = CommandResult.run("check", "--data", target);
    check.expectError(ExitCode.DAMAGED, "back up to a new directory");
    assertTrue(check.out().contains(log.toString()), check.out());
    CommandResult.run("restore", "--from", target, "--data", copy)
        .expectError(ExitCode.DAMAGED, log.toString());
    assertFalse(Files.exists(copy));
  }
}
