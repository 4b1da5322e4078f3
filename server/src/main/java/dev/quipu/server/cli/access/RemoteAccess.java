package dev.quipu.server.cli.access;

import static dev.quipu.server.cli.access.ServerCalls.JSON;
import static dev.quipu.server.cli.access.ServerCalls.NDJSON;
import static dev.quipu.server.cli.access.ServerCalls.encode;
import static dev.quipu.server.cli.access.ServerCalls.failure;
import static dev.quipu.server.cli.access.ServerCalls.json;
import static dev.quipu.server.cli.access.ServerCalls.number;
import static dev.quipu.server.cli.access.ServerCalls.ok;
import static dev.quipu.server.cli.access.ServerCalls.quoted;
import static dev.quipu.server.cli.access.ServerCalls.required;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetResult;
import dev.quipu.Uncertainty;
import dev.quipu.presence.Online;
import dev.quipu.server.cli.access.ServerCalls.Reply;
import dev.quipu.technique.ItemCollection.LedgerEntry;
import dev.quipu.technique.ItemCollection.LedgerPage;
import dev.quipu.technique.ItemCollection.Place;
import dev.quipu.view.ViewAggregates.Aggregate;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewPage;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Accesses a server over HTTP. Does not retry requests. */
public final class RemoteAccess implements Access, Counters {
  private final ServerCalls calls;
  private final Map<String, String> cursors = new LinkedHashMap<>();

  public RemoteAccess(URI server, Optional<String> token) {
    calls = new ServerCalls(server, token);
  }

  @Override
  public Counters counters() {
    return this;
  }

  /** Returns a placeholder: the server does not report its technique. */
  @Override
  public String technique() {
    return "unknown";
  }

  @Override
  public Set<Guarantee> guarantees() {
    return Set.of();
  }

  /**
   * Adds. A non-ASCII id is sent in the body of a bulk request: in a header, the client would
   * replace each of its characters by a question mark, and distinct ids would become equal.
   */
  @Override
  public AddResult add(Add add) {
    RequestId id = add.id();
    if (id != null && !id.text().chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
      return addAll(List.of(add)).getFirst().result();
    }
    HttpRequest.Builder request =
        calls.post(path(add.counter()) + "/add", JSON, json(members(add)));
    if (id != null) {
      request.header("Idempotency-Key", quoted(id.text()));
    }
    return result(calls.send(request, true));
  }

  static AddResult result(Reply reply) {
    return result(
        reply.status(), reply.status() == 200 ? reply.parse(reply.body()) : reply.problem());
  }

  @Override
  public List<ItemResult> addAll(List<Add> adds) {
    StringBuilder lines = new StringBuilder();
    for (Add add : adds) {
      Map<String, Object> members = members(add);
      members.put("name", add.counter());
      RequestId id = add.id();
      if (id != null) {
        members.put("id", id.text());
      }
      lines.append(json(members)).append('\n');
    }
    Reply reply = calls.send(calls.post("/v1/counters/bulk", NDJSON, lines.toString()), true);
    List<ItemResult> results = new ArrayList<>();
    for (JsonNode line : reply.lines(adds.size())) {
      try {
        results.add(result(line.path("status").asInt(), line));
      } catch (QuipuException | IllegalArgumentException e) {
        results.add(new ItemResult.Failed(e));
      }
    }
    return results;
  }

