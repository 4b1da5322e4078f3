package dev.quipu.server.cli.access;

import static dev.quipu.client.Reply.required;
import static dev.quipu.client.ServerCalls.encode;

import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.client.Reply;
import dev.quipu.client.Request;
import dev.quipu.client.Request.Effect;
import dev.quipu.client.ServerCalls;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
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
    Request request = Request.json("POST", path, Effect.REPEATABLE, Map.of("payload", payload));
    Reply reply = calls.send(request.under(isAscii ? id.text() : id.bits()));
    if (reply.status() == 422) {
      return new SequenceOfRecords.Conflict(0);
    }
    JsonNode node = reply.ok();
    return new SequenceOfRecords.Numbered(
        required(node, "number", true), node.path("replayed").asBoolean());
  }

  @Override
  public long last(String series) {
    return required(read("/v1/sequences/" + encode(series)).ok(), "last", false);
  }

  @Override
  public List<NumberedRecord> page(String series, long from, int limit) {
    String path = "/v1/sequences/%s?from=%d&limit=%d".formatted(encode(series), from, limit);
    List<NumberedRecord> records = new ArrayList<>();
    for (JsonNode each : read(path).ok().path("records")) {
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
    JsonNode node = reply.ok();
    return new RevisionLog.Written(required(node, "number", true), required(node, "count", true));
  }

  @Override
  public long count(String series) {
    return required(read("/v1/revisions/" + encode(series)).ok(), "count", false);
  }

  @Override
  public Optional<Revision> current(String series, String entity) {
    Reply reply = read("/v1/revisions/" + encode(series) + "?entity=" + encode(entity));
    if (reply.status() == 404) {
      return Optional.empty();
    }
    JsonNode node = reply.ok();
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
    return calls.send(Request.get(path));
  }

  private Reply send(String method, String path, Map<String, Object> members) {
    return calls.send(Request.json(method, path, Effect.ONCE, members));
  }

  private static String path(String job) {
    return "/v1/jobs/" + encode(Limits.checkText("name", job, Limits.NAME_BYTES_MAX));
  }

  @Override
  public void openJob(String name, long last, int ranges) {
    send("PUT", path(name), Map.of("last", last, "ranges", ranges)).ok();
  }

  @Override
  public Optional<Progress> progress(String name) {
    Reply reply = read(path(name));
    if (reply.status() == 404) {
      return Optional.empty();
    }
    JsonNode node = reply.ok();
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
    return work(send("POST", path(name) + "/take", members).ok());
  }

  @Override
  public Optional<Work> done(String name, Work work, Duration lease) {
    Map<String, Object> members =
        Map.of("task", work.task(), "number", work.number(), "leaseSeconds", lease.toSeconds());
    return work(send("POST", path(name) + "/done", members).ok());
  }

  @Override
  public void release(String name, String task) {
    send("POST", path(name) + "/release", Map.of("task", task)).ok();
  }
}
