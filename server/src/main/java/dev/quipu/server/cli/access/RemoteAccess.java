package dev.quipu.server.cli.access;

import static dev.quipu.client.Reply.number;
import static dev.quipu.client.Reply.required;
import static dev.quipu.client.ServerCalls.encode;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Holds;
import dev.quipu.Reading;
import dev.quipu.Transactions;
import dev.quipu.client.ClientOptions;
import dev.quipu.client.CounterWatch;
import dev.quipu.client.RemoteCounters;
import dev.quipu.client.RemoteHolds;
import dev.quipu.client.RemoteTransactions;
import dev.quipu.client.Reply;
import dev.quipu.client.Request;
import dev.quipu.client.Request.Effect;
import dev.quipu.client.ServerCalls;
import dev.quipu.presence.Online;
import dev.quipu.server.rank.Listing;
import dev.quipu.technique.ItemCollection.LedgerEntry;
import dev.quipu.technique.ItemCollection.LedgerPage;
import dev.quipu.technique.ItemCollection.Place;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewAggregates.Aggregate;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewPage;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/**
 * Accesses a server by the client of the library. A command does not wait for a server to start.
 */
public final class RemoteAccess implements Access {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String TOKEN_SETTING = "--token-file or QUIPU_TOKEN";

  private final ServerCalls calls;
  private final RemoteCounters counters;

  /** Accesses a server, or several as in {@code http://a:7080,b:7080}. */
  public RemoteAccess(URI server, Optional<String> token) {
    this(server, token, Optional.empty(), DEADLINE);
  }

  /** Accesses a server whose certificate, or its authority, is in a file. */
  RemoteAccess(URI server, Optional<String> token, Optional<Path> trusted) {
    this(server, token, trusted, DEADLINE);
  }

  RemoteAccess(URI server, Optional<String> token, Optional<Path> trusted, Duration timeout) {
    calls =
        new ServerCalls(
            new ClientOptions(
                List.of(server),
                token,
                TOKEN_SETTING,
                timeout,
                trusted.map(ClientOptions::trusting),
                false));
    counters = new RemoteCounters(calls);
  }

  @Override
  public Counters counters() {
    return counters;
  }

  @Override
  public Transactions transactions() {
    return new RemoteTransactions(calls);
  }

  @Override
  public Holds holds() {
    return new RemoteHolds(calls);
  }

  @Override
  public List<PastValue> history(String name, boolean isSum, PastPeriod period) {
    String path =
        (isSum ? "/v1/history?prefix=%s&" : "/v1/counters/%s/history?").formatted(encode(name))
            + "step="
            + encode(period.step())
            + period.from().map(time -> "&from=" + encode(time)).orElse("")
            + period.to().map(time -> "&to=" + encode(time)).orElse("");
    List<PastValue> values = new ArrayList<>();
    for (JsonNode each : calls.send(Request.get(path)).ok().path("buckets")) {
      values.add(
          new PastValue(
              each.path("from").asString(""),
              Optional.ofNullable(each.get("value")).map(JsonNode::asString),
              Optional.ofNullable(each.get("change")).map(JsonNode::asString),
              Optional.ofNullable(each.get("since")).map(JsonNode::asString),
              each.path("complete").asBoolean(true)));
    }
    return values;
  }

  @Override
  public List<Mover> movers(
      Movers of, String prefix, PastPeriod period, boolean isIncrease, int limit) {
    int at = period.step().indexOf('@');
    String path =
        "%s?sort=%s&prefix=%s&limit=%d&step=%s"
                .formatted(
                    of.path,
                    isIncrease ? "-change" : "change",
                    encode(prefix),
                    limit,
                    encode(at < 0 ? period.step() : period.step().substring(0, at)))
            + (at < 0 ? "" : "&tz=" + encode(period.step().substring(at + 1)))
            + "&since="
            + encode(period.from().orElseGet(() -> aDayAgo().toString()));
    List<Mover> movers = new ArrayList<>();
    JsonNode found = calls.send(Request.get(path)).ok();
    for (JsonNode each : found.path(of.list)) {
      String change = each.path("change").asString("");
      if (change.startsWith("-") != isIncrease) {
        movers.add(
            new Mover(
                each.path(of.name).asString(""),
                Optional.ofNullable(each.get("value")).map(JsonNode::asString),
                change,
                found.path("since").asString("")));
      }
    }
    return movers;
  }

