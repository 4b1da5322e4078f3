package dev.quipu.server.http.route;

import dev.quipu.Limits;
import dev.quipu.server.http.message.AcceptEncoding;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.watch.Follower;
import dev.quipu.server.watch.GzipBlocks;
import dev.quipu.server.watch.WatchHub;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Serves changes of counters as they happen. */
record WatchRoutes(Optional<WatchHub> hub) {
  /** GET /v1/watch */
  HttpReply watch(Exchange exchange) {
    exchange.allowParameters(Set.of("prefix", "present"));
    String prefix = exchange.parameter("prefix").orElse("");
    if (!prefix.isEmpty()) {
      Limits.checkText("prefix", prefix, Limits.NAME_BYTES_MAX);
    }
    String present = exchange.parameter("present").orElse("true");
    if (!present.equals("true") && !present.equals("false")) {
      throw Problem.badRequest(
          "query parameter present is '%s'; it must be true or false".formatted(present));
    }
    WatchHub open =
        hub.orElseThrow(() ->
            new UnsupportedOperationException(
                "only the engine notices changes; read the counters again"
                    + " (POST /v1/counters/read)"));
    if (open.clients() >= WatchHub.CLIENTS_MAX) {
      throw Problem.tooManyStreams(WatchHub.CLIENTS_MAX);
    }
    String lastId = exchange.lastEventId();
    boolean isGzip = exchange.acceptsGzip();
    HttpReply reply =
        HttpReply.events(
            isGzip ? List.of(GzipBlocks.header()) : List.of(),
            sink ->
                open.follow(new Follower(prefix, present.equals("true"), lastId, isGzip, sink)));
    if (isGzip) {
      reply.with("Content-Encoding", AcceptEncoding.GZIP);
    }
    return reply.with("Vary", "Accept-Encoding");
  }
}
