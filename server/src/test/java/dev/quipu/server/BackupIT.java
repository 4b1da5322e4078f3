package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.testkit.pace.Progress;
import dev.quipu.testservers.S3Server;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
      awaitBackup(server);
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

  private QuipuProcess serveToBucket(String data, String uri) throws Exception {
    return QuipuProcess.serveAt(
        0,
        S3Server.ENVIRONMENT,
        temporary.resolve("out"),
        "--data",
        temporary.resolve(data).toString(),
        "--backup-to",
        uri);
  }

  private int runWithBucket(String... command) throws Exception {
    return QuipuProcess.runWith(S3Server.ENVIRONMENT, temporary.resolve("out"), command).waitFor();
  }

  @Test
  void aBucketHasACopyOfTheBackup() throws Exception {
    try (S3Server s3 = S3Server.start(temporary.resolve("s3"))) {
      String uri = s3.bucket("backups", "shop/1");
      Path own = temporary.resolve("data.backup");
      try (QuipuProcess server = serveToBucket("data", uri)) {
        for (int i = 0; i < 10; i++) {
          assertEquals(0, addThousand(server, i));
          awaitBackup(server);
        }
      } // killed
      assertEquals(0, runWithBucket("check", "--data", uri));
      remove(temporary.resolve("data"));
      remove(own);
      String restored = temporary.resolve("restored").toString();
      assertEquals(0, runWithBucket("restore", "--from", uri, "--data", restored));
      try (QuipuProcess server = serve("restored")) {
        assertTrue(value(server).contains("\"value\":\"10000\""), value(server));
        assertEquals(1_000, addThousand(server, 7));
      }
      String other = temporary.resolve("other").toString();
      assertEquals(0, runWithBucket("add", "a", "1", "--data", other));
      assertEquals(2, runWithBucket("backup", "--data", other, "--to", uri), "another directory");
      flip(s3.bucketDirectory("backups").resolve("shop/1"));
      assertEquals(4, runWithBucket("check", "--data", uri), "a damaged object");
    }
  }

  @Test
  void aLostCopyBesideTheDirectoryIsFetchedFromTheBucket() throws Exception {
    try (S3Server s3 = S3Server.start(temporary.resolve("s3"))) {
      String uri = s3.bucket("backups", "shop");
      String data = temporary.resolve("data").toString();
      for (int i = 0; i < 3; i++) {
        assertEquals(0, runWithBucket("add", "a", "1", "--data", data));
        assertEquals(0, runWithBucket("backup", "--data", data, "--to", uri));
        remove(temporary.resolve("data.backup"));
      }
      for (int position = 1; position <= 3; position++) {
        String at = Integer.toString(position);
        String restored = temporary.resolve("at" + at).toString();
        assertEquals(
            0, runWithBucket("restore", "--from", uri, "--at", at, "--data", restored), at);
        Path out = temporary.resolve("value" + at);
        assertEquals(0, QuipuProcess.run(out, "get", "a", "--data", restored).waitFor());
        assertEquals(at, Files.readString(out).strip());
      }
    }
  }

  @Test
  void aBucketThatIsUnreachableDelaysTheBackupOnly() throws Exception {
    S3Server s3 = S3Server.start(temporary.resolve("s3"));
    String uri = s3.bucket("backups", "");
    try (QuipuProcess server = serveToBucket("data", uri)) {
      assertEquals(0, addThousand(server, 0));
      awaitBackup(server);
      s3.close();
      assertEquals(0, addThousand(server, 1));
      Progress.await("failure", () -> server.said().toString().contains("Backup failed"));
      assertEquals(0, addThousand(server, 2));
    } finally {
      s3.close();
    }
    try (QuipuProcess server = serveToBucket("data", uri)) { // as after a crash meanwhile
      assertEquals(0, addThousand(server, 3));
      Progress.await("failure", () -> server.said().toString().contains("Backup failed"));
    }
    Path fresh = temporary.resolve("fresh");
    assertEquals(6, runWithBucket("serve", "--http=0", "--data=" + fresh, "--backup-to=" + uri));
    assertEquals(
        6, runWithBucket("restore", "--from", uri, "--data", temporary.resolve("x").toString()));
    assertTrue(Files.notExists(temporary.resolve("x")));
    assertEquals(2, runWithBucket("check", "--data", "s3://b_d/x"), "not a bucket");
  }

  private static void awaitBackup(QuipuProcess server) throws Exception {
    Progress.await(
        "backup",
        () -> server.send("/metrics", "").body().contains("quipu_backup_lag_seconds 0.0"));
  }

  private static void remove(Path directory) throws Exception {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  /** Flips a bit in the log. */
  private static void flip(Path backup) throws Exception {
    try (Stream<Path> files = Files.walk(backup.resolve("log"))) {
      Path file = files.filter(Files::isRegularFile).findFirst().orElseThrow();
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length / 2] ^= 1;
      Files.write(file, bytes);
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
