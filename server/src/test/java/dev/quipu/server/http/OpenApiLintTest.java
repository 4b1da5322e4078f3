package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.NodeProject;
import dev.quipu.server.ToolProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The OpenAPI document follows the recommended rules of Redocly, which is from npm. */
@SuppressWarnings("NullAway.Init") // JUnit calls install before all tests
final class OpenApiLintTest {
  private static final Path DOCUMENT =
      Path.of("src/main/resources/dev/quipu/server/http/route/openapi.json").toAbsolutePath();

  private static NodeProject project;

  @BeforeAll
  static void install() throws Exception {
    project = NodeProject.install("redocly");
  }

  private static List<String> lint(Path document, int exit) throws Exception {
    List<String> command =
        List.of(
            project.node(),
            "node_modules/@redocly/cli/bin/cli.js",
            "lint",
            "--max-problems=1000",
            "--format=stylish",
            document.toString());
    try (ToolProcess process = ToolProcess.start(project.directory(), command)) {
      return process.await(exit);
    }
  }

  @Test
  void theDocumentHasNoErrorsAndNoWarnings() throws Exception {
    List<String> output = lint(DOCUMENT, 0);
    assertTrue(output.stream().noneMatch(line -> line.contains("warning  ")), output::toString);
  }

  @Test
  void anOperationWithoutIdAndADocumentWithoutServersAreFound() throws Exception {
    String text = Files.readString(DOCUMENT);
    Path wrong = project.directory().resolve("wrong.json");
    Files.writeString(
        wrong,
        text.replace("\"operationId\": \"add\",", "").replaceFirst("\"servers\": .*\n", "\n"));
    String output = String.join("\n", lint(wrong, 1));
    assertTrue(output.contains("no-empty-servers"), output);
    assertTrue(output.contains("operation-operationId"), output);
  }
}
