package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.testkit.pace.Progress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that backs up its data while it counts. */
final class BackupIT {
  @TempDir Path temporary;

  private QuipuProcess serve(String data, String... more) throws Exception {
    String[] options = new String[more.length + 2];
    options[0] = "--data";
    options[1] = temporary.resolve(data).toString();
    System.arraycopy(more, 0, options, 2, more.length);
    return QuipuProcess.serve(temporary.resolve("out"), options);
  }

  private int run(String... command) throws Exception {
    return QuipuProcess.run(temporary.resolve("out"), command).waitFor();
  }

  private void restore(String name) throws Exception {
    String to = temporary.resolve(name).toString();
    String from = temporary.resolve("backup").toString();
    assertEquals(0, run("check", "--data", from));
    assertEquals(0, run("restore", "--from", from, "--data", to));
  }

  /** Adds 1 under a thousand ids; returns how many of them were replayed. */
  private static long addThousand(QuipuProcess server, int batch) throws Exception {
    String lines =
        IntStream.range(0, 1_000)
            .mapToObj(
                "{\"name\":\"a\",\"delta\":1,\"id\":\"%d-%%d\"}\n".formatted(batch)::formatted)
            .collect(Collectors.joining());
    String body = server.sendLines("/v1/counters/bulk", lines).body();
    assertEquals(1_000, body.lines().filter(line -> line.contains("\"status\":200")).count(), body);
    return body.lines().filter(line -> line.contains("\"replayed\":true")).count();
  }

  private static String value(QuipuProcess server) throws Exception {
    return server.send("/v1/counters/a", "").body();
  }

  @Test
  void whatTheBackupHasSurvivesTheLossOfTheDisk() throws Exception {
    String target = temporary.resolve("backup").toString();
    try (QuipuProcess server = serve("data", "--backup-to", target)) {
      for (int i = 0; i < 20; i++) {
        assertEquals(0, addThousand(server, i));
      }
      Progress.await(
          "backup",
          () -> server.send("/metrics", "").body().contains("quipu_backup_lag_seconds 0.0"));
    } // killed
    restore("restored");
    try (QuipuProcess server = serve("restored")) {
      assertTrue(value(server).contains("\"value\":\"20000\""), value(server));
      assertEquals(1_000, addThousand(server, 7));
      assertEquals(0, addThousand(server, 20));
      assertTrue(value(server).contains("\"value\":\"21000\""), value(server));
    }
  }

  @Test
  void aStoppedServerHasBackedUpEverything() throws Exception {
    String target = temporary.resolve("backup").toString();
    try (QuipuProcess server = serve("data", "--backup-to", target)) {
      assertEquals(0, addThousand(server, 0));
      server.process().toHandle().destroy();
      assertEquals(0, server.process().waitFor());
    }
    restore("restored");
    try (QuipuProcess server = serve("restored")) {
      assertEquals(1_000, addThousand(server, 0));
    }
  }

  @Test
  void aFailedRunIsReportedAndRepeated() throws Exception {
    Path target = temporary.resolve("backup");
    Path aside = temporary.resolve("aside");
    try (QuipuProcess server = serve("data", "--backup-to", target.toString())) {
      assertEquals(0, addThousand(server, 0));
      Files.move(target, aside);
      Files.createFile(target); // as a share that is not mounted
      assertEquals(0, addThousand(server, 1));
      Progress.await("failure", () -> server.said().toString().contains("Backup failed"));
      assertTrue(server.send("/metrics", "").body().contains("quipu_backup_failures_total"));
      assertEquals(200, server.send("/readyz", "").status());
      Files.delete(target);
      Files.move(aside, target);
      Progress.await("again", () -> server.said().toString().contains("complete again"));
    }
    restore("restored");
    try (QuipuProcess server = serve("restored")) {
      assertEquals(1_000, addThousand(server, 1));
    }
  }

  @Test
  void aServerWithoutAnEngineOrWithABadTargetDoesNotStart() throws Exception {
    String data = temporary.resolve("data").toString();
    String out = temporary.resolve("data/backup").toString();
    assertEquals(2, run("serve", "--http=0", "--store=memory:", "--backup-to", out));
    assertEquals(2, run("serve", "--http=0", "--data", data, "--backup-to", out));
  }
}
