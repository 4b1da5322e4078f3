package dev.quipu.server.cli.access;

import static dev.quipu.server.cli.access.ServerCalls.JSON;
import static dev.quipu.server.cli.access.ServerCalls.encode;
import static dev.quipu.server.cli.access.ServerCalls.json;
import static dev.quipu.server.cli.access.ServerCalls.ok;
import static dev.quipu.server.cli.access.ServerCalls.quoted;
import static dev.quipu.server.cli.access.ServerCalls.required;

import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.server.cli.access.ServerCalls.Reply;
import java.net.http.HttpRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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
}
