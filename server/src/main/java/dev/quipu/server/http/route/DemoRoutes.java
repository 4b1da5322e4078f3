package dev.quipu.server.http.route;

import dev.quipu.server.demo.Demo;
import dev.quipu.server.demo.Mishap;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;

/** Serves what failures do to techniques: a request has the whole run, and nothing is kept. */
final class DemoRoutes {
  /** Maximum number of runs at a time, each of which takes up to seconds of processor time. */
  private static final int RUNS_MAX = 2;

  private static final Semaphore RUNNING = new Semaphore(RUNS_MAX);

  private DemoRoutes() {}

  /** GET /v1/demo */
  static HttpReply run(Exchange exchange) {
    exchange.allowParameters(Set.of("seed", "techniques", "actions"));
    List<String> techniques =
        exchange.parameter("techniques").map(DemoRoutes::words).orElse(Demo.TECHNIQUES);
    List<Mishap> actions =
        words(exchange.requiredParameter("actions")).stream().map(Mishap::named).toList();
    List<Demo.Step> steps = run(seed(exchange), techniques, actions);
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeArrayPropertyStart("techniques");
          for (String each : techniques) {
            json.writeStartObject();
            json.writeStringProperty("name", each);
            json.writeStringProperty("afterLostReply", Demo.afterLostReply(each));
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeArrayPropertyStart("steps");
          for (Demo.Step step : steps) {
            json.writeStartObject();
            json.writeStringProperty("action", step.mishap().word());
            json.writeStringProperty("what", step.mishap().text());
            json.writeNumberProperty("true", step.truth());
            json.writeArrayPropertyStart("counts");
            for (Demo.Count each : step.counts()) {
              json.writeStartObject();
              json.writeStringProperty("technique", each.technique());
              json.writeNumberProperty("value", each.value());
              json.writeNumberProperty("attempts", each.attempts());
              json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  private static List<Demo.Step> run(long seed, List<String> techniques, List<Mishap> actions) {
    if (!RUNNING.tryAcquire()) {
      throw Problem.tooManyDemos(RUNS_MAX);
    }
    try {
      return Demo.run(seed, techniques, actions);
    } finally {
      RUNNING.release();
    }
  }

  private static long seed(Exchange exchange) {
    String text = exchange.parameter("seed").orElse("1");
    if (!text.matches("[0-9]{1,15}")) {
      throw Problem.badRequest(
          "query parameter seed is '%s'; it must be an integer of up to 15 digits".formatted(text));
    }
    return Long.parseLong(text);
  }

  private static List<String> words(String text) {
    return Arrays.asList(text.split(",", -1));
  }
}
