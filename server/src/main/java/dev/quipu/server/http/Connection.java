package dev.quipu.server.http;

import dev.quipu.server.http.message.Body;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.http.message.Reservation;
import dev.quipu.server.http.route.Metrics;
import dev.quipu.server.http.route.Route;
import dev.quipu.server.net.Connections;
import dev.quipu.server.net.HostProcess;
import dev.quipu.time.Clock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The event loop reads a request and hands it to a virtual thread, where its route may block; the
 * answer comes back to the event loop. A connection has one request in progress, from its last byte
 * until the system has taken the last byte of its answer; what the client sends ahead is neither
 * decoded nor read for long. So a client that does not read holds one answer, which is reserved.
 *
 * A connection always waits for one thing, and no longer than that thing's time: the next request,
 * the rest of a head, the rest of a body, an answer, the client to read it. The time does not start
 * again when bytes trickle, as it would with Netty's IdleStateHandler. One timer of the server
 * looks at the deadlines of all connections.
 */

/** One connection. Lives on its event loop. */
final class Connection extends ChannelInboundHandlerAdapter {
  /** Longest piece that is read at once. */
  static final int RECEIVE_BYTES_MAX = 16 << 10;

  /** A begun head may become up to this many times as large when decoded. */
  private static final int DECODED_FACTOR = 16;

  private static final int BEGUN_HEAD_BYTES_MIN = 1 << 10;
  private static final int BEGUN_HEAD_BYTES_MAX = 2 * StrictDecoder.HEAD_BYTES_MAX;

  /** Heap of a decoded head, for each char and besides for each header field. */
  private static final int HEAD_CHAR_BYTES = 2;

  private static final int HEADER_BYTES = 200;
  private static final Duration LINGER = Duration.ofSeconds(2);
  private static final Logger LOGGER = LoggerFactory.getLogger(Connection.class);

  private final HttpOptions.Timeouts timeouts;
  private final Shared shared;
  private final Clock clock;
  private final StrictDecoder decoder = new StrictDecoder(this::isPaused);
  private final RequestFlowControl flowControl = new RequestFlowControl(this, decoder);
  private final Channel channel;
  private final Connections.Place place;
  private @Nullable PendingRequest reading;
  private @Nullable PendingRequest working;
  private @Nullable ReplyWriter writer;
  private @Nullable Reservation head;
  private boolean closing;
  private boolean lingering;
  private boolean headBegun;
  private boolean isHeadCounted; // of the request whose body is still to come
  private int headBytes;
  private volatile long deadlineNanos;

  /** What all connections of a server share. */
  record Shared(
      HttpOptions options,
      Dispatcher dispatcher,
      Workers workers,
      HostProcess host,
      Metrics metrics,
      Clock clock) {}

  Connection(Channel channel, Connections.Place place, Shared shared) {
    this.channel = channel;
    this.place = place;
    this.shared = shared;
    this.timeouts = shared.options.timeouts();
    this.clock = shared.clock;
    place.idleWhen(() -> working == null);
    deadlineIn(timeouts.idle());
  }

  StrictDecoder decoder() {
    return decoder;
  }

  RequestFlowControl flowControl() {
    return flowControl;
  }

  /** Whether nothing is decoded now: a request is in progress, or others have their turn. */
  boolean isPaused() {
    return working != null || flowControl.isTurnOver();
  }

  /** Ends the connection after the request that is in progress. */
  void finish() {
    closing = true;
    if (working == null && reading == null) {
      channel.close();
    }
  }

  /** Takes note that bytes came: the head of a request has begun, if none had. */
  void bytesCame(int count) {
    if (reading == null && working == null && !closing) {
      headBytes += count;
      beginHead();
    }
  }

  private void beginHead() {
    if (!headBegun) {
      headBegun = true;
      deadlineIn(timeouts.header());
    }
  }

  /** Takes note that the decoder has done what it could. */
  void decoded(boolean isInHead) {
    if (reading != null && !closing) {
      holdHead(reading.request);
    }
    if (!isInHead || reading != null || working != null || closing) {
      return;
    }
    if (!headBegun) {
      headBytes = StrictDecoder.HEAD_BYTES_MAX; // it came with the request before, in one piece
      beginHead();
    }
    if (head == null) {
      head = new Reservation(shared.host.budget());
    }
    long needed =
        Math.clamp((long) headBytes * DECODED_FACTOR, BEGUN_HEAD_BYTES_MIN, BEGUN_HEAD_BYTES_MAX);
    if (!head.tryGrowTo(needed)) {
      closing = true;
      channel.close(); // half a request, and no memory to wait for the other half
    }
  }

