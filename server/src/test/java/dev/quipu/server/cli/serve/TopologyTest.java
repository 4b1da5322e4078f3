package dev.quipu.server.cli.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Bounds;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.cli.output.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The topology file, and the messages for invalid ones. */
final class TopologyTest {
  private static final String STORES =
      "\"initial\": [\"eu\"], \"regions\": {\"eu\": \"redis://127.0.0.1:1\"}";

  @TempDir Path directory;

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("regions.json"), text);
  }

  @Test
  void aTopologyFileIsParsed() throws IOException {
    Topology topology =
        Topology.read(
            file(
                "{%s, \"floor\": 0, \"ceiling\": 9, \"cells\": 4, \"lease\": \"2h\", \"slack\": \"5s\"}"
                    .formatted(STORES)),
            Optional.empty());
    assertEquals(List.of("eu"), topology.initial());
    assertEquals(Bounds.between(0, 9), topology.options().bounds());
    assertEquals(4, topology.options().cells());
    assertEquals(Duration.ofHours(2), topology.terms().lease());
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> topology.open("us"));
    assertTrue(String.valueOf(e.getMessage()).contains("[eu]"), e.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[] | not a JSON object",
        "{ | is not JSON",
        "{} | fields regions and initial are required",
        "{STORES, 'flor': 0} | unknown field flor",
        "{STORES, 'floor': '0'} | field floor is not a 64-bit integer",
        "{STORES, 'floor': 3} | they must include 0",
        "{STORES, 'cells': 0} | cells is 0; it must be from 1 to 64",
        "{STORES, 'lease': 'soon'} | 'soon' is not a duration",
        "{STORES, 'lease': '10s'} | more than twice",
        "{STORES, 'technique': 'marker-item'} | it must be regional or regional-collection",
        "{STORES, 'technique': 'regional-collection', 'floor': 0} | remove field floor",
        "{STORES, 'technique': 'regional-collection', 'lease': '2h'} | remove field lease",
        "{'initial': ['eu'], 'regions': {'eu': 7}} | field regions.eu is not a string",
      },
      quoteCharacter = '`')
  void anInvalidFieldIsNamed(String text, String complaint) throws IOException {
    Path file = file(text.replace("STORES", STORES).replace('\'', '"'));
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> Topology.read(file, Optional.empty()));
    assertTrue(String.valueOf(e.getMessage()).contains(complaint), e.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "--region eu, must be used together",
    "--region eu --topology FILE --store memory:, conflict with --topology",
    "--region us --topology FILE, --region 'us' is not in the topology",
    "--store memory: --resp 0, --resp needs the engine",
    "--store memory: --memcached 0, --memcached needs the engine",
    "--store memory: --durability none, --durability needs the engine",
    "--store memory: --memory 1g, --memory needs the engine",
    "--store memory: --snapshot-after 64m, --snapshot-after needs the engine",
    "--region eu --topology FILE --memory 1g, --memory needs the engine",
    "--memory 9999g --data FILE.d, JAVA_OPTS=-Xmx1365",
    "--memory 1023k, is not a size of at least 1m",
    "--snapshot-after 15m --data FILE.d, --snapshot-after is 15 MiB; it must be at least 16 MiB",
    "--memory 512, use a format such as 512m or 4g",
    "--durability sometimes, is not a durability",
    "--durability interval=0s, it must be from",
    "--durability interval=9999999ms, is 9999999ms",
    "--memcached 70000 --data FILE.d, it must be from 0 to 65535",
    "--tls-cert FILE, must be used together",
    "--tls-cert FILE --tls-key FILE, cannot encrypt with",
  })
  void serveRejectsConflictingOptions(String options, String complaint) throws IOException {
    String path = file("{%s}".formatted(STORES)).toString();
    StringWriter err = new StringWriter();
    CommandLine line = QuipuCommand.commandLine().setErr(new PrintWriter(err));
    String all = "serve --http 0 " + options.replace("FILE", path);
    assertEquals(ExitCode.USAGE, line.execute(all.split(" ", -1)));
    assertTrue(err.toString().contains(complaint), err.toString());
  }
}
