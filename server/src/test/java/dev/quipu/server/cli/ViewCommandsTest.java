package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Quipu;
import dev.quipu.layer.Store;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewAggregates.StoredView;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Commands that read views of a data directory or of a store. */
final class ViewCommandsTest {
  private static final String PAGE = "myblog.com/article1";
  private static final Instant TIME = Instant.parse("2022-03-28T13:17:23Z");

  @TempDir Path data;

  private record CommandResult(int code, String out, String err) {}

  private static CommandResult run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = QuipuCommand.commandLine();
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int code = line.execute(arguments);
    return new CommandResult(code, out.toString(), err.toString());
  }

  private static String lines(String... lines) {
    return String.join(System.lineSeparator(), lines) + System.lineSeparator();
  }

  @Test
  void aggregatesOfADirectoryArePrinted() {
    try (Quipu quipu = Quipu.builder().directory(data).build()) {
      LocalDate day = LocalDate.parse("2026-11-24");
      quipu
          .part(ViewAggregates.class)
          .add(
              List.of(
                  new StoredView("1", PAGE, day, Optional.of(10L)),
                  new StoredView("2", PAGE, day, Optional.of(5L)),
                  new StoredView("3", "myblog.com/b", day.plusDays(1), Optional.empty())));
    }
    String directory = data.toString();
    assertEquals(lines("2\t2\t15\t7.5"), run("aggregates", PAGE, "--data", directory).out);
    assertEquals(
        lines("3\t2\t15\t7.5"), run("aggregates", "--site", "myblog.com", "--data", directory).out);
    String[] ofDay = {
      "aggregates", "--site", "myblog.com", "--day", "2026-11-25", "--data", directory
    };
    assertEquals(lines("1\t0\t0\t-"), run(ofDay).out);
    assertEquals(1, run("aggregates", "nothing", "--data", directory).code);
    assertEquals(2, run("aggregates", PAGE, "--data", directory + "/missing").code);
  }

  @Test
  void viewsOfADirectoryAreReadByTheirIdentity() {
    try (Quipu quipu = Quipu.builder().directory(data).build()) {
      ViewCounter views =
          new ViewCounter(quipu.part(Store.class), ViewOptions.EXACT.by(ViewIdentity.CLIENT));
      views.add(new ViewEvent(PAGE, TIME, "a"));
      views.add(new ViewEvent(PAGE, TIME.plusSeconds(1), "b"));
    }
    String directory = data.toString();
    assertEquals(lines("2"), run("views", PAGE, "--data", directory).out);
    assertEquals("", run("views", PAGE, "--events", "--data", directory).out);
    String[] events = {"views", PAGE, "--events", "--identity", "client", "--data", directory};
    assertEquals(lines("2022-03-28T13:17:23Z\ta", "2022-03-28T13:17:24Z\tb"), run(events).out);
    CommandResult wrong = run("views", PAGE, "--identity", "client");
    assertEquals(2, wrong.code);
    assertTrue(wrong.err.contains("--identity requires --data or --store"), wrong.err);
    assertEquals(2, run("views", PAGE, "--identity", "odd", "--data", directory).code);
  }

  /** See {@code ViewsLayoutTest} for all that is recognized. */
  @Test
  void viewsOfATableOfAnotherProgramAreRead() {
    Optional<DynamoDbServer> started = DynamoDbServer.start();
    assumeTrue(started.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    try (DynamoDbServer server = started.orElseThrow()) {
      String store =
          "dynamodb://key:secret@us-east-1/BlogData?endpoint=%s&layout=views&timeoutMillis=60000"
              .formatted(server.endpoint());
      assertEquals(1, run("views", PAGE, "--store", store).code);
      try (DynamoDbClient client =
          DynamoDbClient.builder()
              .region(Region.US_EAST_1)
              .endpointOverride(server.endpoint())
              .credentialsProvider(
                  StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
              .build()) {
        put(client, "STATISTICS", Map.of("views", AttributeValue.fromN("32")));
        put(client, "T#2022-03-28T13:17:23+00:00#CID#adid", Map.of());
      }
      assertEquals(lines("32"), run("views", PAGE, "--store", store).out);
      assertEquals(
          lines("2022-03-28T13:17:23Z\tadid"),
          run("views", PAGE, "--events", "--store", store).out);
      assertEquals(2, run("views", PAGE, "--store", store, "--data", data.toString()).code);
      assertEquals(2, run("views", PAGE, "--store", "engine:" + data).code);
      CommandResult unknown = run("views", PAGE, "--store", store.replace("=views", "=odd"));
      assertEquals(2, unknown.code);
      assertTrue(unknown.err.contains("known: quipu, views"), unknown.err);
    }
  }

  private static void put(
      DynamoDbClient client, String sort, Map<String, AttributeValue> attributes) {
    Map<String, AttributeValue> item = new HashMap<>(attributes);
    item.put("PK", AttributeValue.fromS("URL#" + PAGE));
    item.put("SK", AttributeValue.fromS(sort));
    client.putItem(request -> request.tableName("BlogData").item(item));
  }
}