  private void endHead() {
    decoder.headEnded();
    headBegun = false;
    headBytes = 0;
    isHeadCounted = false;
  }

  private void releaseHead() {
    if (head != null) {
      head.release();
      head = null;
    }
  }

  /** The head of a request is kept for as long as its body is still to come. */
  private void holdHead(HttpRequest request) {
    if (isHeadCounted) {
      return;
    }
    isHeadCounted = true;
    long chars = request.uri().length();
    for (Map.Entry<String, String> each : request.headers()) {
      chars += each.getKey().length() + each.getValue().length();
    }
    long needed = HEAD_CHAR_BYTES * chars + (long) HEADER_BYTES * request.headers().size();
    if (needed <= Body.SMALL_BYTES_MAX) {
      releaseHead();
      return;
    }
    if (head == null) {
      head = new Reservation(shared.host.budget());
    }
    if (head.tryGrowTo(needed)) {
      head.shrinkTo(needed);
    } else {
      closing = true;
      channel.close(); // no memory to wait for the body
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    try {
      if (message instanceof HttpRequest) {
        endHead();
      }
      if (closing && reading == null) {
        return; // after a rejection, what follows cannot be trusted
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
    PendingRequest call = new PendingRequest(request, clock.nanoTime(), shared.host.budget());
    reading = call;
    flowControl.requestBegan();
    deadlineIn(timeouts.body());
    if (request.decoderResult().isFailure()) {
      reject(context, call, StrictDecoder.problem(request.decoderResult().cause()));
      return;
    }
    boolean continues = HttpUtil.is100ContinueExpected(request);
    try {
      route(call);
      if (continues && call.reply == null) {
        context.writeAndFlush(
            new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
      }
    } catch (Problem problem) {
      if (problem.status() == 413 || problem.status() == 400 || continues) {
        reject(context, call, problem); // what follows may be anything
      } else {
        call.reply = HttpReply.of(problem);
      }
    }
  }

  private void route(PendingRequest call) {
    HttpRequest request = call.request;
    if (!request.protocolVersion().equals(HttpVersion.HTTP_1_1)
        && !request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      throw Problem.badRequest("HTTP/1.0 and HTTP/1.1 are spoken here");
    }
    if (request.method().equals(HttpMethod.OPTIONS)) {
      call.reply = shared.dispatcher.options(request).orElse(null);
    }
    if (call.reply != null) {
      return;
    }
    Route route = shared.dispatcher.route(request);
    call.route = route;
    if (HttpUtil.getContentLength(request, 0L) > route.bodyBytesMax()) {
      throw Problem.tooLarge(route.bodyBytesMax(), route.path());
    }
    if (!call.body.begin()) {
      throw Problem.insufficientMemory(
          HttpUtil.getContentLength(request, 0L), shared.host.budget());
    }
  }

  private void take(ChannelHandlerContext context, PendingRequest call, HttpContent content) {
    if (content.decoderResult().isFailure()) {
      reject(context, call, StrictDecoder.problem(content.decoderResult().cause()));
      return;
    }
    boolean isLast = content instanceof LastHttpContent;
    ByteBuf bytes = content.content();
    Route route = call.route;
    if (route != null && call.reply == null && bytes.isReadable()) {
      int length = call.body.length() + bytes.readableBytes();
      if (length > route.bodyBytesMax()) {
        reject(context, call, Problem.tooLarge(route.bodyBytesMax(), route.path()));
        return;
      }
      if (!call.body.add(bytes, isLast)) {
        call.reply = HttpReply.of(Problem.insufficientMemory(length, shared.host.budget()));
        call.body.discard(); // and the rest, as it comes
        call.reservation.shrinkTo(0);
      }
    }
    if (isLast) {
      reading = null;
      work(context, call);
    }
  }

  /**
   * Answers and takes nothing more: what follows on this connection cannot be trusted. It is read
   * all the same, for a while, and thrown away: a connection that is closed with bytes unread may
   * take the answer with it.
   */
  private void reject(ChannelHandlerContext context, PendingRequest call, Problem problem) {
    call.reply = HttpReply.of(problem);
    reading = null;
    closing = true;
    lingering = true;
    work(context, call);
  }

  private void work(ChannelHandlerContext context, PendingRequest call) {
    working = call;
    releaseHead();
    place.use();
    deadlineIn(timeouts.request());
    HttpReply early = call.reply;
    Route route = call.route;
    if (early != null || route == null) {
      write(context, call, early == null ? HttpReply.of(Problem.notFound("no route")) : early);
      return;
    }
    Exchange.TimeLeft timeLeft = new Exchange.TimeLeft(clock, clock.nanoTime(), timeouts.request());
    boolean runs =
        shared.workers.tryRun(
            () -> answered(context, call, shared.dispatcher.reply(route, call, timeLeft)),
            () -> {
              call.reservation.release();
              channel.close();
            });
    if (!runs) {
      write(context, call, HttpReply.of(Problem.overloaded(shared.workers.runningMax())));
    }
  }

  private void answered(ChannelHandlerContext context, PendingRequest call, HttpReply reply) {
    call.body.discard();
    call.reservation.shrinkTo(reply.length());
    try {
      context.executor().execute(() -> write(context, call, reply));
    } catch (RejectedExecutionException e) {
      call.reservation.release();
      LOGGER.atDebug().log("Answer dropped: the server has stopped");
    }
  }

  private void write(ChannelHandlerContext context, PendingRequest call, HttpReply reply) {
    if (working != call) {
      call.reservation.release(); // it came after its deadline, or the client has gone
      return;
    }
    boolean keepAlive = call.keepAlive && !closing;
    closing = !keepAlive;
    long nanos = clock.nanoTime() - call.startNanos;
    shared.metrics.answered(call.request.method().name(), call.path(), reply.status(), nanos);
    ReplyWriter begun =
        ReplyWriter.write(context, call.request, reply, keepAlive, future -> written(call, future));
    if (working != call) {
      return; // and written
    }
    writer = begun;
    deadlineIn(timeouts.body());
    if (!call.reservation.tryGrowTo((long) reply.length() + RECEIVE_BYTES_MAX)) {
      channel.close(); // the client does not read, and there is no memory to wait until it does
    }
  }

  private void written(PendingRequest call, ChannelFuture future) {
    if (working != call) {
      return;
    }
    working = null;
    writer = null;
    call.reservation.release();
    if (!future.isSuccess()) {
      channel.close();
    } else if (!closing) {
      deadlineIn(timeouts.idle());
      flowControl.resume();
    } else if (lingering && channel instanceof DuplexChannel duplex) {
      duplex.shutdownOutput();
      deadlineIn(LINGER);
      flowControl.resume();
    } else {
      channel.close();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    ReplyWriter begun = writer;
    if (begun != null) {
      begun.proceed();
    }
    context.fireChannelWritabilityChanged();
  }

  private void deadlineIn(Duration time) {
    deadlineNanos = clock.nanoTime() + time.toNanos();
  }

  /** Whether what the connection waits for should have come. From any thread. */
  boolean isLate() {
    return deadlineNanos - clock.nanoTime() <= 0;
  }

  /** Ends the connection if it has waited for too long. */
  void checkDeadline() {
    if (!isLate()) {
      return;
    }
    PendingRequest call = working;
    closing = true;
    if (call == null || writer != null) {
      channel.close(); // it was the client that was late
      return;
    }
    boolean writes = call.route != null && call.route.writes();
    Problem problem =
        writes
            ? Problem.unknown("no answer within " + timeouts.request())
            : new Problem(503, "store-unavailable", "No answer", "within " + timeouts.request());
    // What the request holds is released when its thread ends.
    PendingRequest late = new PendingRequest(call.request, call.startNanos, shared.host.budget());
    late.route = call.route;
    working = late;
    write(channel.pipeline().context(this), late, HttpReply.of(problem));
  }

  /** The client sends no more; what it has asked is still answered. */
  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      closing = true;
      lingering = false; // nothing more can come
      if (reading != null) {
        reading.reservation.release();
        reading = null;
      }
      if (working == null) {
        context.close();
      }
    }
    context.fireUserEventTriggered(event);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    closing = true;
    endHead();
    releaseHead();
    if (reading != null) {
      reading.reservation.release();
      reading = null;
    }
    if (working != null && writer != null) {
      working.reservation.release();
    }
    working = null; // if its thread still runs, that releases what it holds
    writer = null;
    context.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    shared.host.report(cause);
    context.close(); // nobody is left to answer
  }
}