  private static Map<String, Object> members(Add add) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("delta", add.delta());
    if (add.bounds().floor() != Long.MIN_VALUE) {
      members.put("floor", add.bounds().floor());
    }
    if (add.bounds().ceiling() != Long.MAX_VALUE) {
      members.put("ceiling", add.bounds().ceiling());
    }
    return members;
  }

  private static AddResult result(int status, JsonNode node) {
    if (status == 200) {
      long added = required(node, "added", true);
      return node.path("replayed").asBoolean()
          ? new AddResult.Replayed(added, number(node, "value"))
          : new AddResult.Applied(added, number(node, "value"));
    }
    String type = node.path("type").asString("");
    if (status == 422) {
      return new AddResult.Conflict(0);
    }
    if (status == 409) {
      Rejection why =
          switch (type) {
            case "/problems/overflow" -> Rejection.OVERFLOW;
            case "/problems/request-canceled" -> Rejection.CANCELED;
            case "/problems/held-elsewhere" -> Rejection.HELD_ELSEWHERE;
            default ->
                node.path("bound").asString("").equals("ceiling")
                    ? Rejection.CEILING
                    : Rejection.FLOOR;
          };
      List<String> heldBy = new ArrayList<>();
      node.path("heldBy").forEach(region -> heldBy.add(region.asString("")));
      return new AddResult.Rejected(why, number(node, "value"), heldBy);
    }
    throw failure(status, node, true);
  }

  @Override
  public Optional<Reading> read(String counter) {
    Reply reply = calls.send(calls.get(path(counter)), false);
    return reply.status() == 404 ? Optional.empty() : Optional.of(reading(ok(reply)));
  }

  @Override
  public List<Optional<Reading>> readAll(List<String> counters) {
    Reply reply =
        calls.send(calls.post("/v1/counters/read", JSON, json(Map.of("names", counters))), false);
    List<Optional<Reading>> readings = new ArrayList<>();
    for (JsonNode each : ok(reply).path("counters")) {
      readings.add(each.has("value") ? Optional.of(reading(each)) : Optional.empty());
    }
    if (readings.size() != counters.size()) {
      throw reply.malformed(
          "%d counters in the response to %d names".formatted(readings.size(), counters.size()),
          null);
    }
    return readings;
  }

  @Override
  public SetResult set(String counter, long value, OptionalLong ifValue) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("value", value);
    ifValue.ifPresent(expected -> members.put("ifValue", expected));
    HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(json(members));
    Reply reply =
        calls.send(calls.request(path(counter)).header("Content-Type", JSON).PUT(body), true);
    if (reply.problem().path("type").asString("").equals("/problems/value-mismatch")) {
      return new SetResult.Mismatch(number(reply.problem(), "value"));
    }
    return new SetResult.Done(required(ok(reply), "value", true));
  }

  @Override
  public void delete(String counter) {
    calls.send(calls.request(path(counter)).DELETE(), true).require(204);
  }

  private static String path(String counter) {
    return "/v1/counters/" + encode(Limits.checkText("name", counter, Limits.NAME_BYTES_MAX));
  }

  private static Reading reading(JsonNode node) {
    return new Reading(
        required(node, "value", false),
        required(node, "low", false),
        required(node, "high", false),
        uncertainties(node.path("uncertainty")));
  }

  private static List<Uncertainty> uncertainties(JsonNode nodes) {
    List<Uncertainty> uncertainties = new ArrayList<>();
    for (JsonNode node : nodes) {
      String word = node.path("cause").asString("");
      for (Uncertainty.Cause cause : Uncertainty.Cause.values()) {
        if (cause.word().equals(word)) {
          long amount = number(node, "amount").orElse(Long.MAX_VALUE);
          uncertainties.add(new Uncertainty(cause, node.path("where").asString(""), amount));
        }
      }
    }
    return uncertainties;
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    String cursor = cursors.get(after);
    String path = "/v1/counters?prefix=" + encode(prefix) + "&limit=" + limit;
    JsonNode node =
        ok(calls.send(calls.get(cursor == null ? path : path + "&cursor=" + cursor), false));
    List<CounterPage.Entry> counters = new ArrayList<>();
    for (JsonNode each : node.path("counters")) {
      counters.add(new CounterPage.Entry(each.path("name").asString(), reading(each)));
    }
    if (!node.has("cursor")) {
      return new CounterPage(counters, Optional.empty());
    }
    String last = counters.getLast().name();
    cursors.put(last, node.path("cursor").asString());
    return new CounterPage(counters, Optional.of(last));
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    return outcome(ok(calls.send(calls.get(request(counter, id, "")), false)));
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    return outcome(ok(calls.send(calls.post(request(counter, id, "/cancel"), JSON, ""), true)));
  }

  private static String request(String counter, RequestId id, String action) {
    return "/v1/requests/" + encode(id.text()) + action + "?counter=" + encode(counter);
  }

  private static RequestOutcome outcome(JsonNode node) {
    return switch (node.path("outcome").asString("")) {
      case "applied" ->
          new RequestOutcome.Applied(required(node, "added", true), number(node, "value"));
      case "canceled" -> new RequestOutcome.Canceled();
      default -> new RequestOutcome.NotSeen();
    };
  }

  @Override
  public OptionalLong views(String url, Optional<Instant> from, Optional<Instant> until) {
    Reply reply = calls.send(calls.get("/v1/views?" + period(url, from, until)), false);
    return reply.status() == 404 ? OptionalLong.empty() : number(ok(reply), "value");
  }

  private static String period(String url, Optional<Instant> from, Optional<Instant> until) {
    return "url="
        + encode(url)
        + from.map(time -> "&from=" + encode(time.toString())).orElse("")
        + until.map(time -> "&until=" + encode(time.toString())).orElse("");
  }

  @Override
  public ViewPage viewPage(
      String url,
      Optional<Instant> from,
      Optional<Instant> until,
      int limit,
      Optional<String> cursor) {
    String path =
        "/v1/views/events?%s&limit=%d%s"
            .formatted(
                period(url, from, until), limit, cursor.map(text -> "&cursor=" + text).orElse(""));
    JsonNode node = ok(calls.send(calls.get(path), false));
    List<ViewPage.CountedView> views = new ArrayList<>();
    for (JsonNode each : node.path("events")) {
      views.add(
          new ViewPage.CountedView(
              each.path("url").asString(),
              each.path("identity").asString(),
              Instant.parse(each.path("time").asString()),
              Optional.ofNullable(each.get("clientId")).map(JsonNode::asString),
              each.has("value") ? number(each, "value") : OptionalLong.empty()));
    }
    return new ViewPage(views, Optional.ofNullable(node.get("cursor")).map(JsonNode::asString));
  }

  @Override
  public Optional<Aggregate> aggregate(String url) {
    return aggregateOf("url=" + encode(url));
  }

  @Override
  public Optional<Aggregate> aggregate(String site, Optional<LocalDate> day) {
    return aggregateOf("site=" + encode(site) + day.map(date -> "&day=" + date).orElse(""));
  }

  private Optional<Aggregate> aggregateOf(String query) {
    Reply reply = calls.send(calls.get("/v1/views/aggregates?" + query), false);
    if (reply.status() == 404) {
      return Optional.empty();
    }
    JsonNode node = ok(reply);
    return Optional.of(
        new Aggregate(
            required(node, "views", false),
            required(node, "values", false),
            required(node, "sum", false)));
  }

  @Override
  public int addViews(List<ViewEvent> events) {
    StringBuilder lines = new StringBuilder();
    for (ViewEvent event : events) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("url", event.url());
      members.put("time", event.time().toString());
      members.put("clientId", event.clientId());
      event.value().ifPresent(value -> members.put("value", value));
      lines.append(json(members)).append('\n');
    }
    int counted = 0;
    Reply reply = calls.send(calls.post("/v1/views/bulk", NDJSON, lines.toString()), true);
    for (JsonNode line : reply.lines(events.size())) {
      int status = line.path("status").asInt();
      if (status != 202) {
        throw failure(status, line, true);
      }
      counted += line.path("counted").asBoolean() ? 1 : 0;
    }
    return counted;
  }

  @Override
  public Online online(String room) {
    JsonNode node = ok(calls.send(calls.get("/v1/presence/" + encode(room)), false));
    long value = required(node, "value", false);
    Instant from = Instant.parse(node.path("from").asString());
    Instant until = Instant.parse(node.path("until").asString());
    return node.path("complete").asBoolean()
        ? new Online(
            value, required(node, "low", false), required(node, "high", false), from, until, true)
        : Online.incomplete(value, from, until);
  }

  @Override
  public void seen(String room, String client) {
    ok(
        calls.send(
            calls.post("/v1/presence/" + encode(room), JSON, json(Map.of("clientId", client))),
            true));
  }

  @Override
  public LedgerPage changes(String counter, Optional<Place> after, int limit) {
    String path = "/v1/changes/%s?limit=%d".formatted(encode(counter), limit);
    String from =
        after.map(place -> "&cursor=" + place.at().toEpochMilli() + "-" + place.id()).orElse("");
    JsonNode node = ok(calls.send(calls.get(path + from), false));
    List<LedgerEntry> changes = new ArrayList<>();
    for (JsonNode each : node.path("changes")) {
      changes.add(
          new LedgerEntry(
              each.path("id").asString(""),
              required(each, "added", false),
              Instant.parse(each.path("at").asString("")),
              Optional.ofNullable(each.get("reason")).map(JsonNode::asString)));
    }
    return new LedgerPage(changes, node.has("cursor"));
  }

  @Override
  public HitCalls hits() {
    return new HitCalls(calls);
  }

  @Override
  public SequenceAccess sequences() {
    return new RemoteSequences(calls);
  }

  @Override
  public void close() {
    calls.close();
  }
}
