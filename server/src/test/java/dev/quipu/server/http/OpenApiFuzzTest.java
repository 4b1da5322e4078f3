package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Random requests that the OpenAPI document describes, and invalid ones; every answer has a
 * documented status, content type and body, and none is an internal failure. {@code -Dseed=N}
 * repeats a run.
 */
final class OpenApiFuzzTest {
  private static final int REQUESTS = 4_000;

  /** Some operations succeed rarely: only with what another one happened to store. */
  private static final int REQUESTS_MAX = 10 * REQUESTS;

  private static final Set<String> METHODS = Set.of("get", "put", "post", "delete");

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final RandomGenerator random = new Random(seed);

  private record Operation(String path, String method, JsonNode node, List<JsonNode> parameters) {}

  @Test
  void everyAnswerIsDocumented() throws Exception {
    Set<String> wrong = new TreeSet<>();
    Set<String> succeeded = new TreeSet<>();
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    List<Operation> operations;
    try (Quipu quipu = Backends.on(new MemoryDriver());
        HttpServer server =
            HttpServer.start(options, Services.of(quipu, "memory:"), Clock.system())) {
      Client client = new Client(server.address());
      JsonNode document = client.get("/openapi.json").json();
      operations = operations(document);
      for (int i = 0;
          i < REQUESTS || (i < REQUESTS_MAX && !areEnough(succeeded, operations));
          i++) {
        Operation operation = operations.get(i % operations.size());
        HttpRequest.Builder request = request(client, document, operation);
        Client.Reply reply = client.send(request);
        if (reply.status() < 300) {
          succeeded.add(operation.method() + " " + operation.path());
        }
        String why = undocumented(document, operation, reply);
        if (!why.isEmpty()) {
          wrong.add(operation.method() + " " + operation.path() + ": " + why);
        }
      }
    }
    assertEquals(Set.of(), wrong, () -> "seed " + seed + "\n" + String.join("\n", wrong));
    assertTrue(areEnough(succeeded, operations), () -> "seed " + seed + succeeded);
  }

  private static boolean areEnough(Set<String> succeeded, List<Operation> operations) {
    return succeeded.size() > operations.size() * 3 / 5;
  }

  @Test
  void anUndocumentedMemberIsFound() {
    JsonNode schema =
        JsonMapper.shared()
            .readTree(
                "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":{\"enum\":[1]}}}");
    Schema checked = new Schema(schema, schema);
    assertEquals(List.of(), checked.errors("it", JsonMapper.shared().readTree("{\"a\":1}")));
    for (String invalid : List.of("{}", "{\"a\":2}", "{\"a\":1,\"b\":1}", "[]")) {
      assertEquals(1, checked.errors("it", JsonMapper.shared().readTree(invalid)).size(), invalid);
    }
  }

  private static List<Operation> operations(JsonNode document) {
    List<Operation> all = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
      for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
        if (METHODS.contains(method.getKey())) {
          List<JsonNode> parameters =
              Stream.concat(
                      path.getValue().path("parameters").valueStream(),
                      method.getValue().path("parameters").valueStream())
                  .map(each -> Schema.resolved(document, each))
                  .toList();
          all.add(new Operation(path.getKey(), method.getKey(), method.getValue(), parameters));
        }
      }
    }
    return all;
  }

  private HttpRequest.Builder request(Client client, JsonNode document, Operation operation) {
    String path = operation.path();
    List<String> query = new ArrayList<>();
    List<String> headers = new ArrayList<>();
    for (JsonNode parameter : operation.parameters()) {
      String name = parameter.path("name").asString();
      Schema schema = new Schema(document, Schema.resolved(document, parameter.path("schema")));
      String value = schema.value(random).asString("x");
      boolean sent = random.nextInt(parameter.path("required").asBoolean(false) ? 20 : 3) > 0;
      switch (parameter.path("in").asString()) {
        case "path" ->
            path = path.replace("{" + name + "}", encoded(value.isEmpty() ? "a" : value));
        case "query" -> {
          if (sent) {
            query.add(encoded(name) + "=" + encoded(value));
          }
        }
        default -> {
          if (sent && value.matches("[!-~]+")) {
            headers.addAll(List.of(name, value));
          }
        }
      }
    }
    if (random.nextInt(40) == 0) {
      query.add("other=1");
    }
    HttpRequest.Builder request =
        client.request(path + (query.isEmpty() ? "" : "?" + String.join("&", query)));
    for (int i = 0; i < headers.size(); i += 2) {
      request.header(headers.get(i), headers.get(i + 1));
    }
    Map.Entry<String, String> body = body(document, operation);
    if (!body.getKey().isEmpty()) {
      request.header("Content-Type", random.nextInt(40) == 0 ? "text/plain" : body.getKey());
    }
    return request.method(
        operation.method().toUpperCase(Locale.ROOT),
        body.getKey().isEmpty()
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofString(body.getValue()));
  }

  /** Returns content type and text of the body; both empty without one. */
  private Map.Entry<String, String> body(JsonNode document, Operation operation) {
    for (Map.Entry<String, JsonNode> content :
        operation.node().path("requestBody").path("content").properties()) {
      Schema schema =
          new Schema(document, Schema.resolved(document, content.getValue().path("schema")));
      String text = schema.value(random).toString();
      if (content.getKey().endsWith("ndjson")) {
        text += "\n" + schema.value(random) + "\n";
      }
      if (random.nextInt(20) == 0) {
        text = text.substring(0, random.nextInt(text.length() + 1));
      }
      return Map.entry(content.getKey(), text);
    }
    return Map.entry("", "");
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Returns what of an answer is not documented; empty if nothing. */
  private static String undocumented(JsonNode document, Operation operation, Client.Reply reply) {
    String status = Integer.toString(reply.status());
    String answer = status + " " + reply.body().lines().findFirst().orElse("");
    if (reply.status() == 500) {
      return answer;
    }
    JsonNode responses = operation.node().path("responses");
    JsonNode found =
        responses.has(status) ? responses.path(status) : responses.path(status.charAt(0) + "XX");
    if (found.isMissingNode()) {
      return "status of " + answer;
    }
    JsonNode contents = Schema.resolved(document, found).path("content");
    if (reply.body().isEmpty()) {
      boolean mayBeEmpty = contents.isEmpty() || contents.has("application/x-ndjson"); // no lines
      return mayBeEmpty ? "" : "no body, status " + status;
    }
    String type = reply.headers().firstValue("Content-Type").orElse("").split(";", 2)[0];
    JsonNode content = contents.path(type);
    if (content.isMissingNode()) {
      return "type " + type + " of status " + status;
    }
    Schema schema = new Schema(document, Schema.resolved(document, content.path("schema")));
    if (type.endsWith("ndjson")) {
      return reply
          .body()
          .lines()
          .flatMap(line -> errors(schema, line).stream())
          .findFirst()
          .orElse("");
    }
    return type.endsWith("json") ? String.join("; ", errors(schema, reply.body())) : "";
  }

  private static List<String> errors(Schema schema, String text) {
    try {
      return schema.errors("body", JsonMapper.shared().readTree(text));
    } catch (JacksonException e) {
      return List.of("not JSON: " + text);
    }
  }
}
