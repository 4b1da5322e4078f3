package dev.quipu.server.http.route;

import dev.quipu.display.DisplayCounters;
import dev.quipu.display.DisplayReading;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Serves display counters over HTTP. */
record DisplayRoutes(DisplayCounters display) {
  /** POST /v1/display/{name}/view */
  HttpReply view(Exchange exchange) {
    exchange.allowParameters(Set.of());
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", exchange.variable());
    display
        .view(exchange.variable(), exchange.idempotencyKey())
        .ifPresent(value -> members.put("value", Long.toString(value)));
    return HttpReply.json(200, members);
  }

  /** GET /v1/display/{name} */
  HttpReply read(Exchange exchange) {
    exchange.allowParameters(Set.of());
    String name = exchange.variable();
    DisplayReading reading =
        display.read(name).orElseThrow(() -> Problem.notFound("never viewed: " + name));
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("value", reading.text(reading.value()));
    members.put("low", reading.text(reading.low()));
    members.put("high", reading.text(reading.high()));
    members.put("asOf", reading.asOf().toString());
    return HttpReply.json(200, members);
  }
}
