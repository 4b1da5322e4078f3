package dev.quipu.server.http.route;

import dev.quipu.Counters;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.backend.CounterThresholds.Direction;
import dev.quipu.backend.CounterThresholds.Status;
import dev.quipu.backend.CounterThresholds.Threshold;
import dev.quipu.backend.EmbeddedEngine;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.webhook.Webhooks;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Serves thresholds.
 *
 * @param webhooks delivers their crossings; empty if it is off
 */
record ThresholdRoutes(Counters counters, Optional<Webhooks> webhooks) {
  private static final String OFF =
      "webhooks are off; start the server with --webhook-allow HOST and --webhook-secret-file FILE";

  /** PUT /v1/thresholds/{id} */
  HttpReply put(Exchange exchange) {
    JsonBody body = exchange.json(Set.of("counter", "prefix", "at", "direction", "webhook"));
    CounterThresholds thresholds = thresholds();
    Webhooks sending = webhooks.orElseThrow(() -> Problem.badRequest(OFF));
    Threshold threshold = threshold(exchange.variable(), body);
    sending.check(threshold.webhook());
    boolean isNew = thresholds.put(threshold);
    sending.defined(threshold.id());
    Status status =
        thresholds.get(threshold.id()).orElseGet(() -> new Status(threshold, 0, 0)); // removed
    return HttpReply.json(isNew ? 201 : 200, members(status));
  }

  private static Threshold threshold(String id, JsonBody body) {
    boolean isPrefix = body.has("prefix");
    if (isPrefix == body.has("counter")) {
      throw Problem.badRequest("send one of the fields counter and prefix");
    }
    return new Threshold(
        id,
        isPrefix,
        body.text(isPrefix ? "prefix" : "counter"),
        body.decimal("at"),
        direction(body.text("direction")),
        webhook(body.text("webhook")));
  }

  private static Direction direction(String text) {
    return switch (text) {
      case "up" -> Direction.UP;
      case "down" -> Direction.DOWN;
      default ->
          throw Problem.badRequest(
              "field direction is '%s'; it must be up or down".formatted(text));
    };
  }

  private static URI webhook(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw Problem.badRequest(
          "field webhook is not an address; send one such as https://hooks.example.com/stock");
    }
  }

  /** GET /v1/thresholds/{id} */
  HttpReply read(Exchange exchange) {
    exchange.allowParameters(Set.of());
    return HttpReply.json(
        200,
        members(
            thresholds()
                .get(exchange.variable())
                .orElseThrow(() -> Problem.notFound("no threshold " + exchange.variable()))));
  }

  /** GET /v1/thresholds */
  HttpReply list(Exchange exchange) {
    exchange.allowParameters(Set.of());
    return HttpReply.json(
        200, Map.of("thresholds", thresholds().list().stream().map(this::members).toList()));
  }

  /** DELETE /v1/thresholds/{id} */
  HttpReply delete(Exchange exchange) {
    exchange.allowParameters(Set.of());
    boolean unused = thresholds().remove(exchange.variable()); // a repeat is not an error
    webhooks.ifPresent(each -> each.defined(exchange.variable()));
    return HttpReply.text(204, "text/plain", "");
  }

  private CounterThresholds thresholds() {
    return counters
        .as(EmbeddedEngine.class)
        .map(EmbeddedEngine::thresholds)
        .orElseThrow(() ->
            new UnsupportedOperationException("only the engine has thresholds (serve --data)"));
  }

  private Map<String, Object> members(Status status) {
    Threshold threshold = status.threshold();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", threshold.id());
    members.put(threshold.isPrefix() ? "prefix" : "counter", threshold.selector());
    members.put("at", threshold.at().toString());
    members.put("direction", threshold.direction().toString());
    members.put("webhook", threshold.webhook().toString());
    members.put("waiting", status.waiting());
    members.put("missed", status.missed());
    if (webhooks.isEmpty()) {
      members.put("failing", Map.of("reason", OFF));
    }
    webhooks
        .flatMap(each -> each.failing(threshold.id()))
        .ifPresent(failing -> {
          Map<String, Object> why = new LinkedHashMap<>();
          why.put("reason", failing.reason());
          why.put("attempts", failing.attempts());
          why.put("since", failing.since().toString());
          members.put("failing", why);
        });
    return members;
  }
}
