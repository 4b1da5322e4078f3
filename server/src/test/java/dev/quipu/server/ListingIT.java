package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.resp.RawClient;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lists of many counters in small heaps: neither side holds all names for a listing. */
final class ListingIT {
  private static final int COUNTERS = 400_000;
  private static final String PREFIX = "a/name/that/is/rather/long/for/a/counter/";

  /** Twice what the counters take. */
  private static final String SERVER_HEAP = "96m";

  /** Less than half of what a list of the names would take. */
  private static final String CLIENT_HEAP = "24m";

  @TempDir Path temporary;

  private static String name(int i) {
    return PREFIX + "%07d".formatted(i);
  }

  @Test
  void listExportAndScanTakeBoundedMemory() throws Exception {
    Path file = temporary.resolve("lines");
    try (var lines = Files.newBufferedWriter(file)) {
      for (int i = 0; i < COUNTERS; i++) {
        lines.write("{\"name\":\"%s\",\"delta\":%d,\"id\":\"%d\"}\n".formatted(name(i), i + 1, i));
      }
    }
    try (QuipuProcess server =
        QuipuProcess.serveAt(
            0,
            Map.of(QuipuProcess.HEAP, SERVER_HEAP),
            temporary.resolve("out"),
            "--data",
            temporary.resolve("data").toString(),
            "--resp",
            "0",
            "--window",
            "1m", // ids of adds are not what is measured
            "--durability",
            "none")) {
      run(server, "import", "--format", "ndjson", file.toString());
      checkLines(run(server, "list"), false);
      checkLines(run(server, "export"), true);
      scan(server.redisPort());
    }
  }

  private Path run(QuipuProcess server, String... arguments) throws Exception {
    Path out = Files.createTempFile(temporary, "out", "");
    Process process =
        QuipuProcess.runWith(
            Map.of(QuipuProcess.HEAP, CLIENT_HEAP, "QUIPU_SERVER", server.uri().toString()),
            out,
            arguments);
    assertEquals(0, process.waitFor(), () -> String.join(" ", arguments));
    return out;
  }

  private static void checkLines(Path out, boolean isExport) throws Exception {
    try (BufferedReader lines = Files.newBufferedReader(out)) {
      for (int i = 0; i < COUNTERS; i++) {
        String expected =
            isExport
                ? "{\"name\":\"%s\",\"value\":\"%d\"}".formatted(name(i), i + 1)
                : (i + 1) + "\t" + name(i);
        assertEquals(expected, lines.readLine());
      }
      assertEquals(null, lines.readLine());
    }
  }

  private static void scan(int port) throws Exception {
    BitSet found = new BitSet(COUNTERS);
    try (RawClient client = new RawClient(port)) {
      String cursor = "0";
      do {
        String[] lines = client.ask("SCAN " + cursor + " COUNT 10000").split("\r\n", -1);
        assertEquals("*2", lines[0]);
        cursor = lines[2];
        for (int i = 5; i < lines.length; i += 2) {
          assertTrue(lines[i].startsWith(PREFIX), lines[i]);
          int number = Integer.parseInt(lines[i].substring(PREFIX.length()));
          assertTrue(!found.get(number), lines[i]);
          found.set(number);
        }
      } while (!cursor.equals("0"));
    }
    assertEquals(COUNTERS, found.cardinality());
  }
}
