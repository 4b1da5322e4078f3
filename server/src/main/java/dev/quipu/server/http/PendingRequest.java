package dev.quipu.server.http;

import dev.quipu.server.http.message.Body;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Reservation;
import dev.quipu.server.http.route.Route;
import dev.quipu.server.net.MemoryBudget;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import org.jspecify.annotations.Nullable;

/** A request in progress; {@code reply} is set early if its header is rejected. */
final class PendingRequest {
  final HttpRequest request;
  final boolean keepAlive;
  final long startNanos;
  final Reservation reservation;
  final Body body;
  @Nullable Route route;
  @Nullable HttpReply reply;

  PendingRequest(HttpRequest request, long startNanos, MemoryBudget budget) {
    this.request = request;
    this.keepAlive = HttpUtil.isKeepAlive(request);
    this.startNanos = startNanos;
    this.reservation = new Reservation(budget);
    boolean isFailed = request.decoderResult().isFailure();
    long declared = isFailed ? -1 : HttpUtil.getContentLength(request, -1L);
    this.body = new Body(declared, reservation);
  }

  /** Returns the path of the route, for metrics. */
  String path() {
    return route == null ? "none" : route.path();
  }

  /** Releases the memory of the request, except for that of its reply. */
  void ended(HttpReply result) {
    body.discard();
    reservation.shrinkTo(result.length());
  }
}
