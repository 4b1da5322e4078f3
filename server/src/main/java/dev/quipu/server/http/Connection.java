package dev.quipu.server.http;

import dev.quipu.server.http.message.EventSink;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * The event loop decodes a request and hands it to a virtual thread, where its route may block; the
 * event loop then writes the reply. A connection has one request in progress, from its last byte
 * until the system has accepted the last byte of its reply. Until then, pipelined requests are not
 * decoded, and soon not read. So a client that does not read holds one reply, which is reserved.
 *
 * A connection has one deadline: for the next request, the rest of a header, the rest of a body, a
 * reply, or the client to read it. Bytes that trickle in do not extend it. A timer checks it.
 */

/** One connection. Confined to its event loop. */
final class Connection extends ChannelInboundHandlerAdapter {
  /** Maximum number of bytes of one read. */
  static final int RECEIVE_BYTES_MAX = 16 << 10;

  /** After these the rest of the input cannot be decoded reliably. */
  private static final Set<Integer> FRAMING = Set.of(400, 413, 417, 501);

  /** A reply that is reserved only if the client has not read it for some time. */
  private static final int SMALL_REPLY_BYTES_MAX = 2 << 10;

  private static final Duration SMALL_REPLY = Duration.ofSeconds(1);
  private static final Duration LINGER = Duration.ofSeconds(2);
  private static final Logger LOGGER = LoggerFactory.getLogger(Connection.class);

  private final HttpOptions.Timeouts timeouts;
  private final Shared shared;
  private final Clock clock;
  private final StrictDecoder decoder = new StrictDecoder(this::isPaused);
  private final RequestFlowControl flowControl = new RequestFlowControl(this, decoder);
  private final Channel channel;
  private final HeadMemory head;
  private final Connections.Place place;
  private final Optional<LoopAdds> adds;
  private @Nullable PendingRequest reading;
  private @Nullable PendingRequest working;
  private @Nullable ReplyWriter writer;
  private @Nullable EventStream stream;
  private boolean closing;
  private boolean lingering;
  private boolean headBegun;
  private boolean isHeadCounted; // of the request whose body is not complete
  private int headBytes;
  private long unreadBytes; // of a small reply that is not reserved; 0 if it is
  private volatile long deadlineNanos;

  /** The parts that all connections of a server share. */
  record Shared(
      HttpOptions options,
      Dispatcher dispatcher,
      Workers workers,
      HostProcess host,
      Metrics metrics,
      Clock clock,
      HttpDate date) {}

  /** With the adds to an engine in this process; empty for another store. */
  Connection(Channel channel, Connections.Place place, Shared shared, Optional<LoopAdds> adds) {
    this.adds = adds;
    this.channel = channel;
    this.place = place;
    this.shared = shared;
    this.head = new HeadMemory(shared.host.budget());
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

  /** Returns whether decoding is paused: a request is in progress, or it is the turn of others. */
  boolean isPaused() {
    return working != null || flowControl.isTurnOver();
  }

  /** Closes the connection after the request in progress. */
  void finish() {
    closing = true;
    if (stream != null || (working == null && reading == null)) {
      channel.close();
    }
  }

  /** Notes that bytes arrived, which may begin a header. */
  void bytesReceived(int count) {
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

  /** Notes that the decoder has processed all bytes that it can. */
  void decoded(boolean isInHead) {
    if (reading != null && !closing) {
      holdHead(reading.request);
    }
    if (!isInHead || reading != null || working != null || closing) {
      return;
    }
    if (!headBegun) {
      headBytes = StrictDecoder.HEAD_BYTES_MAX; // it arrived with the previous request
      beginHead();
    }
    if (!head.tryHoldBegun(headBytes)) {
      closing = true;
      channel.close(); // a partial request, and no memory to wait for the rest
    }
  }

  private void endHead() {
    decoder.headEnded();
    headBegun = false;
    headBytes = 0;
    isHeadCounted = false;
  }

  /** Reserves the memory of the header until the body is complete. */
  private void holdHead(HttpRequest request) {
    if (isHeadCounted) {
      return;
    }
    isHeadCounted = true;
    if (!head.tryHold(request)) {
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
        return; // after a rejection, the rest cannot be decoded reliably
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
      if (FRAMING.contains(problem.status()) || continues) {
        reject(context, call, problem); // the rest cannot be decoded reliably
      } else {
        call.reply = HttpReply.of(problem);
      }
    }
  }

  private void route(PendingRequest call) {
    HttpRequest request = call.request;
    Codings.check(request);
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
        call.body.discard(); // and the rest, as it arrives
        call.reservation.shrinkTo(0);
      }
    }
    if (isLast) {
      reading = null;
      work(context, call);
    }
  }

