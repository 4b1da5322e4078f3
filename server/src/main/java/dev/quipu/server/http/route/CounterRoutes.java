package dev.quipu.server.http.route;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Decimal;
import dev.quipu.Holds;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetRequest;
import dev.quipu.SetResult;
import dev.quipu.Uncertainty;
import dev.quipu.backend.ScaledCounters;
import dev.quipu.server.http.message.Bulk;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.Failures;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Lines;
import dev.quipu.server.http.message.Problem;
import dev.quipu.technique.Attributed;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.io.SerializedString;

/**
 * Serves counters over HTTP.
 *
 * @param observed makes an add that is not one of {@code counters}, and reports it
 */
record CounterRoutes(
    Counters counters,
    Function<Supplier<AddResult>, AddResult> observed,
    Balances balances,
    RankRoutes ranks,
    Failures failures) {
  static final String ADD = "/v1/counters/{name}/add";
  static final String BULK = "/v1/counters/bulk";

  private static final Set<String> FIELDS = Set.of("delta", "floor", "ceiling", "attributes");
  private static final Set<String> FIELDS_OF_A_LINE =
      Set.of("name", "delta", "floor", "ceiling", "id", "decimal");

  /** Names that are encoded once. */
  private static final SerializedString STATUS = new SerializedString("status");

  private static final SerializedString NAME = new SerializedString("name");

  private static final SerializedString VALUE = new SerializedString("value");
  private static final SerializedString ADDED = new SerializedString("added");
  private static final SerializedString REPLAYED = new SerializedString("replayed");

  /** Holds the place of a reply. */
  private static final Bulk.Reply NONE = json -> {};

  private static final int PAGE_COUNTERS = 100;

  /** Memory of a counter in a response: its name twice, and its members. */
  static final int LISTED_BYTES = 2 * Limits.NAME_BYTES_MAX + 512;

  /** Memory of a body of names while it is decoded and parsed, for each of its bytes. */
  private static final long PARSED_FACTOR = 4;

  /** POST /v1/counters/{name}/add */
  HttpReply add(Exchange exchange) {
    try {
      JsonBody body = addBody(exchange);
      Add add = read(exchange, body);
      Map<String, String> attributes = attributes(body);
      AddResult result =
          attributes.isEmpty()
              ? counters.add(add)
              : observed.apply(() -> attributed(add, attributes));
      return reply(add, result);
    } catch (RuntimeException e) {
      throw failed(exchange.variable(), e);
    }
  }

  /** The same, as a part of a group. */
  Optional<Route.Part> part(Exchange exchange) {
    try {
      JsonBody body = addBody(exchange);
      Add add = read(exchange, body);
      return attributes(body).isEmpty()
          ? Optional.of(new Route.Part(add, result -> reply(add, result)))
          : Optional.empty();
    } catch (RuntimeException e) {
      throw failed(exchange.variable(), e);
    }
  }

  private HttpReply reply(Add add, ItemResult result) {
    try {
      return reply(add, result.result());
    } catch (RuntimeException e) {
      throw failed(add.counter(), e);
    }
  }

  private static JsonBody addBody(Exchange exchange) {
    return exchange.json(FIELDS);
  }

  private static Add read(Exchange exchange, JsonBody body) {
    RequestId id = exchange.idempotencyKey().orElse(null);
    return read(exchange.variable(), body, id, exchange.isInUnits());
  }

  private static Map<String, String> attributes(JsonBody body) {
    return body.members("attributes", Attributed.ATTRIBUTES_MAX);
  }

  /** Returns the reply for an add that was applied; throws the problem of another result. */
  HttpReply reply(Add add, AddResult result) {
    AddResult.Success done = success(add, result);
    HttpReply reply = HttpReply.written(200, json -> write(json, add, done, false));
    return result instanceof AddResult.Replayed ? reply.with("Idempotent-Replayed", "true") : reply;
  }

  private Problem failed(String name, RuntimeException e) {
    return failures.problem(e, ADD).ofWrite().with("name", name); // as in a bulk
  }

  private AddResult attributed(Add add, Map<String, String> attributes) {
    return ScaledCounters.around(counters, add, inUnits -> attributed().add(inUnits, attributes));
  }

  private Attributed attributed() {
    return counters
        .as(Attributed.class)
        .orElseThrow(() ->
            new UnsupportedOperationException(
                "attributes are stored by marker-item and item-collection, without shards, on a"
                    + " store other than the engine"));
  }

  /** POST /v1/counters/bulk */
  HttpReply bulk(Exchange exchange) {
    return Bulk.reply(exchange, Limits.BULK_ADDS_MAX, lines -> addLines(lines, exchange));
  }

  private List<Bulk.Reply> addLines(List<Lines.Line> lines, Exchange exchange) {
    List<Bulk.Reply> replies = new ArrayList<>();
    List<Add> adds = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    boolean inUnits = exchange.isInUnits();
    for (Lines.Line line : lines) {
      try {
        JsonBody body = line.json(FIELDS_OF_A_LINE);
        RequestId id = body.optionalText("id").map(RequestId::of).orElse(null);
        boolean isDecimal = body.flag("decimal"); // a client may send both kinds in one request
        adds.add(read(body.text("name"), body, id, inUnits && !isDecimal));
        places.add(replies.size());
        replies.add(NONE);
      } catch (RuntimeException e) { // of this line alone
        Map<String, Object> reply = failed(e);
        reply.put("line", line.number());
        replies.add(Bulk.Reply.of(reply));
      }
    }
    List<ItemResult> results = counters.addAll(adds, exchange::mayBegin, exchange::mayWait);
    for (int i = 0; i < places.size(); i++) {
      replies.set(places.get(i), line(adds.get(i), results.get(i)));
    }
    return replies;
  }

  private Bulk.Reply line(Add add, ItemResult result) {
    try {
      AddResult.Success done = success(add, result.result());
      return json -> write(json, add, done, true);
    } catch (RuntimeException e) {
      Map<String, Object> line = failed(e);
      line.put("name", add.counter());
      return Bulk.Reply.of(line);
    }
  }

  private Map<String, Object> failed(RuntimeException thrown) {
    return failures.problem(thrown, BULK).ofWrite().members();
  }

  /** Reads an add whose amounts are decimals or in units of its counter. */
  static Add read(String name, JsonBody body, @Nullable RequestId id, boolean inUnits) {
    if (!inUnits) {
      return Add.of(
          name,
          body.decimal("delta"),
          body.optionalDecimal("floor").orElse(null),
          body.optionalDecimal("ceiling").orElse(null),
          id);
    }
    Bounds bounds =
        new Bounds(
            body.optionalNumber("floor").orElse(Long.MIN_VALUE),
            body.optionalNumber("ceiling").orElse(Long.MAX_VALUE));
    return new Add(name, body.number("delta"), bounds, id);
  }

  private AddResult.Success success(Add add, AddResult result) {
    return switch (result) {
      case AddResult.Success done -> done;
      case AddResult.Rejected rejected ->
          throw rejected(add.at(rejected.scale()), rejected).with("name", add.counter());
      case AddResult.Conflict conflict ->
          throw Problem.requestIdReused(
                  add.counter(),
                  "this id was first used with delta %s; delta or bounds differ; use a new id"
                      .formatted(Decimal.text(conflict.added(), conflict.scale())))
              .with("added", Decimal.text(conflict.added(), conflict.scale()));
    };
  }

  private Problem rejected(Add add, AddResult.Rejected rejected) {
    String delta = Decimal.text(add.delta(), rejected.scale());
    return Rejections.problem(delta, bounds(add, counters.bounds()), rejected);
  }

  /** Returns the bounds that apply to an add. */
  static Bounds bounds(Add add, Bounds ofAll) {
    return add.bounds().isNone() ? ofAll : add.bounds();
  }

  private static void write(JsonGenerator json, Add add, AddResult.Success done, boolean isLine) {
    json.writeStartObject();
    if (isLine) {
      json.writeName(STATUS);
      json.writeNumber(200);
    }
    json.writeName(NAME);
    json.writeString(add.counter());
    if (done.valueIfKnown().isPresent()) {
      json.writeName(VALUE);
      json.writeString(Decimal.text(done.valueIfKnown().getAsLong(), done.scale()));
    }
    json.writeName(ADDED);
    json.writeString(Decimal.text(done.added(), done.scale()));
    json.writeName(REPLAYED);
    json.writeBoolean(done.isReplayed());
    json.writeEndObject();
  }

  /** PUT /v1/counters/{name} */
  HttpReply set(Exchange exchange) {
    exchange.requireNoIdempotencyKey("use ifValue, or an add");
    JsonBody body = exchange.json(Set.of("value", "ifValue", "scale"));
    String name = exchange.variable();
    Optional<Decimal> ifValue = body.optionalDecimal("ifValue");
    Optional<Long> scale = body.optionalNumber("scale");
    if (scale.isEmpty() || ifValue.isPresent()) {
      var unusedValue = body.decimal("value"); // which must not be missing
    }
    SetResult result =
        exchange.isInUnits() && scale.isEmpty()
            ? counters.set(name, body.number("value"), units(body.optionalNumber("ifValue")))
            : counters.set(
                new SetRequest(
                    name,
                    body.optionalDecimal("value"),
                    ifValue,
                    scale
                        .map(number -> OptionalInt.of(Decimal.checkScale(number)))
                        .orElseGet(OptionalInt::empty)));
    return switch (result) {
      case SetResult.Done done -> {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", name);
        members.put("value", Decimal.text(done.value(), done.scale()));
        if (scale.isPresent()) {
          members.put("scale", done.scale());
        }
        yield HttpReply.json(200, members);
      }
      case SetResult.Mismatch mismatch -> throw mismatch(name, ifValue, mismatch);
      case SetResult.OtherScale other ->
          throw new Problem(
                  409,
                  "scale-fixed",
                  "Scale is fixed",
                  "counter %s has the scale %d, and a value or request ids; use another name, or delete it and wait until its request ids are forgotten"
                      .formatted(name, other.scale()))
              .with("name", name)
              .with("scale", other.scale());
    };
  }

  private static OptionalLong units(Optional<Long> number) {
    return number.map(OptionalLong::of).orElseGet(OptionalLong::empty);
  }

  private static Problem mismatch(
      String name, Optional<Decimal> expected, SetResult.Mismatch mismatch) {
    Optional<String> value =
        mismatch.value().isPresent()
            ? Optional.of(Decimal.text(mismatch.value().getAsLong(), mismatch.scale()))
            : Optional.empty();
    Problem problem =
        new Problem(
                409,
                "value-mismatch",
                "Value mismatch",
                "counter %s %s, and ifValue is %s; nothing changed"
                    .formatted(
                        name,
                        value.map(text -> "is " + text).orElse("does not exist"),
                        expected.map(Decimal::toString).orElse("0")))
            .with("name", name);
    return value.isPresent() ? problem.with("value", value.get()) : problem;
  }

  /** DELETE /v1/counters/{name} */
  HttpReply delete(Exchange exchange) {
    exchange.requireNoIdempotencyKey("use ifValue, or an add");
    exchange.allowParameters(Set.of());
    counters.delete(exchange.variable());
    return HttpReply.text(204, "text/plain", "");
  }

  /** POST /v1/counters/read */
  HttpReply readAll(Exchange exchange) {
    long parsedBytes = PARSED_FACTOR * exchange.bodyBytes();
    exchange.reserve(parsedBytes);
    List<String> names = exchange.json(Set.of("names")).texts("names");
    for (int i = 0; i < names.size(); i++) {
      Limits.checkText("names[%d]".formatted(i), names.get(i), Limits.NAME_BYTES_MAX);
    }
    exchange.reserve(parsedBytes + (long) names.size() * LISTED_BYTES);
    List<Optional<Reading>> readings = counters.readAll(names);
    List<Map<String, Object>> entries = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      entries.add(
          readings
              .get(i)
              .map(reading -> members(name, reading))
              .orElseGet(() -> Map.of("name", name)));
    }
    return HttpReply.json(200, Map.of("counters", entries));
  }

  /** GET /v1/counters/{name} */
  HttpReply read(Exchange exchange) {
    exchange.allowParameters(Set.of("maxAgeSeconds"));
    String name = exchange.variable();
    if (exchange.parameter("maxAgeSeconds").isPresent()) {
      return ChangeRoutes.aged(counters, name, exchange.requiredParameter("maxAgeSeconds"));
    }
    Reading reading =
        counters.read(name).orElseThrow(() -> Problem.notFound("no such counter: " + name));
    return HttpReply.json(
        200,
        balances
            .of(name)
            .filter(balance -> balance.held() != 0 || HoldRoutes.hasBound(balance))
            .map(balance -> members(name, reading, balance))
            .orElseGet(() -> members(name, reading)));
  }

  /** Returns the members of a counter with open holds, all of the same moment. */
  private static Map<String, Object> members(String name, Reading reading, Holds.Balance balance) {
    Reading exact = Reading.exact(balance.value(), reading.scale());
    Map<String, Object> members = members(name, exact);
    HoldRoutes.addBalance(members, exact, balance);
    return members;
  }

  static Map<String, Object> members(String name, Reading reading) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("value", reading.text(reading.value()));
    members.put("low", reading.text(reading.low()));
    members.put("high", reading.text(reading.high()));
    if (!reading.uncertainties().isEmpty()) {
      members.put("uncertainty", uncertainties(reading));
    }
    return members;
  }

  private static List<Map<String, Object>> uncertainties(Reading reading) {
    return reading.uncertainties().stream().map(each -> uncertainty(reading, each)).toList();
  }

  private static Map<String, Object> uncertainty(Reading reading, Uncertainty uncertainty) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("cause", uncertainty.cause().word());
    if (!uncertainty.where().isEmpty()) {
      members.put("where", uncertainty.where());
    }
    if (uncertainty.amount() != Long.MAX_VALUE) {
      members.put("amount", reading.text(uncertainty.amount()));
    }
    return members;
  }

  /** GET /v1/counters */
  HttpReply list(Exchange exchange) {
    if (RankRoutes.isFor(exchange)) {
      return ranks.list(exchange);
    }
    exchange.allowParameters(RankRoutes.PARAMETERS);
    String prefix = exchange.parameter("prefix").orElse("");
    int limit = Cursor.limit(exchange, PAGE_COUNTERS, Limits.PAGE_COUNTERS_MAX);
    String after = Cursor.nameAfter(exchange, prefix);
    exchange.reserve((long) limit * LISTED_BYTES);
    CounterPage page = counters.list(prefix, after, limit);
    return HttpReply.written(
        200,
        json -> {
          json.writeStartObject();
          json.writeArrayPropertyStart("counters");
          page.counters().forEach(each -> write(json, each.name(), each.reading()));
          json.writeEndArray();
          page.resumeAfter()
              .ifPresent(name -> json.writeStringProperty("cursor", Cursor.encode(name)));
          json.writeEndObject();
        });
  }

  /** Writes {@link #members(String, Reading)}. */
  static void write(JsonGenerator json, String name, Reading reading) {
    String value = reading.text(reading.value());
    json.writeStartObject();
    json.writeStringProperty("name", name);
    json.writeStringProperty("value", value);
    boolean isExact = reading.low() == reading.value() && reading.high() == reading.value();
    json.writeStringProperty("low", isExact ? value : reading.text(reading.low()));
    json.writeStringProperty("high", isExact ? value : reading.text(reading.high()));
    if (!reading.uncertainties().isEmpty()) {
      json.writePOJOProperty("uncertainty", uncertainties(reading));
    }
    json.writeEndObject();
  }

  /** GET /v1/requests/{id} */
  HttpReply outcome(Exchange exchange) {
    exchange.allowParameters(Set.of("counter"));
    String counter = exchange.requiredParameter("counter");
    RequestId id = RequestId.of(exchange.variable());
    RequestOutcome outcome = counters.outcome(counter, id);
    boolean isApplied = outcome instanceof RequestOutcome.Applied;
    return reply(
        exchange,
        counter,
        outcome,
        isApplied
            ? counters
                .as(Attributed.class)
                .map(each -> each.attributes(counter, id))
                .orElse(Map.of())
            : Map.of());
  }

  /** POST /v1/requests/{id}/cancel */
  HttpReply cancel(Exchange exchange) {
    exchange.allowParameters(Set.of("counter"));
    String counter = exchange.requiredParameter("counter");
    RequestOutcome outcome = counters.cancel(counter, RequestId.of(exchange.variable()));
    return reply(exchange, counter, outcome, Map.of());
  }

  private static HttpReply reply(
      Exchange exchange, String counter, RequestOutcome outcome, Map<String, String> attributes) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", exchange.variable());
    members.put("counter", counter);
    switch (outcome) {
      case RequestOutcome.Applied applied -> {
        members.put("outcome", "applied");
        int scale = applied.scale();
        members.put("added", Decimal.text(applied.added(), scale));
        applied.valueIfKnown().ifPresent(value -> members.put("value", Decimal.text(value, scale)));
      }
      case RequestOutcome.NotSeen notSeen -> members.put("outcome", "not-seen");
      case RequestOutcome.Canceled canceled -> members.put("outcome", "canceled");
    }
    if (!attributes.isEmpty()) {
      members.put("attributes", attributes);
    }
    return HttpReply.json(200, members);
  }
}
