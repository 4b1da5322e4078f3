package dev.quipu.server.http.route;

import dev.quipu.Counters;
import dev.quipu.Reading;
import dev.quipu.backend.CounterHistory;
import dev.quipu.backend.CounterHistory.Point;
import dev.quipu.backend.CounterHistory.Sum;
import dev.quipu.backend.EmbeddedEngine;
import dev.quipu.engine.history.HistoryStep;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.time.Clock;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/** Serves values at past boundaries. */
record HistoryRoutes(Counters counters, Clock clock) {
  private static final Set<String> PARAMETERS = Set.of("from", "to", "step", "tz");
  private static final Duration PERIOD = Duration.ofDays(1);

  /** Memory of a bucket in a response. */
  private static final int BUCKET_BYTES = 160;

  /** The boundaries of a request: the start of the first bucket, and the end of each. */
  private record Period(HistoryStep step, List<Instant> boundaries) {}

  /** GET /v1/counters/{name}/history */
  HttpReply values(Exchange exchange) {
    exchange.allowParameters(PARAMETERS);
    CounterHistory history = history();
    Period period = period(exchange);
    List<Point> points = history.values(exchange.variable(), period.boundaries);
    List<Sum> values =
        points.stream()
            .map(each ->
                new Sum(
                    each.at(),
                    each.isKnown(),
                    each.reading().map(HistoryRoutes::decimal),
                    each.since()))
            .toList();
    return reply("name", exchange.variable(), period, values);
  }

  private static BigDecimal decimal(Reading reading) {
    return new BigDecimal(reading.text(reading.value()));
  }

  /** GET /v1/history */
  HttpReply sums(Exchange exchange) {
    exchange.allowParameters(Set.of("from", "to", "step", "tz", "prefix"));
    CounterHistory history = history();
    Period period = period(exchange);
    String prefix = exchange.parameter("prefix").orElse("");
    return reply("prefix", prefix, period, history.sums(prefix, period.boundaries));
  }

  private CounterHistory history() {
    return history(counters);
  }

  /** Returns the past of counters. */
  static CounterHistory history(Counters counters) {
    return counters
        .as(EmbeddedEngine.class)
        .map(EmbeddedEngine::history)
        .orElseThrow(() ->
            new UnsupportedOperationException(
                "only the engine keeps values of the past; the techniques item-collection and"
                    + " hit-log keep changes (/v1/changes, /v1/hits)"));
  }

  private Period period(Exchange exchange) {
    HistoryStep step = step(exchange);
    Instant to = time(exchange, "to").orElse(Instant.ofEpochMilli(clock.epochMillis()));
    Instant from = time(exchange, "from").orElse(to.minus(PERIOD));
    if (!from.isBefore(to)) {
      throw Problem.badRequest("query parameter from is not before to");
    }
    List<Instant> boundaries = new ArrayList<>();
    long end = to.toEpochMilli();
    long at = step.floor(from.toEpochMilli());
    boundaries.add(Instant.ofEpochMilli(at));
    while (at < end) {
      at = step.next(at);
      boundaries.add(Instant.ofEpochMilli(at));
      if (boundaries.size() > CounterHistory.BOUNDARIES_MAX) {
        throw Problem.badRequest(
            "more than %d buckets from %s to %s; use a longer step or a shorter period"
                .formatted(CounterHistory.BOUNDARIES_MAX - 1, from, to));
      }
    }
    exchange.reserve((long) boundaries.size() * BUCKET_BYTES);
    return new Period(step, boundaries);
  }

  /** Returns the step of a request, in its time zone. */
  static HistoryStep step(Exchange exchange) {
    HistoryStep step = HistoryStep.parse(exchange.parameter("step").orElse("hour"));
    return exchange
        .parameter("tz")
        .map(zone -> new HistoryStep(step.unit(), HistoryStep.zone(zone)))
        .orElse(step);
  }

  /** Returns the time in a query parameter. */
  static Optional<Instant> time(Exchange exchange, String parameter) {
    return exchange
        .parameter(parameter)
        .map(text -> {
          try {
            Instant time = Instant.parse(text);
            return Instant.ofEpochMilli(time.toEpochMilli());
          } catch (DateTimeException | ArithmeticException e) {
            throw Problem.badRequest(
                "query parameter %s is '%s'; it must be a time like 2026-11-29T00:00:00Z"
                    .formatted(parameter, text));
          }
        });
  }

  private HttpReply reply(String field, String name, Period period, List<Sum> values) {
    long now = clock.epochMillis();
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeStringProperty(field, name);
          json.writeStringProperty("step", period.step.toString());
          json.writeArrayPropertyStart("buckets");
          for (int i = 1; i < values.size(); i++) {
            json.writeStartObject();
            json.writeStringProperty("from", period.boundaries.get(i - 1).toString());
            if (values.get(i).isKnown()) {
              write(json, values.get(i - 1), values.get(i));
            }
            if (period.boundaries.get(i).toEpochMilli() > now) {
              json.writeBooleanProperty("complete", false);
            }
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeStringProperty("to", period.boundaries.getLast().toString());
          json.writeEndObject();
        });
  }

  private static void write(JsonGenerator json, Sum before, Sum after) {
    after.sum().ifPresent(value -> json.writeStringProperty("value", value.toPlainString()));
    if (before.isKnown() || before.since().isPresent()) {
      BigDecimal change =
          after.sum().orElse(BigDecimal.ZERO).subtract(before.sum().orElse(BigDecimal.ZERO));
      json.writeStringProperty("change", change.toPlainString());
    }
    before.since().ifPresent(since -> json.writeStringProperty("since", since.toString()));
  }
}
