package dev.quipu.server.http;

import dev.quipu.time.Clock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * One connection. The event loop reads a request and hands it to a virtual thread, where its route
 * may block; the answer comes back to the event loop. One request of a connection is at work at a
 * time, so answers leave in the order in which requests came; a few more may wait, and then reading
 * stops.
 *
 * A connection is always waiting for one thing, and for no longer than that thing's time: the next
 * request, the rest of a head, the rest of a body, an answer.
 */

/** One connection. Lives on its event loop. */
final class Connection extends ChannelInboundHandlerAdapter {
  private static final int WAITING_MAX = 16;
  private static final Duration LINGER = Duration.ofSeconds(2);
  private static final Logger LOGGER = LoggerFactory.getLogger(Connection.class);

  private final HttpOptions options;
  private final Dispatcher dispatcher;
  private final Executor executor;
  private final Metrics metrics;
  private final Clock clock;
  private final Deque<Call> waiting = new ArrayDeque<>();
  private @Nullable Call reading;
  private @Nullable Call working;
  private boolean closing;
  private boolean lingering;
  private boolean headBegun;
  private long deadlineNanos;

  Connection(
      HttpOptions options, Dispatcher dispatcher, Executor executor, Metrics metrics, Clock clock) {
    this.options = options;
    this.dispatcher = dispatcher;
    this.executor = executor;
    this.metrics = metrics;
    this.clock = clock;
  }

  /** A request on its way: {@code answer} is set early if it is refused by its head. */
  private static final class Call {
    final HttpRequest request;
    final boolean keepAlive;
    final long startNanos;
    final ByteArrayOutputStream body = new ByteArrayOutputStream(0);
    @Nullable Route route;
    @Nullable Answer answer;

    Call(HttpRequest request, long startNanos) {
      this.request = request;
      this.keepAlive = HttpUtil.isKeepAlive(request);
      this.startNanos = startNanos;
    }

    String path() {
      return route == null ? "none" : route.path();
    }
  }

  /** Whether a request is under way. */
  boolean isBusy() {
    return working != null || reading != null;
  }

  /** Ends the connection after the requests that are under way. */
  void finish(Channel channel) {
    closing = true;
    if (!isBusy()) {
      channel.close();
    }
  }

