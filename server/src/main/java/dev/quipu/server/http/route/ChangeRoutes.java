package dev.quipu.server.http.route;

import dev.quipu.Counters;
import dev.quipu.Decimal;
import dev.quipu.Limits;
import dev.quipu.backend.ScaledCounters;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.ItemCollection.LedgerEntry;
import dev.quipu.technique.ItemCollection.LedgerPage;
import dev.quipu.technique.ItemCollection.Place;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Serves the changes of counters, if the technique keeps them, and recent values. */
record ChangeRoutes(Counters counters) {
  private static final int PAGE_CHANGES = 100;
  private static final int AGE_SECONDS_MAX = 86_400;

  /** Memory of a change in a response. */
  private static final int LISTED_BYTES = Limits.REASON_BYTES_MAX + 512;

  private static final Pattern CURSOR = Pattern.compile("(-?[0-9]{1,16})-([0-9a-f]{32})");

  /** GET /v1/changes/{name}: changes that are not compacted yet, ordered by time. */
  HttpReply list(Exchange exchange) {
    exchange.allowParameters(Set.of("limit", "cursor"));
    String name = exchange.variable();
    int limit = Cursor.limit(exchange, PAGE_CHANGES, ItemCollection.PAGE_CHANGES_MAX);
    Optional<Place> after = exchange.parameter("cursor").map(ChangeRoutes::decode);
    ItemCollection changes = collection(counters, "keeps no changes");
    int scale = ScaledCounters.scale(counters, name);
    exchange.reserve((long) limit * LISTED_BYTES);
    LedgerPage page = changes.ledger(name, after, limit);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", name);
    members.put("changes", page.changes().stream().map(each -> members(each, scale)).toList());
    if (page.hasMore()) {
      LedgerEntry last = page.changes().getLast();
      members.put("cursor", last.at().toEpochMilli() + "-" + last.id());
    }
    return HttpReply.json(200, members);
  }

  private static Map<String, Object> members(LedgerEntry change, int scale) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", change.id());
    members.put("added", Decimal.text(change.added(), scale));
    members.put("at", change.at().toString());
    change.reason().ifPresent(reason -> members.put("reason", reason));
    return members;
  }

  /** Returns a value that is at most this old, and its age. */
  static HttpReply aged(Counters counters, String name, String maxAgeSeconds) {
    int seconds = Cursor.number("maxAgeSeconds", maxAgeSeconds, 0, AGE_SECONDS_MAX);
    ItemCollection.Aged aged =
        collection(counters, "has no recent values; omit maxAgeSeconds")
            .read(name, Duration.ofSeconds(seconds))
            .orElseThrow(() -> Problem.notFound("no such counter: " + name));
    Map<String, Object> members =
        CounterRoutes.members(name, aged.reading().at(ScaledCounters.scale(counters, name)));
    members.put("ageMillis", aged.age().toMillis());
    return HttpReply.json(200, members);
  }

  private static ItemCollection collection(Counters counters, String lacks) {
    return counters
        .as(ItemCollection.class)
        .orElseThrow(() ->
            new UnsupportedOperationException(
                "the technique %s; technique item-collection does".formatted(lacks)));
  }

  private static Place decode(String cursor) {
    Matcher parts = CURSOR.matcher(cursor);
    if (parts.matches()) {
      try {
        return new Place(Instant.ofEpochMilli(Long.parseLong(parts.group(1))), parts.group(2));
      } catch (DateTimeException e) {
        // malformed
      }
    }
    throw Cursor.malformed();
  }
}
