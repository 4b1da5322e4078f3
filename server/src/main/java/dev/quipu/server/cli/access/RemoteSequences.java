package dev.quipu.server.cli.access;

import static dev.quipu.server.cli.access.ServerCalls.JSON;
import static dev.quipu.server.cli.access.ServerCalls.encode;
import static dev.quipu.server.cli.access.ServerCalls.json;
import static dev.quipu.server.cli.access.ServerCalls.ok;
import static dev.quipu.server.cli.access.ServerCalls.quoted;
import static dev.quipu.server.cli.access.ServerCalls.required;

import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.server.cli.access.ServerCalls.Reply;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Accesses the sequences of a server. */
record RemoteSequences(ServerCalls calls) implements SequenceAccess {
  /** A non-ASCII id, which a header cannot hold, is sent as its 128 bits, which are the same id. */
  @Override
  public SequenceOfRecords.Result next(String series, String payload, RequestId id) {
    boolean isAscii = id.text().chars().allMatch(c -> c >= 0x20 && c < 0x7f);
    String path = "/v1/sequences/" + encode(series) + "/next";
    HttpRequest.Builder request = calls.post(path, JSON, json(Map.of("payload", payload)));
    String key = quoted(isAscii ? id.text() : id.bits());
    Reply reply = calls.send(request.header("Idempotency-Key", key), true);
    if (reply.status() == 422) {
      return new SequenceOfRecords.Conflict(0);
    }
    JsonNode node = ok(reply);
    return new SequenceOfRecords.Numbered(
        required(node, "number", true), node.path("replayed").asBoolean());
  }

  @Override
  public long last(String series) {
    return required(
        ok(calls.send(calls.get("/v1/sequences/" + encode(series)), false)), "last", false);
  }

  @Override
  public List<NumberedRecord> page(String series, long from, int limit) {
    String path = "/v1/sequences/%s?from=%d&limit=%d".formatted(encode(series), from, limit);
    List<NumberedRecord> records = new ArrayList<>();
    for (JsonNode each : ok(calls.send(calls.get(path), false)).path("records")) {
      records.add(
          new NumberedRecord(
              required(each, "number", false),
              each.path("id").asString(""),
              each.path("payload").asString(""),
              Instant.parse(each.path("at").asString("")),
              Optional.ofNullable(each.get("voided")).map(JsonNode::asString)));
    }
    return records;
  }

  // ---- revisions

  @Override
  public RevisionLog.Result revise(
      String series, String entity, Revision.Kind kind, String payload) {
    Map<String, Object> members =
        Map.of("entity", entity, "kind", kind.name().toLowerCase(Locale.ROOT), "payload", payload);
    Reply reply = send("POST", "/v1/revisions/" + encode(series), members);
    JsonNode problem = reply.problem();
    if (reply.status() == 409 && problem.has("exists")) {
      return new RevisionLog.Rejected(
          problem.path("exists").asBoolean(), required(problem, "count", true));
    }
    JsonNode node = ok(reply);
    return new RevisionLog.Written(required(node, "number", true), required(node, "count", true));
  }

  @Override
  public long count(String series) {
    return required(ok(read("/v1/revisions/" + encode(series))), "count", false);
  }

  @Override
  public Optional<Revision> current(String series, String entity) {
    Reply reply = read("/v1/revisions/" + encode(series) + "?entity=" + encode(entity));
    if (reply.status() == 404) {
      return Optional.empty();
    }
    JsonNode node = ok(reply);
    return Optional.of(
        new Revision(
            required(node, "number", false),
            entity,
            Revision.Kind.valueOf(node.path("kind").asString("").toUpperCase(Locale.ROOT)),
            node.path("payload").asString(""),
            required(node, "count", false),
            Instant.parse(node.path("at").asString(""))));
  }

  // ---- jobs

  private Reply read(String path) {
    return calls.send(calls.get(path), false);
  }

  private Reply send(String method, String path, Map<String, Object> members) {
    HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(json(members));
    return calls.send(calls.request(path).header("Content-Type", JSON).method(method, body), true);
  }

  private static String path(String job) {
    return "/v1/jobs/" + encode(Limits.checkText("name", job, Limits.NAME_BYTES_MAX));
  }

  @Override
  public void openJob(String name, long last, int ranges) {
    ok(send("PUT", path(name), Map.of("last", last, "ranges", ranges)));
  }

  @Override
  public Optional<Progress> progress(String name) {
    Reply reply = read(path(name));
    if (reply.status() == 404) {
      return Optional.empty();
    }
    JsonNode node = ok(reply);
    return Optional.of(
        new Progress(required(node, "processed", false), required(node, "last", false)));
  }

  private static Optional<Work> work(JsonNode node) {
    return node.has("next")
        ? Optional.of(
            new Work(
                node.path("task").asString(""),
                required(node, "next", true),
                node.path("requestId").asString("")))
        : Optional.empty();
  }

  @Override
  public Optional<Work> take(String name, Duration lease) {
    Map<String, Object> members = Map.of("leaseSeconds", lease.toSeconds());
    return work(ok(send("POST", path(name) + "/take", members)));
  }

  @Override
  public Optional<Work> done(String name, Work work, Duration lease) {
    Map<String, Object> members =
        Map.of("task", work.task(), "number", work.number(), "leaseSeconds", lease.toSeconds());
    return work(ok(send("POST", path(name) + "/done", members)));
  }

  @Override
  public void release(String name, String task) {
    ok(send("POST", path(name) + "/release", Map.of("task", task)));
  }
}
