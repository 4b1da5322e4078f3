package dev.quipu.server.http.route;

import dev.quipu.presence.Online;
import dev.quipu.presence.Presence;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Problem;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Serves presence over HTTP. */
record PresenceRoutes(Supplier<Presence> presence) {
  /** POST /v1/presence/{room} */
  HttpReply seen(Exchange exchange) {
    JsonBody body = exchange.json(Set.of("clientId", "session"));
    Optional<String> session = body.optionalText("session");
    if (session.isPresent()) {
      return seenInSession(exchange, body, session.get());
    }
    String client = body.text("clientId");
    presence.get().seen(exchange.variable(), client);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("room", exchange.variable());
    members.put("clientId", client);
    return HttpReply.json(200, members);
  }

  /** Counts a hit of a session, whose mark is in the request and in the reply. */
  private HttpReply seenInSession(Exchange exchange, JsonBody body, String session) {
    if (body.optionalText("clientId").isPresent()) {
      throw Problem.badRequest("fields clientId and session exclude each other; send one");
    }
    Optional<String> token = session.isEmpty() ? Optional.empty() : Optional.of(session);
    Presence.Hit hit = presence.get().seenInSession(exchange.variable(), token);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("room", exchange.variable());
    members.put("counted", hit.counted());
    members.put("session", hit.token());
    return HttpReply.json(200, members);
  }

  /** GET /v1/presence/{room}; an unknown room has 0. */
  HttpReply online(Exchange exchange) {
    exchange.allowParameters(Set.of());
    Online online = presence.get().online(exchange.variable());
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("room", exchange.variable());
    members.put("value", Long.toString(online.value()));
    if (online.complete()) {
      members.put("low", Long.toString(online.low()));
      members.put("high", Long.toString(online.high()));
    }
    members.put("complete", online.complete());
    members.put("from", online.from().toString());
    members.put("until", online.until().toString());
    return HttpReply.json(200, members);
  }
}
