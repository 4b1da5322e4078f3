package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.testservers.Tool;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;

/** Tests the template of the sample: AWS's specification of its resources, and what it replies. */
final class TemplateTest {
  private static final Path TEMPLATE = Path.of("../samples/lambda-views/template.yaml");
  private static final Path SCRIPTS = Path.of("src/test/template");
  private static final Path INSTALLED = Path.of("target/template");

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  TemplateTest() {}

  private static String tool(String name) {
    Optional<String> found = Tool.find(name);
    assumeTrue(found.isPresent(), "no npm on this machine: ./dev deps installs it");
    return found.orElseThrow();
  }

  /** Installs the specification of AWS, which is part of its CDK. */
  @BeforeAll
  static void install() throws IOException, InterruptedException {
    Files.createDirectories(INSTALLED);
    for (String file : List.of("package.json", "lint.mjs")) {
      Files.copy(
          SCRIPTS.resolve(file), INSTALLED.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
    List<String> command =
        List.of(
            tool("npm"),
            "install",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts");
    try (ToolProcess process = ToolProcess.start(INSTALLED, command)) {
      process.await(0);
    }
  }

  private static List<String> lint(Path template, int exit)
      throws IOException, InterruptedException {
    List<String> command =
        List.of(tool("node"), "lint.mjs", template.toAbsolutePath().normalize().toString());
    try (ToolProcess process = ToolProcess.start(INSTALLED, command)) {
      return process.await(exit);
    }
  }

  @Test
  void theTemplateMeetsTheSpecification() throws Exception {
    assertEquals(List.of("9 resources, 0 errors"), lint(TEMPLATE, 0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "AWS::SQS::Queue           | AWS::SQS::Cue         | Dead: unknown type AWS::SQS::Cue",
        "VisibilityTimeout: 180    | VisibilityTime: 180   | unknown property VisibilityTime",
        "VisibilityTimeout: 180    | VisibilityTimeout: x  | is not of type integer",
        "StreamViewType: NEW_IMAGE | Tags: []              | StreamViewType is required",
        "AssumeRolePolicyDocument: | AssumeRolePolicy:     | AssumeRolePolicyDocument is required",
        "FunctionResponseTypes: [  | ResponseTypes: [      | unknown property ResponseTypes",
        "Stream: !GetAtt           | Streams: !GetAtt      | Stream is required",
        "Type: DynamoDB            | Type: Dynamo          | unknown type of event Dynamo",
        "DeletionPolicy: Retain    | Deletion: Retain      | Table: unknown member Deletion",
        "QueueUrl: !Ref Queue      | QueueUrl: !Ref Queues | no resource or parameter Queues",
        "!GetAtt Queue.Arn         | !GetAtt Queue.ARN     | AWS::SQS::Queue has no attribute ARN",
        "P${KeepDays}D             | P${KeepWeeks}D        | no resource or parameter KeepWeeks",
        "Outputs:                  | Output:               | template: unknown member Output"
      })
  void aBrokenTemplateIsRejected(String from, String to, String error) throws Exception {
    String text = Files.readString(TEMPLATE);
    String broken = text.replaceFirst(Pattern.quote(from), Matcher.quoteReplacement(to));
    assertNotEquals(text, broken);
    Path copy = Files.writeString(directory.resolve("template.yaml"), broken);
    List<String> lines = lint(copy, 1);
    assertTrue(lines.stream().anyMatch(line -> line.endsWith(error)), () -> lines + "");
  }

  /** The answer of SQS, 200, is mapped to 202 without a function in between. */
  @Test
  void theGatewayPutsAViewIntoTheQueueAndAnswers202() throws IOException {
    Node template = new Yaml().compose(new StringReader(Files.readString(TEMPLATE)));
    assertEquals("AWS::Serverless::HttpApi", text(template, "Resources", "Api", "Type"));
    Node api = at(template, "Resources", "Api", "Properties", "DefinitionBody");
    Node post = at(api, "paths", "/v1/views", "post");
    Node integration = at(post, "x-amazon-apigateway-integration");
    assertEquals("SQS-SendMessage", text(integration, "integrationSubtype"));
    assertEquals("$request.body", text(integration, "requestParameters", "MessageBody"));
    assertEquals("Queue", text(integration, "requestParameters", "QueueUrl"));
    assertEquals("202", text(integration, "responseParameters", "200", "overwrite:statuscode"));
    assertEquals(List.of("202"), keys(at(post, "responses")));
    assertEquals(List.of("200"), keys(at(integration, "responseParameters")));
    Node role = at(template, "Resources", "ApiRole");
    assertEquals("ApiRole.Arn", text(integration, "credentials"));
    assertEquals("AWS::IAM::Role", text(role, "Type"));
  }

  private static List<String> keys(Node mapping) {
    return ((MappingNode) mapping)
        .getValue().stream().map(each -> ((ScalarNode) each.getKeyNode()).getValue()).toList();
  }

  private static String text(Node from, String... path) {
    return ((ScalarNode) at(from, path)).getValue();
  }

  private static Node at(Node from, String... path) {
    Node node = from;
    for (String name : path) {
      List<NodeTuple> members = ((MappingNode) node).getValue();
      node =
          members.stream()
              .filter(each -> ((ScalarNode) each.getKeyNode()).getValue().equals(name))
              .findFirst()
              .orElseThrow(() -> new AssertionError("no member " + name))
              .getValueNode();
    }
    return node;
  }
}