  /** Tells that bytes came: the head of a request has begun, if none was. */
  void bytesCame() {
    if (reading == null && working == null && !headBegun) {
      headBegun = true;
      deadlineIn(options.headerTimeout().toNanos());
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    deadlineIn(options.idleTimeout().toNanos());
    watch(context);
    context.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    try {
      if (closing && reading == null) {
        return; // after a refusal, what follows cannot be trusted
      }
      if (message instanceof HttpRequest request) {
        begin(context, request);
      }
      if (message instanceof HttpContent content && reading != null) {
        take(context, reading, content);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void begin(ChannelHandlerContext context, HttpRequest request) {
    Call call = new Call(request, clock.nanoTime());
    reading = call;
    headBegun = false;
    if (working == null) {
      deadlineIn(options.bodyTimeout().toNanos());
    }
    if (request.decoderResult().isFailure()) {
      refuse(context, call, undecodable(request.decoderResult().cause()));
      return;
    }
    try {
      if (!request.protocolVersion().equals(HttpVersion.HTTP_1_1)
          && !request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
        throw Problem.badRequest("HTTP/1.0 and HTTP/1.1 are spoken here");
      }
      if (request.method().equals(HttpMethod.OPTIONS)) {
        call.answer = dispatcher.options(request).orElse(null);
      }
      if (call.answer == null) {
        call.route = dispatcher.route(request);
        if (HttpUtil.getContentLength(request, 0L) > call.route.bodyBytesMax()) {
          throw tooLarge(call.route);
        }
      }
      if (HttpUtil.is100ContinueExpected(request)) {
        context.writeAndFlush(
            new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
      }
    } catch (Problem problem) {
      if (problem.status() == 413 || problem.status() == 400) {
        refuse(context, call, problem); // what follows may be anything
      } else {
        call.answer = Answer.of(problem);
      }
    }
  }

  private void take(ChannelHandlerContext context, Call call, HttpContent content) {
    if (content.decoderResult().isFailure()) {
      refuse(context, call, undecodable(content.decoderResult().cause()));
      return;
    }
    ByteBuf bytes = content.content();
    Route route = call.route;
    if (route != null && call.answer == null && bytes.isReadable()) {
      if (call.body.size() + bytes.readableBytes() > route.bodyBytesMax()) {
        refuse(context, call, tooLarge(route));
        return;
      }
      byte[] part = new byte[bytes.readableBytes()];
      bytes.readBytes(part);
      call.body.writeBytes(part);
    }
    if (content instanceof LastHttpContent) {
      reading = null;
      waiting.add(call);
      if (waiting.size() >= WAITING_MAX) {
        context.channel().config().setAutoRead(false);
      }
      workOn(context);
    }
  }

  /**
   * Answers in turn and takes nothing more: what follows on this connection cannot be trusted. It
   * is read all the same, for a while, and thrown away: a connection that is closed with bytes
   * unread may take the answer with it.
   */
  private void refuse(ChannelHandlerContext context, Call call, Problem problem) {
    call.answer = Answer.of(problem);
    reading = null;
    closing = true;
    lingering = true;
    waiting.add(call);
    workOn(context);
  }

  private void workOn(ChannelHandlerContext context) {
    if (working != null) {
      return;
    }
    Call call = waiting.poll();
    if (call == null) {
      deadlineIn(
          reading == null ? options.idleTimeout().toNanos() : options.bodyTimeout().toNanos());
      return;
    }
    working = call;
    deadlineIn(options.requestDeadline().toNanos());
    Answer early = call.answer;
    Route route = call.route;
    if (early != null || route == null) {
      write(context, call, early == null ? Answer.of(Problem.notFound("no route")) : early);
      return;
    }
    byte[] body = call.body.toByteArray();
    executor.execute(() -> {
      Answer answer = dispatcher.answer(route, call.request, body);
      try {
        context.executor().execute(() -> write(context, call, answer));
      } catch (RejectedExecutionException e) {
        LOGGER.atDebug().log("an answer came after the server had stopped");
      }
    });
  }

  private void write(ChannelHandlerContext context, Call call, Answer answer) {
    if (working != call) {
      return; // it came after its deadline
    }
    working = null;
    boolean last = closing && waiting.isEmpty() && reading == null;
    boolean keepAlive = call.keepAlive && !last;
    FullHttpResponse response = response(call.request, answer, keepAlive);
    long nanos = clock.nanoTime() - call.startNanos;
    metrics.answered(call.request.method().name(), call.path(), answer.status(), nanos);
    if (!keepAlive) {
      closing = true;
      waiting.clear();
      if (lingering && context.channel() instanceof DuplexChannel channel) {
        context.writeAndFlush(response).addListener(written -> channel.shutdownOutput());
        deadlineIn(LINGER.toNanos());
      } else {
        context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
      }
      return;
    }
    context.writeAndFlush(response);
    if (!context.channel().config().isAutoRead() && waiting.size() < WAITING_MAX / 2 && !closing) {
      context.channel().config().setAutoRead(true);
    }
    workOn(context);
  }

  private static FullHttpResponse response(HttpRequest request, Answer answer, boolean keepAlive) {
    byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
    boolean withBody = !request.method().equals(HttpMethod.HEAD) && answer.status() != 204;
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            withBody ? Unpooled.wrappedBuffer(body) : Unpooled.EMPTY_BUFFER);
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, answer.type());
    if (answer.status() != 204) {
      response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
    }
    response.headers().set("X-Content-Type-Options", "nosniff");
    response.headers().set(HttpHeaderNames.CACHE_CONTROL, "no-store");
    answer.headers().forEach((name, value) -> response.headers().set(name, value));
    HttpUtil.setKeepAlive(response, keepAlive);
    return response;
  }

  private static Problem undecodable(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return new Problem(
          414,
          "too-large",
          "The request line is too long",
          "the limit is %d bytes".formatted(StrictDecoder.LINE_BYTES_MAX));
    }
    if (cause instanceof TooLongHttpHeaderException) {
      return new Problem(
          431,
          "too-large",
          "The head is too long",
          "the limit is %d bytes".formatted(StrictDecoder.HEAD_BYTES_MAX));
    }
    return Problem.badRequest("this is not HTTP");
  }

  private static Problem tooLarge(Route route) {
    return new Problem(
        413,
        "too-large",
        "The body is too long",
        "the limit of %s is %d bytes".formatted(route.path(), route.bodyBytesMax()));
  }

  private void deadlineIn(long nanos) {
    deadlineNanos = clock.nanoTime() + nanos;
  }

  /** Looks at the deadline now and then; cheaper than a timer for each thing waited for. */
  private void watch(ChannelHandlerContext context) {
    if (!context.channel().isOpen()) {
      return;
    }
    long left = deadlineNanos - clock.nanoTime();
    if (left <= 0) {
      late(context);
    }
    long shortest =
        Math.min(
            Math.min(options.headerTimeout().toNanos(), options.bodyTimeout().toNanos()),
            Math.min(options.idleTimeout().toNanos(), options.requestDeadline().toNanos()));
    context.executor().schedule(() -> watch(context), shortest / 4 + 1, TimeUnit.NANOSECONDS);
  }

  private void late(ChannelHandlerContext context) {
    Call call = working;
    closing = true;
    if (call == null) {
      context.close(); // it was the client that was late
      return;
    }
    boolean writes = call.route != null && call.route.writes();
    Problem problem =
        writes
            ? Problem.unknown("no answer within " + options.requestDeadline())
            : new Problem(
                503, "store-unavailable", "No answer", "within " + options.requestDeadline());
    waiting.clear();
    write(context, call, Answer.of(problem));
  }

  /** The client sends no more; what it has asked is still answered. */
  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      closing = true;
      lingering = false; // nothing more can come
      reading = null;
      if (working == null && waiting.isEmpty()) {
        context.close();
      }
    }
    context.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close(); // a connection that broke has nobody to tell
  }
}
