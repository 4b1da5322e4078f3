package dev.quipu.server.http.route;

import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.backend.CounterHistory;
import dev.quipu.backend.CounterHistory.Point;
import dev.quipu.backend.CounterHistory.Sum;
import dev.quipu.backend.EmbeddedEngine;
import dev.quipu.backend.ScaledCounters;
import dev.quipu.engine.history.HistoryStep;
import dev.quipu.hits.HitLog;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.technique.ItemCollection;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;

/** Serves values at past boundaries. */
record HistoryRoutes(Counters counters, Supplier<ViewCounter> viewCounter, Clock clock) {
  private static final Set<String> PARAMETERS = Set.of("from", "to", "step", "tz");
  private static final Duration PERIOD = Duration.ofDays(1);
  private static final String DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}";

  /** Memory of a bucket in a response. */
  private static final int BUCKET_BYTES = 160;

  /** The boundaries of a request: the start of the first bucket, and the end of each. */
  private record Period(HistoryStep step, List<Instant> boundaries) {}

  /** GET /v1/counters/{name}/history */
  HttpReply values(Exchange exchange) {
    exchange.allowParameters(PARAMETERS);
    Optional<HitLog> hits = counters.as(HitLog.class);
    Optional<ItemCollection> changes = counters.as(ItemCollection.class);
    if (hits.isPresent() || changes.isPresent()) {
      return stored(exchange, hits, changes);
    }
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
    return replyOf("name", exchange.variable(), period, values);
  }

  /** Returns the patterns of the counters whose past is kept. */
  static List<String> patterns(Counters counters) {
    if (counters.as(HitLog.class).isPresent() || counters.as(ItemCollection.class).isPresent()) {
      return List.of("*");
    }
    return counters
        .as(EmbeddedEngine.class)
        .map(engine -> engine.history().patterns())
        .orElse(List.of());
  }

  private HttpReply stored(
      Exchange exchange, Optional<HitLog> hits, Optional<ItemCollection> changes) {
    String name = Limits.checkText("name", exchange.variable(), Limits.NAME_BYTES_MAX);
    Period period = period(exchange);
    StoredChanges stored = new StoredChanges(exchange, period.boundaries);
    int scale = ScaledCounters.scale(counters, name);
    return replyOfSteps(
        "name",
        name,
        period,
        hits.isPresent()
            ? stored.hits(hits.get(), name, scale)
            : stored.changes(changes.orElseThrow(), name, scale));
  }

  /** GET /v1/views/history */
  HttpReply views(Exchange exchange) {
    exchange.allowParameters(Set.of("from", "to", "step", "tz", "url"));
    String url = exchange.requiredParameter("url");
    Period period = period(exchange);
    ViewCounter views = viewCounter.get();
    if (views.count(url).isEmpty()) {
      throw Problem.notFound("never viewed: " + url);
    }
    Instant keptSince =
        views
            .options()
            .keep()
            .map(time -> Instant.ofEpochMilli(clock.epochMillis()).minus(time))
            .orElse(Instant.EPOCH);
    return replyOfSteps(
        "url",
        url,
        period,
        new StoredChanges(exchange, period.boundaries).views(views, url, keptSince));
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
    return replyOf("prefix", prefix, period, history.sums(prefix, period.boundaries));
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
                "neither this store nor its technique keeps the past; the engine does (serve"
                    + " --history), and the techniques item-collection and hit-log"));
  }

  private Period period(Exchange exchange) {
    HistoryStep step = step(exchange);
    Optional<Instant> end = time(exchange, "to");
    Instant now = Instant.ofEpochMilli(clock.epochMillis());
    Instant to = end.orElse(now);
    Optional<Instant> begin = time(exchange, "from");
    Instant from = begin.orElse(to.minus(PERIOD));
    if (!from.isBefore(now)) {
      throw Problem.badRequest(
          begin.isPresent()
              ? "query parameter from is in the future"
              : "query parameter to is more than a day in the future; set from, too");
    }
    if (!from.isBefore(to)) {
      throw Problem.badRequest("query parameter from is not before to");
    }
    List<Instant> boundaries = new ArrayList<>();
    long endMillis = to.toEpochMilli();
    long at = step.floor(from.toEpochMilli());
    boundaries.add(Instant.ofEpochMilli(at));
    while (at < endMillis) {
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
            Instant time = text.matches(DATE) ? start(exchange, text) : Instant.parse(text);
            return Instant.ofEpochMilli(time.toEpochMilli());
          } catch (DateTimeException | ArithmeticException e) {
            throw Problem.badRequest(
                "query parameter %s is '%s'; it must be a time like 2026-11-29T00:00:00Z, or a date"
                    .formatted(parameter, text));
          }
        });
  }

  /** Returns the start of a day in the time zone of a request. */
  private static Instant start(Exchange exchange, String date) {
    return LocalDate.parse(date).atStartOfDay(step(exchange).zone()).toInstant();
  }

  private HttpReply replyOf(String field, String name, Period period, List<Sum> values) {
    return reply(
        field,
        name,
        period,
        (json, i) -> {
          if (values.get(i + 1).isKnown()) {
            write(json, values.get(i), values.get(i + 1));
          }
        });
  }

  private HttpReply replyOfSteps(
      String field, String name, Period period, List<StoredChanges.Step> steps) {
    return reply(
        field,
        name,
        period,
        (json, i) -> {
          StoredChanges.Step step = steps.get(i);
          step.change()
              .ifPresent(change -> json.writeStringProperty("change", change.toPlainString()));
          step.since().ifPresent(since -> json.writeStringProperty("since", since.toString()));
        });
  }

  /**
   * Returns the reply with all buckets.
   *
   * @param members writes what is known of the bucket with an index
   */
  private HttpReply reply(
      String field, String name, Period period, ObjIntConsumer<JsonGenerator> members) {
    long now = clock.epochMillis();
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeStringProperty(field, name);
          json.writeStringProperty("step", period.step.toString());
          json.writeArrayPropertyStart("buckets");
          for (int i = 0; i < period.boundaries.size() - 1; i++) {
            json.writeStartObject();
            json.writeStringProperty("from", period.boundaries.get(i).toString());
            members.accept(json, i);
            if (period.boundaries.get(i + 1).toEpochMilli() > now) {
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
