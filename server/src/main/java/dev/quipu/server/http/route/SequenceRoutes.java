package dev.quipu.server.http.route;

import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Serves sequences of records over HTTP. */
record SequenceRoutes(Supplier<SequenceOfRecords> sequences) {
  /** POST /v1/sequences/{name}/next */
  HttpReply next(Exchange exchange) {
    String payload = exchange.json(Set.of("payload")).optionalText("payload").orElse("");
    SequenceOfRecords.Result result =
        sequences.get().add(exchange.variable(), payload, exchange.idempotencyKey().orElse(null));
    return switch (result) {
      case SequenceOfRecords.Numbered numbered -> {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", exchange.variable());
        members.put("number", Long.toString(numbered.number()));
        members.put("replayed", numbered.replayed());
        HttpReply reply = HttpReply.json(200, members);
        yield numbered.replayed() ? reply.with("Idempotent-Replayed", "true") : reply;
      }
      case SequenceOfRecords.Conflict conflict ->
          throw Problem.requestIdReused(
              exchange.variable(),
              "this id was first used for number %d with a different payload; use a new id"
                  .formatted(conflict.number()));
    };
  }

  /** GET /v1/sequences/{name}: returns the highest number, 0 if there is none, or one record. */
  HttpReply read(Exchange exchange) {
    exchange.allowParameters(Set.of("number"));
    String series = exchange.variable();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", series);
    if (exchange.parameter("number").isEmpty()) {
      members.put("last", Long.toString(sequences.get().last(series)));
      return HttpReply.json(200, members);
    }
    long number = number(exchange.parameter("number").get());
    NumberedRecord record =
        sequences
            .get()
            .find(series, number)
            .orElseThrow(
                () -> Problem.notFound("no number %d in series %s".formatted(number, series)));
    members.put("number", Long.toString(number));
    members.put("payload", record.payload());
    members.put("at", record.at().toString());
    record.voided().ifPresent(reason -> members.put("voided", reason));
    return HttpReply.json(200, members);
  }

  private static long number(String text) {
    if (!text.matches("[1-9][0-9]{0,17}")) {
      throw Problem.badRequest("query parameter number is '%s'; the minimum is 1".formatted(text));
    }
    return Long.parseLong(text);
  }

  /** POST /v1/sequences/{name}/void */
  HttpReply voidNumber(Exchange exchange) {
    JsonBody body = exchange.json(Set.of("number", "reason"));
    long number = body.number("number");
    String series = exchange.variable();
    if (!sequences.get().voidNumber(series, number, body.text("reason"))) {
      throw Problem.notFound("no number %d in series %s".formatted(number, series));
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", series);
    members.put("number", Long.toString(number));
    return HttpReply.json(200, members);
  }
}
