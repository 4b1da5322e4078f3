package dev.quipu.server.http.route;

import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Serves sequences of records over HTTP. */
record SequenceRoutes(Supplier<SequenceOfRecords> sequences) {
  private static final NumberedLists ALL = new NumberedLists("sequences", "name", "last");
  private static final int PAGE_RECORDS = 100;
  private static final int RECORD_BYTES = 2 * SequenceOfRecords.PAYLOAD_BYTES_MAX;

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

  /** GET /v1/sequences */
  HttpReply list(Exchange exchange) {
    return ALL.list(exchange, sequences.get()::list);
  }

  /** GET /v1/sequences/{name}: the highest number, 0 if there is none; a page; or one record. */
  HttpReply read(Exchange exchange) {
    exchange.allowParameters(Set.of("number", "from", "limit"));
    String series = exchange.variable();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", series);
    Optional<String> from = exchange.parameter("from");
    boolean isPage = from.isPresent() || exchange.parameter("limit").isPresent();
    if (exchange.parameter("number").isEmpty()) {
      members.put("last", Long.toString(sequences.get().last(series)));
      if (isPage) {
        int most = Cursor.limit(exchange, PAGE_RECORDS, SequenceOfRecords.PAGE_MAX);
        exchange.reserve((long) most * RECORD_BYTES);
        long first = from.map(text -> number("from", text)).orElse(1L);
        List<NumberedRecord> page = sequences.get().page(series, first, most);
        members.put("records", page.stream().map(SequenceRoutes::members).toList());
      }
      return HttpReply.json(200, members);
    }
    if (isPage) {
      throw Problem.badRequest("query parameter number excludes from and limit; remove one");
    }
    long number = number("number", exchange.parameter("number").get());
    NumberedRecord record =
        sequences
            .get()
            .find(series, number)
            .orElseThrow(
                () -> Problem.notFound("no number %d in series %s".formatted(number, series)));
    members.putAll(members(record));
    return HttpReply.json(200, members);
  }

  private static Map<String, Object> members(NumberedRecord record) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("number", Long.toString(record.number()));
    members.put("payload", record.payload());
    members.put("at", record.at().toString());
    record.voided().ifPresent(reason -> members.put("voided", reason));
    return members;
  }

  static long number(String parameter, String text) {
    if (!text.matches("[1-9][0-9]{0,17}")) {
      throw Problem.badRequest(
          "query parameter %s is '%s'; it must be an integer, 1 or more"
              .formatted(parameter, text));
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
