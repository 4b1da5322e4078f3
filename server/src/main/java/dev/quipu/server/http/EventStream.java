package dev.quipu.server.http;

import dev.quipu.server.http.message.EventSink;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A response of events, one after another, without an end. Like a {@link ReplyWriter}, it writes in
 * slices, while the channel is writable. Its methods that are not of {@link EventSink} are confined
 * to the event loop.
 */
final class EventStream implements EventSink {
  private static final int SLICE_BYTES = 16 << 10;

  /** Between two events the connection has no deadline. */
  private static final Duration NEVER = Duration.ofDays(36_500);

  private final ChannelHandlerContext context;
  private final Duration readTime;
  private final Consumer<Duration> deadline;
  private volatile boolean isReady = true;
  private @Nullable ByteBuf event; // that is being sent
  private Runnable whenSent = () -> {};
  private @Nullable Runnable onEnd; // guarded by this
  private boolean isEnded; // guarded by this
  private boolean isProceeding;

  /**
   * Creates a stream.
   *
   * @param readTime in which a client must read an event
   * @param deadline sets the time after which the connection is closed
   */
  EventStream(ChannelHandlerContext context, Duration readTime, Consumer<Duration> deadline) {
    this.context = context;
    this.readTime = readTime;
    this.deadline = deadline;
    deadline.accept(NEVER);
  }

  @Override
  public boolean isReady() {
    return isReady;
  }

  @Override
  public void send(byte[] bytes, Runnable afterwards) {
    isReady = false;
    execute(() -> begin(bytes, afterwards), afterwards);
  }

  private void execute(Runnable action, Runnable otherwise) {
    try {
      context.executor().execute(action);
    } catch (RejectedExecutionException e) {
      otherwise.run(); // the server has stopped
    }
  }

  private void begin(byte[] bytes, Runnable afterwards) {
    if (!context.channel().isActive()) {
      afterwards.run();
      return;
    }
    event = Unpooled.wrappedBuffer(bytes);
    whenSent = afterwards;
    deadline.accept(readTime);
    proceed();
  }

  /** Continues to write while the channel is writable. */
  void proceed() {
    ByteBuf body = event;
    if (body == null || isProceeding) {
      return; // Netty's encoder is not reentrant
    }
    isProceeding = true;
    while (body.isReadable() && context.channel().isWritable()) {
      int length = Math.min(body.readableBytes(), SLICE_BYTES);
      ChannelFuture written =
          context.writeAndFlush(new DefaultHttpContent(body.readRetainedSlice(length)));
      if (!body.isReadable()) {
        event = null;
        body.release();
        written.addListener(each -> sent());
      }
    }
    isProceeding = false;
  }

  private void sent() {
    Runnable action = whenSent;
    whenSent = () -> {};
    isReady = true;
    deadline.accept(NEVER);
    action.run();
  }

  @Override
  public void end() {
    execute(
        () ->
            context
                .writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
                .addListener(ChannelFutureListener.CLOSE),
        () -> {});
  }

  /** The channel is closed. */
  void closed() {
    ByteBuf body = event;
    if (body != null) {
      event = null;
      body.release();
    }
    Runnable action = whenSent;
    whenSent = () -> {};
    action.run();
    Runnable last;
    synchronized (this) {
      isEnded = true;
      last = onEnd;
      onEnd = null;
    }
    if (last != null) {
      last.run();
    }
  }

  @Override
  public void onEnd(Runnable action) {
    synchronized (this) {
      if (!isEnded) {
        onEnd = action;
        return;
      }
    }
    action.run();
  }
}