  /**
   * Replies and ends the connection: what follows cannot be decoded reliably. It is read for a
   * while, since the reply may get lost if a connection is closed with unread bytes.
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
    head.release();
    place.use();
    deadlineIn(timeouts.request());
    HttpReply early = call.reply;
    Route route = call.route;
    if (early != null || route == null) {
      write(context, call, early == null ? HttpReply.of(Problem.notFound("no such route")) : early);
      return;
    }
    Exchange.TimeLeft timeLeft = new Exchange.TimeLeft(clock, clock.nanoTime(), timeouts.request());
    if (adds.isPresent()
        && adds.get()
            .takes(shared.dispatcher, route, call, timeLeft, reply -> end(context, call, reply))) {
      return;
    }
    boolean runs =
        shared.workers.tryRun(
            () -> replied(context, call, shared.dispatcher.reply(route, call, timeLeft)),
            () -> {
              call.reservation.release();
              channel.close();
            });
    if (!runs) {
      write(context, call, HttpReply.of(Problem.overloaded(shared.workers.runningMax())));
    }
  }

  private void end(ChannelHandlerContext context, PendingRequest call, HttpReply reply) {
    call.ended(reply);
    write(context, call, reply);
  }

  private void replied(ChannelHandlerContext context, PendingRequest call, HttpReply reply) {
    call.ended(reply);
    try {
      context.executor().execute(() -> write(context, call, reply));
    } catch (RejectedExecutionException e) {
      call.reservation.release();
      LOGGER.atDebug().log("Reply dropped; the server has stopped");
    }
  }

  private void write(ChannelHandlerContext context, PendingRequest call, HttpReply reply) {
    if (working != call) {
      call.reservation.release(); // after its deadline, or the client has disconnected
      return;
    }
    boolean keepAlive = call.keepAlive && !closing;
    closing = !keepAlive;
    long nanos = clock.nanoTime() - call.startNanos;
    shared.metrics.completed(call.request.method().name(), call.path(), reply, nanos);
    if (reply.events().isPresent() && !call.request.method().equals(HttpMethod.HEAD)) {
      stream(context, call, reply, reply.events().get());
      return;
    }
    ReplyWriter begun =
        ReplyWriter.write(
            context,
            call.request,
            shared.dispatcher.forPage(call.route, call.request, reply),
            keepAlive,
            shared.date.text(clock.epochMillis()),
            future -> written(call, future));
    if (working != call) {
      return; // written already
    }
    writer = begun;
    unreadBytes = (long) reply.length() + RECEIVE_BYTES_MAX;
    if (reply.length() <= SMALL_REPLY_BYTES_MAX) {
      deadlineIn(SMALL_REPLY); // almost always it is read before
    } else {
      reserveUnread(call);
    }
  }

  /** Begins a response that ends when the client or the server disconnects. */
  private void stream(
      ChannelHandlerContext context,
      PendingRequest call,
      HttpReply reply,
      Consumer<EventSink> begin) {
    closing = true;
    call.reservation.release();
    ReplyWriter.writeHead(context, call.request, reply, shared.date.text(clock.epochMillis()));
    EventStream begun = new EventStream(context, timeouts.body(), this::deadlineIn);
    stream = begun;
    begin.accept(begun);
  }

  /** Reserves the memory of a reply that waits for the client to read it. */
  private void reserveUnread(PendingRequest call) {
    long needed = unreadBytes;
    unreadBytes = 0;
    deadlineIn(timeouts.body());
    if (!call.reservation.tryGrowTo(needed)) {
      channel.close(); // the client does not read, and there is no memory to wait for it
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
    if (writer != null) {
      writer.proceed();
    }
    if (stream != null) {
      stream.proceed();
    }
    context.fireChannelWritabilityChanged();
  }

  private void deadlineIn(Duration time) {
    deadlineNanos = clock.nanoTime() + time.toNanos();
  }

  /** Returns whether the deadline has passed. Callable from any thread. */
  boolean isLate() {
    return deadlineNanos - clock.nanoTime() <= 0;
  }

  /** Closes the connection if its deadline has passed. */
  void checkDeadline() {
    if (!isLate()) {
      return;
    }
    PendingRequest call = working;
    if (call != null && writer != null && unreadBytes > 0) {
      reserveUnread(call);
      return;
    }
    closing = true;
    if (call == null || writer != null || stream != null) {
      channel.close(); // the client was late
      return;
    }
    boolean writes = call.route != null && call.route.writes();
    Problem problem =
        writes
            ? Problem.unknown("no result within " + timeouts.request())
            : new Problem(
                503,
                "store-unavailable",
                "Request timeout",
                "no result within " + timeouts.request());
    // The memory of the request is released when its thread ends.
    PendingRequest late = new PendingRequest(call.request, call.startNanos, shared.host.budget());
    late.route = call.route;
    working = late;
    write(channel.pipeline().context(this), late, HttpReply.of(problem));
  }

  /** Handles the end of the input; requests in progress are still completed. */
  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      closing = true;
      lingering = false; // no more input
      if (reading != null) {
        reading.reservation.release();
        reading = null;
      }
      if (working == null || stream != null) {
        context.close();
      }
    }
    context.fireUserEventTriggered(event);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    closing = true;
    endHead();
    head.release();
    if (reading != null) {
      reading.reservation.release();
      reading = null;
    }
    if (working != null && writer != null) {
      working.reservation.release();
    }
    working = null; // if its thread still runs, it releases the memory
    writer = null;
    if (stream != null) {
      stream.closed();
    }
    context.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    shared.host.report(cause);
    context.close(); // no reply is possible
  }
}
