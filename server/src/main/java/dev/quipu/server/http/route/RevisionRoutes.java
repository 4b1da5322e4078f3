package dev.quipu.server.http.route;

import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Serves revisions, and the number of entities that they leave, over HTTP. */
record RevisionRoutes(Supplier<RevisionLog> revisions) {
  private static final NumberedLists ALL = new NumberedLists("revisions", "name", "count");

  /** GET /v1/revisions */
  HttpReply list(Exchange exchange) {
    return ALL.list(exchange, revisions.get()::list);
  }

  /** POST /v1/revisions/{name} */
  HttpReply write(Exchange exchange) {
    JsonBody body = exchange.json(Set.of("entity", "kind", "payload"));
    String series = exchange.variable();
    String entity = body.text("entity");
    Revision.Kind kind = kind(body.text("kind"));
    RevisionLog.Result result =
        revisions.get().write(series, entity, kind, body.optionalText("payload").orElse(""));
    String count = Long.toString(result.count());
    return switch (result) {
      case RevisionLog.Written written -> {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", series);
        members.put("number", Long.toString(written.number()));
        members.put("count", count);
        yield HttpReply.json(200, members);
      }
      case RevisionLog.Rejected rejected ->
          throw new Problem(
                  409,
                  "entity-mismatch",
                  "Conflict",
                  "entity %s %s in %s; nothing changed"
                      .formatted(entity, rejected.isThere() ? "exists" : "does not exist", series))
              .with("exists", rejected.isThere())
              .with("count", count);
    };
  }

  private static Revision.Kind kind(String text) {
    return switch (text) {
      case "insert" -> Revision.Kind.INSERT;
      case "update" -> Revision.Kind.UPDATE;
      case "delete" -> Revision.Kind.DELETE;
      default ->
          throw Problem.badRequest(
              "field kind is '%s'; it must be insert, update or delete".formatted(text));
    };
  }

  /** GET /v1/revisions/{name}: the number of entities, an entity, or one revision. */
  HttpReply read(Exchange exchange) {
    exchange.allowParameters(Set.of("entity", "number"));
    String series = exchange.variable();
    Optional<String> entity = exchange.parameter("entity");
    Optional<String> number = exchange.parameter("number");
    if (entity.isPresent() && number.isPresent()) {
      throw Problem.badRequest("query parameters entity and number exclude each other");
    }
    if (entity.isPresent()) {
      return one(series, "entity " + entity.get(), revisions.get().current(series, entity.get()));
    }
    if (number.isPresent()) {
      long wanted = SequenceRoutes.number("number", number.get());
      return one(series, "revision " + wanted, revisions.get().revision(series, wanted));
    }
    Optional<Revision> newest = revisions.get().newest(series);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", series);
    members.put("number", Long.toString(newest.map(Revision::number).orElse(0L)));
    members.put("count", Long.toString(newest.map(Revision::count).orElse(0L)));
    return HttpReply.json(200, members);
  }

  private static HttpReply one(String series, String what, Optional<Revision> found) {
    Revision revision =
        found.orElseThrow(() -> Problem.notFound("no %s in %s".formatted(what, series)));
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", series);
    members.put("number", Long.toString(revision.number()));
    members.put("entity", revision.entity());
    members.put("kind", revision.kind().name().toLowerCase(Locale.ROOT));
    members.put("payload", revision.payload());
    members.put("count", Long.toString(revision.count()));
    members.put("at", revision.at().toString());
    return HttpReply.json(200, members);
  }
}
