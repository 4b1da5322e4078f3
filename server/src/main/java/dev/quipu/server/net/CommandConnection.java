package dev.quipu.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/*
 * All commands that have come are taken apart at once, into a batch. The loop's commit does what
 * came by all its connections in one group. Then all answers leave, in the order of the commands.
 */

/** One connection of a port that takes commands. Lives on its event loop. */
final class CommandConnection extends ChannelInboundHandlerAdapter {
  /** Most commands of a connection in one group. */
  private static final int BATCH_COMMANDS_MAX = 1_024;

  /** Most bytes that wait to be taken apart before no more is read: above any one command. */
  private static final int WAITING_BYTES_MAX = 2 << 20;

  private static final int ANSWER_BYTES_EXPECTED_MAX = 64 << 10;

  /** Between two looks at whether a command that has begun goes on: it has this to twice this. */
  private static final int BEAT_SECONDS = 30;

  /** Longest wait for a client that does not read its answers. */
  private static final int SLOW_SECONDS_MAX = 30;

  private final Front front;
  private final LoopCommits commits;
  private @Nullable ByteBuf rest;
  private @Nullable Batch batch; // that is to be committed
  private int lastSize = 1; // most clients send alike again and again
  private int lastAnswerBytes = 64;
  private boolean isShut;
  private @Nullable Future<?> slow;
  private @Nullable Future<?> beat;
  private long taken; // commands
  private long takenAtBeat;

  CommandConnection(Front front, LoopCommits commits) {
    this.front = front;
    this.commits = commits;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    beat =
        context
            .executor()
            .scheduleWithFixedDelay(
                () -> beat(context), BEAT_SECONDS, BEAT_SECONDS, TimeUnit.SECONDS);
    context.fireChannelActive();
  }

  /** Ends a connection that has brought half a command, however slowly more of it comes. */
  private void beat(ChannelHandlerContext context) {
    if (rest != null && batch == null && taken == takenAtBeat) {
      context.close();
    }
    takenAtBeat = taken;
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    Batch last = new Batch(1, 0);
    front.closed(last);
    if (last.size() > 0) {
      commits.add(last, () -> {});
    }
    Future<?> beating = beat;
    if (beating != null) {
      beating.cancel(false);
    }
    if (rest != null) {
      rest.release();
      rest = null;
    }
    context.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf came = (ByteBuf) message;
    if (front.isEnding() || isShut) {
      came.release(); // nothing that follows is answered
      return;
    }
    rest = joined(context, came);
    if (batch == null) {
      read(context);
    }
    adjust(context);
  }

  private ByteBuf joined(ChannelHandlerContext context, ByteBuf came) {
    ByteBuf before = rest;
    if (before == null) {
      return came;
    }
    ByteBuf all = context.alloc().buffer(before.readableBytes() + came.readableBytes());
    all.writeBytes(before).writeBytes(came);
    before.release();
    came.release();
    return all;
  }

  /** Takes commands apart, as many as a batch may have. */
  private void read(ChannelHandlerContext context) {
    ByteBuf in = rest;
    if (in != null) {
      Batch next = new Batch(lastSize, lastAnswerBytes);
      boolean isMore = true;
      while (isMore && next.size() < BATCH_COMMANDS_MAX && !front.isEnding()) {
        isMore = front.next(in, next);
      }
      if (!in.isReadable() || front.isEnding()) {
        in.release();
        rest = null;
      }
      if (next.size() > 0) {
        batch = next;
        lastSize = next.size();
        taken += lastSize;
        commits.add(next, () -> answer(context, next));
        return;
      }
    }
    if (front.isEnding() || isShut) {
      context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
  }

  /** After the commit. */
  private void answer(ChannelHandlerContext context, Batch done) {
    if (done.hasFailed()) {
      isShut = true; // and the batch stays, so that nothing of it is used again
      context.writeAndFlush(done.answers()).addListener(ChannelFutureListener.CLOSE);
      return;
    }
    batch = null;
    lastAnswerBytes = Math.min(done.answers().readableBytes() + 1, ANSWER_BYTES_EXPECTED_MAX);
    context.writeAndFlush(done.answers());
    read(context); // what did not fit into the batch, or came meanwhile
    adjust(context);
  }

  /** Reads on, unless the client does not, or more has come than is done. */
  private void adjust(ChannelHandlerContext context) {
    ByteBuf waiting = rest;
    boolean isMuch = waiting != null && waiting.readableBytes() > WAITING_BYTES_MAX;
    context.channel().config().setAutoRead(context.channel().isWritable() && !isMuch);
  }

  /** A client that does not read what it asked for is not asked for more, and not kept long. */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    boolean isWritable = context.channel().isWritable();
    adjust(context);
    Future<?> waiting = slow;
    if (isWritable && waiting != null) {
      waiting.cancel(false);
      slow = null;
    } else if (!isWritable && waiting == null) {
      slow = context.executor().schedule(() -> context.close(), SLOW_SECONDS_MAX, TimeUnit.SECONDS);
    }
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      isShut = true; // no more comes: what came is answered
      if (batch == null) {
        read(context);
      }
    }
    context.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close(); // a connection that broke has nobody to tell
  }
}
