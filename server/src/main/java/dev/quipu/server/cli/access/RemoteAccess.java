package dev.quipu.server.cli.access;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetResult;
import dev.quipu.Uncertainty;
import dev.quipu.presence.Online;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.view.ViewEvent;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** Accesses a server over HTTP. Does not retry requests. */
public final class RemoteAccess implements Access, Counters {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final String JSON = "application/json";
  private static final String NDJSON = "application/x-ndjson";

  private static final String TLS_REMEDY =
      ". If the server has no --tls-cert, use http:// instead of https://; if it has, this"
          + " machine must trust the certificate";

  private final URI server;
  private final Optional<String> token;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final Map<String, String> cursors = new LinkedHashMap<>();

  public RemoteAccess(URI server, Optional<String> token) {
    this.server = server;
    this.token = token;
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

  /** A response to a request that may or may not write. */
  private record Reply(int status, String body, boolean writes) {
    /** Returns this reply; throws the failure that it reports if it has another status. */
    Reply require(int wanted) {
      if (status != wanted) {
        throw failure(status, problem(), writes);
      }
      return this;
    }

    /** Returns the lines, one for each that was sent. */
    List<JsonNode> lines(int sent) {
      List<JsonNode> lines = require(200).body.lines().map(this::parse).toList();
      if (lines.size() != sent) {
        throw malformed("%d lines in the response to %d".formatted(lines.size(), sent), null);
      }
      return lines;
    }

    /** Returns the problem; without members if the response is not from a Quipu server. */
    JsonNode problem() {
      try {
        return MAPPER.readTree(body);
      } catch (JacksonException notOurs) {
        return MissingNode.getInstance();
      }
    }

    private JsonNode parse(String text) {
      try {
        return MAPPER.readTree(text);
      } catch (JacksonException e) {
        throw malformed("the response is not JSON", e);
      }
    }

    private QuipuException malformed(String message, @Nullable Throwable cause) {
      Outcome outcome = writes ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
      return QuipuException.of(outcome, Reason.UNAVAILABLE, message, cause);
    }
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
    HttpRequest.Builder request = post(path(add.counter()) + "/add", JSON, json(members(add)));
    if (id != null) {
      request.header("Idempotency-Key", quoted(id.text()));
    }
    Reply reply = send(request, true);
    return result(reply.status, reply.status == 200 ? reply.parse(reply.body) : reply.problem());
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
    Reply reply = send(post("/v1/counters/bulk", NDJSON, lines.toString()), true);
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

  private static String quoted(String id) {
    return "\"" + id.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
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
    Reply reply = send(get(path(counter)), false);
    return reply.status == 404 ? Optional.empty() : Optional.of(reading(ok(reply)));
  }

  @Override
  public List<Optional<Reading>> readAll(List<String> counters) {
    Reply reply = send(post("/v1/counters/read", JSON, json(Map.of("names", counters))), false);
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
    Reply reply = send(request(path(counter)).header("Content-Type", JSON).PUT(body), true);
    if (reply.problem().path("type").asString("").equals("/problems/value-mismatch")) {
      return new SetResult.Mismatch(number(reply.problem(), "value"));
    }
    return new SetResult.Done(required(ok(reply), "value", true));
  }

  @Override
  public void delete(String counter) {
    send(request(path(counter)).DELETE(), true).require(204);
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
    JsonNode node = ok(send(get(cursor == null ? path : path + "&cursor=" + cursor), false));
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
    return outcome(ok(send(get(request(counter, id, "")), false)));
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    return outcome(ok(send(post(request(counter, id, "/cancel"), JSON, ""), true)));
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
    String path =
        "/v1/views?url="
            + encode(url)
            + from.map(time -> "&from=" + encode(time.toString())).orElse("")
            + until.map(time -> "&until=" + encode(time.toString())).orElse("");
    Reply reply = send(get(path), false);
    return reply.status == 404 ? OptionalLong.empty() : number(ok(reply), "value");
  }

  @Override
  public int addViews(List<ViewEvent> events) {
    StringBuilder lines = new StringBuilder();
    for (ViewEvent event : events) {
      Map<String, Object> members =
          Map.of("url", event.url(), "time", event.time().toString(), "clientId", event.clientId());
      lines.append(json(members)).append('\n');
    }
    int counted = 0;
    Reply reply = send(post("/v1/views/bulk", NDJSON, lines.toString()), true);
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
    JsonNode node = ok(send(get("/v1/presence/" + encode(room)), false));
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
    ok(send(post("/v1/presence/" + encode(room), JSON, json(Map.of("clientId", client))), true));
  }

  /** A non-ASCII id, which a header cannot hold, is sent as its 128 bits, which are the same id. */
  @Override
  public SequenceOfRecords.Result next(String series, String payload, RequestId id) {
    boolean isAscii = id.text().chars().allMatch(c -> c >= 0x20 && c < 0x7f);
    String path = "/v1/sequences/" + encode(series) + "/next";
    HttpRequest.Builder request = post(path, JSON, json(Map.of("payload", payload)));
    String key = quoted(isAscii ? id.text() : id.bits());
    Reply reply = send(request.header("Idempotency-Key", key), true);
    if (reply.status == 422) {
      return new SequenceOfRecords.Conflict(0);
    }
    JsonNode node = ok(reply);
    return new SequenceOfRecords.Numbered(
        required(node, "number", true), node.path("replayed").asBoolean());
  }

  @Override
  public void close() {
    client.shutdownNow(); // requests without a response were abandoned
  }

  private HttpRequest.Builder get(String path) {
    return request(path).GET();
  }

  private HttpRequest.Builder post(String path, String type, String body) {
    return request(path)
        .header("Content-Type", type)
        .POST(HttpRequest.BodyPublishers.ofString(body));
  }

  private HttpRequest.Builder request(String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(server.resolve(path)).timeout(DEADLINE);
    token.ifPresent(text -> request.header("Authorization", "Bearer " + text));
    return request;
  }

  /** Sends a request, and waits for the complete response until the deadline. */
  private Reply send(HttpRequest.Builder request, boolean writes) {
    CompletableFuture<HttpResponse<String>> pending =
        client.sendAsync(
            request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    Outcome outcome = writes ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
    try {
      HttpResponse<String> response = pending.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      return new Reply(response.statusCode(), response.body(), writes);
    } catch (ExecutionException e) {
      throw unanswered(e.getCause() == null ? e : e.getCause(), outcome);
    } catch (TimeoutException e) {
      pending.cancel(true);
      String message = "no response from %s within %d s".formatted(server, DEADLINE.toSeconds());
      throw QuipuException.of(outcome, Reason.TIMEOUT, message, e);
    } catch (InterruptedException e) {
      pending.cancel(true);
      Thread.currentThread().interrupt();
      throw QuipuException.of(outcome, Reason.UNAVAILABLE, "interrupted", e);
    }
  }

  private QuipuException unanswered(Throwable cause, Outcome outcome) {
    boolean isSent = true;
    String message = String.valueOf(cause);
    if (cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException) {
      isSent = false;
      message = "no server at " + server + "; start one: quipu serve";
    } else if (cause instanceof SSLException) {
      isSent = // only after the handshake
          !(cause instanceof SSLHandshakeException)
              && !String.valueOf(cause.getMessage()).contains("SSL message");
      message =
          "TLS with %s failed: %s%s"
              .formatted(server, cause.getMessage(), isSent ? "" : TLS_REMEDY);
    }
    Outcome known = isSent ? outcome : Outcome.NOT_APPLIED;
    return QuipuException.of(known, Reason.UNAVAILABLE, message, cause);
  }

  private static JsonNode ok(Reply reply) {
    return reply.require(200).parse(reply.body);
  }

  /** Maps a problem to an exception; an invalid request is an IllegalArgumentException. */
  private static RuntimeException failure(int status, JsonNode problem, boolean writes) {
    String detail = problem.path("detail").asString("the server responded with status " + status);
    detail += status == 401 ? "; use --token-file or QUIPU_TOKEN" : "";
    String type = problem.path("type").asString("");
    if (status == 400 || status == 413 || type.equals("/problems/unsupported")) {
      return new IllegalArgumentException(detail);
    }
    Reason reason =
        switch (status) {
          case 401, 403 -> Reason.DENIED;
          case 507 -> Reason.FULL;
          case 429 -> Reason.THROTTLED;
          case 500 -> type.equals("/problems/store-damaged") ? Reason.CORRUPT : Reason.UNAVAILABLE;
          default -> Reason.UNAVAILABLE;
        };
    // A 5xx without an outcome comes from a proxy; the server may have applied the request.
    String outcome = problem.path("outcome").asString(status >= 500 ? "unknown" : "not-applied");
    boolean unknown = writes && outcome.equals("unknown");
    return QuipuException.of(unknown ? Outcome.UNKNOWN : Outcome.NOT_APPLIED, reason, detail, null);
  }

  /** Returns a field that every response of a Quipu server has. */
  private static long required(JsonNode node, String field, boolean writes) {
    return number(node, field)
        .orElseThrow(() ->
            QuipuException.of(
                writes ? Outcome.UNKNOWN : Outcome.NOT_APPLIED,
                Reason.UNAVAILABLE,
                "the response has no number %s; is --server a Quipu server?".formatted(field),
                null));
  }

  private static OptionalLong number(JsonNode node, String field) {
    JsonNode value = node.get(field);
    return value == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(value.asString()));
  }

  private static String json(Map<String, Object> members) {
    return MAPPER.writeValueAsString(members);
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