  /** Returns the begin of a period for which none is stated: that of the server for histories. */
  private static Instant aDayAgo() {
    return Instant.ofEpochMilli(Clock.system().epochMillis()).minus(Duration.ofDays(1));
  }

  @Override
  public void watch(String prefix, boolean present, Predicate<CounterWatch.Event> action) {
    new CounterWatch(calls, prefix, present).forEach(action);
  }

  @Override
  public OptionalLong views(String url, Optional<Instant> from, Optional<Instant> until) {
    Reply reply = calls.send(Request.get("/v1/views?" + period(url, from, until)));
    return reply.status() == 404 ? OptionalLong.empty() : number(reply.ok(), "value");
  }

  private static String period(String url, Optional<Instant> from, Optional<Instant> until) {
    return "url="
        + encode(url)
        + from.map(time -> "&from=" + encode(time.toString())).orElse("")
        + until.map(time -> "&until=" + encode(time.toString())).orElse("");
  }

  @Override
  public Listing pages() {
    return (prefix, after, limit) -> {
      String cursor =
          Base64.getUrlEncoder()
              .withoutPadding()
              .encodeToString(after.getBytes(StandardCharsets.UTF_8));
      String path =
          "/v1/views/pages?prefix=%s&limit=%d%s"
              .formatted(encode(prefix), limit, after.isEmpty() ? "" : "&cursor=" + cursor);
      JsonNode node = calls.send(Request.get(path)).ok();
      List<CounterPage.Entry> found = new ArrayList<>();
      for (JsonNode each : node.path("pages")) {
        long value = Long.parseLong(each.path("value").asString());
        found.add(new CounterPage.Entry(each.path("url").asString(), Reading.exact(value)));
      }
      return new CounterPage(
          found, node.has("cursor") ? Optional.of(found.getLast().name()) : Optional.empty());
    };
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
    JsonNode node = calls.send(Request.get(path)).ok();
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
    Reply reply = calls.send(Request.get("/v1/views/aggregates?" + query));
    if (reply.status() == 404) {
      return Optional.empty();
    }
    JsonNode node = reply.ok();
    return Optional.of(
        new Aggregate(
            required(node, "views", false),
            required(node, "values", false),
            required(node, "sum", false)));
  }

  @Override
  public int addViews(List<ViewEvent> events) {
    List<Map<String, Object>> lines = new ArrayList<>();
    for (ViewEvent event : events) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("url", event.url());
      members.put("time", event.time().toString());
      members.put("clientId", event.clientId());
      event.value().ifPresent(value -> members.put("value", value));
      lines.add(members);
    }
    int counted = 0;
    Reply reply = calls.send(Request.lines("/v1/views/bulk", Effect.REPEATABLE, lines));
    for (JsonNode line : reply.lines(events.size())) {
      int status = line.path("status").asInt();
      if (status != 202) {
        throw Reply.failure(status, line, true);
      }
      counted += line.path("counted").asBoolean() ? 1 : 0;
    }
    return counted;
  }

  @Override
  public Online online(String room) {
    JsonNode node = calls.send(Request.get("/v1/presence/" + encode(room))).ok();
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
    calls
        .send(
            Request.json(
                "POST",
                "/v1/presence/" + encode(room),
                Effect.REPEATABLE,
                Map.of("clientId", client)))
        .ok();
  }

  @Override
  public LedgerPage changes(String counter, Optional<Place> after, int limit) {
    String path = "/v1/changes/%s?limit=%d".formatted(encode(counter), limit);
    String from =
        after.map(place -> "&cursor=" + place.at().toEpochMilli() + "-" + place.id()).orElse("");
    JsonNode node = calls.send(Request.get(path + from)).ok();
    List<LedgerEntry> changes = new ArrayList<>();
    for (JsonNode each : node.path("changes")) {
      changes.add(
          new LedgerEntry(
              each.path("id").asString(""),
              required(each, "added", false),
              Instant.parse(each.path("at").asString("")),
              Optional.ofNullable(each.get("reason")).map(JsonNode::asString),
              Reply.scale(each, "added")));
    }
    return new LedgerPage(changes, node.has("cursor"));
  }

  @Override
  public ThresholdCalls thresholds() {
    return new ThresholdCalls(calls);
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
    counters.close();
  }
}
