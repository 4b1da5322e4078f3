package dev.quipu.server.http;

import dev.quipu.server.net.Connections;
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
 * again when bytes trickle.
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

  private final HttpOptions options;
  private final Dispatcher dispatcher;
  private final Workers workers;
  private final HostProcess host;
  private final Metrics metrics;
  private final Clock clock;
  private final StrictDecoder decoder = new StrictDecoder(this::isPaused);
  private final Arrivals arrivals = new Arrivals(this, decoder);
  private final Channel channel;
  private final Connections.Place place;
  private @Nullable Call reading;
  private @Nullable Call working;
  private @Nullable ReplyWriter writer;
  private @Nullable Reservation head;
  private boolean closing;
  private boolean lingering;
  private boolean headBegun;
  private boolean isHeadCounted; // of the request whose body is still to come
  private int headBytes;
  private volatile long deadlineNanos;

  Connection(
      Channel channel,
      Connections.Place place,
      HttpOptions options,
      Dispatcher dispatcher,
      Workers workers,
      HostProcess host,
      Metrics metrics,
      Clock clock) {
    this.channel = channel;
    this.place = place;
    place.idleWhen(() -> working == null);
    this.options = options;
    this.dispatcher = dispatcher;
    this.workers = workers;
    this.host = host;
    this.metrics = metrics;
    this.clock = clock;
    deadlineIn(options.idleTimeout());
  }

  StrictDecoder decoder() {
    return decoder;
  }

  Arrivals arrivals() {
    return arrivals;
  }

  /** Whether nothing is decoded now: a request is in progress, or others have their turn. */
  boolean isPaused() {
    return working != null || arrivals.isTurnOver();
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
      deadlineIn(options.headerTimeout());
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
      head = new Reservation(host.budget());
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
      head = new Reservation(host.budget());
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
    Call call = new Call(request, clock.nanoTime(), host.budget());
    reading = call;
    arrivals.requestBegan();
    deadlineIn(options.bodyTimeout());
    if (request.decoderResult().isFailure()) {
      refuse(context, call, Problem.undecodable(request.decoderResult().cause()));
      return;
    }
    boolean continues = HttpUtil.is100ContinueExpected(request);
    try {
      route(call);
      if (continues && call.answer == null) {
        context.writeAndFlush(
            new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
      }
    } catch (Problem problem) {
      if (problem.status() == 413 || problem.status() == 400 || continues) {
        refuse(context, call, problem); // what follows may be anything
      } else {
        call.answer = Answer.of(problem);
      }
    }
  }

  private void route(Call call) {
    HttpRequest request = call.request;
    if (!request.protocolVersion().equals(HttpVersion.HTTP_1_1)
        && !request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      throw Problem.badRequest("HTTP/1.0 and HTTP/1.1 are spoken here");
    }
    if (request.method().equals(HttpMethod.OPTIONS)) {
      call.answer = dispatcher.options(request).orElse(null);
    }
    if (call.answer != null) {
      return;
    }
    Route route = dispatcher.route(request);
    call.route = route;
    if (HttpUtil.getContentLength(request, 0L) > route.bodyBytesMax()) {
      throw Problem.tooLarge(route);
    }
    if (!call.body.begin()) {
      throw Problem.insufficientMemory(HttpUtil.getContentLength(request, 0L), host.budget());
    }
  }

  private void take(ChannelHandlerContext context, Call call, HttpContent content) {
    if (content.decoderResult().isFailure()) {
      refuse(context, call, Problem.undecodable(content.decoderResult().cause()));
      return;
    }
    boolean isLast = content instanceof LastHttpContent;
    ByteBuf bytes = content.content();
    Route route = call.route;
    if (route != null && call.answer == null && bytes.isReadable()) {
      int length = call.body.length() + bytes.readableBytes();
      if (length > route.bodyBytesMax()) {
        refuse(context, call, Problem.tooLarge(route));
        return;
      }
      if (!call.body.add(bytes, isLast)) {
        call.answer = Answer.of(Problem.insufficientMemory(length, host.budget()));
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
  private void refuse(ChannelHandlerContext context, Call call, Problem problem) {
    call.answer = Answer.of(problem);
    reading = null;
    closing = true;
    lingering = true;
    work(context, call);
  }

  private void work(ChannelHandlerContext context, Call call) {
    working = call;
    releaseHead();
    place.use();
    deadlineIn(options.requestDeadline());
    Answer early = call.answer;
    Route route = call.route;
    if (early != null || route == null) {
      write(context, call, early == null ? Answer.of(Problem.notFound("no route")) : early);
      return;
    }
    Exchange.TimeLeft timeLeft =
        new Exchange.TimeLeft(clock, clock.nanoTime(), options.requestDeadline());
    boolean runs =
        workers.tryRun(
            () -> answered(context, call, dispatcher.answer(route, call, timeLeft)),
            () -> {
              call.reservation.release();
              channel.close();
            });
    if (!runs) {
      write(context, call, Answer.of(Problem.overloaded(workers.runningMax())));
    }
  }

  private void answered(ChannelHandlerContext context, Call call, Answer answer) {
    call.body.discard();
    call.reservation.shrinkTo(answer.length());
    try {
      context.executor().execute(() -> write(context, call, answer));
    } catch (RejectedExecutionException e) {
      call.reservation.release();
      LOGGER.atDebug().log("Answer dropped: the server has stopped");
    }
  }

  private void write(ChannelHandlerContext context, Call call, Answer answer) {
    if (working != call) {
      call.reservation.release(); // it came after its deadline, or the client has gone
      return;
    }
    boolean keepAlive = call.keepAlive && !closing;
    closing = !keepAlive;
    long nanos = clock.nanoTime() - call.startNanos;
    metrics.answered(call.request.method().name(), call.path(), answer.status(), nanos);
    ReplyWriter begun =
        ReplyWriter.write(
            context, call.request, answer, keepAlive, future -> written(call, future));
    if (working != call) {
      return; // and written
    }
    writer = begun;
    deadlineIn(options.bodyTimeout());
    if (!call.reservation.tryGrowTo((long) answer.length() + RECEIVE_BYTES_MAX)) {
      channel.close(); // the client does not read, and there is no memory to wait until it does
    }
  }

  private void written(Call call, ChannelFuture future) {
    if (working != call) {
      return;
    }
    working = null;
    writer = null;
    call.reservation.release();
    if (!future.isSuccess()) {
      channel.close();
    } else if (!closing) {
      deadlineIn(options.idleTimeout());
      arrivals.resume();
    } else if (lingering && channel instanceof DuplexChannel duplex) {
      duplex.shutdownOutput();
      deadlineIn(LINGER);
      arrivals.resume();
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
    Call call = working;
    closing = true;
    if (call == null || writer != null) {
      channel.close(); // it was the client that was late
      return;
    }
    boolean writes = call.route != null && call.route.writes();
    Problem problem =
        writes
            ? Problem.unknown("no answer within " + options.requestDeadline())
            : new Problem(
                503, "store-unavailable", "No answer", "within " + options.requestDeadline());
    // What the request holds is released when its thread ends.
    Call late = new Call(call.request, call.startNanos, host.budget());
    late.route = call.route;
    working = late;
    write(channel.pipeline().context(this), late, Answer.of(problem));
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
    host.report(cause);
    context.close(); // nobody is left to answer
  }
}
