package dev.quipu.server.protocol;

import dev.quipu.server.net.Connections;
import dev.quipu.server.net.DirectMemory;
import dev.quipu.server.net.Incidents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/*
 * All commands that have come are taken apart at once, into a batch. The loop's commit does what
 * came by all its connections in one group. Then all answers leave, in the order of the commands.
 *
 * Whatever a client can make the connection keep is limited, and counted in the memory budget: what
 * waits to be taken apart, a command that is not whole yet, large commands that wait for their
 * turn, answers that were not read. A client that does not read its answers is not read from
 * either: its batch pauses.
 */

/** One connection of a port that takes commands. Lives on its event loop. */
final class CommandConnection extends ChannelInboundHandlerAdapter {
  /** Most commands of a connection in one group. */
  static final int BATCH_COMMANDS_MAX = 1_024;

  /** Bytes of commands of a connection after which a group takes no more of it. */
  private static final int BATCH_BYTES_MAX = 64 << 10;

  /** Commands that a group takes of a connection whatever the memory budget says. */
  private static final int BATCH_COMMANDS_FREE = 16;

  /** What a large batch holds, besides its bytes: objects of the commands and their words. */
  private static final int BATCH_HELD_BYTES = 256 << 10;

  /** Most bytes that wait to be taken apart before no more is read: above any argument. */
  private static final int WAITING_BYTES_MAX = 256 << 10;

  private static final int ANSWER_BYTES_EXPECTED_MAX = 4 << 10;

  /** Between two looks at whether a command that has begun goes on: it has this to twice this. */
  private static final int PROGRESS_SECONDS = 30;

  /** Longest wait for a client that does not read its answers. */
  private static final int SLOW_SECONDS_MAX = 30;

  private final CommandDecoder decoder;
  private final LoopCommits commits;
  private final ConnectionMemory memory;
  private final Connections.Place place;
  private final Consumer<Throwable> stop;
  private @Nullable ByteBuf rest; // what waits to be taken apart; not the buffer that it came in
  private @Nullable Batch batch; // that is to be committed, or has paused
  private long heldBytes; // of what was read, in the memory
  private int lastSize = 1; // most clients send alike again and again
  private int lastAnswerBytes = 64;
  private int unread; // answers that have not left
  private int uncounted; // of these, such as the memory budget had no room for
  private boolean isShut; // no more comes, or nothing of it is looked at
  private @Nullable LingeringClose linger; // once the last answer has been written
  private boolean isOutOfMemory;
  private boolean wasHeavy; // the batch before
  private boolean isTight; // there is no memory for what is only kept to be quick
  private boolean isLarge; // the batch, which is counted in the memory
  private @Nullable Future<?> slow;
  private @Nullable Future<?> progressCheck;
  private long taken; // commands
  private long takenAtCheck;
  private long left; // answers that the client has read
  private long leftAtCheck;

  /**
   * Creates the handler of one connection.
   *
   * @param stop stops the engine, after an error of the virtual machine
   */
  CommandConnection(
      CommandDecoder decoder,
      LoopCommits commits,
      ConnectionMemory memory,
      Connections.Place place,
      Consumer<Throwable> stop) {
    this.decoder = decoder;
    this.commits = commits;
    this.memory = memory;
    this.place = place;
    place.idleWhen(() -> batch == null && unread == 0);
    this.stop = stop;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    progressCheck =
        context
            .executor()
            .scheduleWithFixedDelay(
                () -> guarded(context, () -> checkProgress(context)),
                PROGRESS_SECONDS,
                PROGRESS_SECONDS,
                TimeUnit.SECONDS);
    context.fireChannelActive();
  }

  /**
   * Does something of this connection outside its pipeline, which would only log an exception and
   * leave the client to wait.
   */
  private void guarded(ChannelHandlerContext context, Runnable what) {
    try {
      what.run();
    } catch (RuntimeException | Error e) {
      exceptionCaught(context, e);
      if (isFatal(e)) {
        throw e;
      }
    }
  }

  private static boolean isFatal(Throwable cause) {
    return cause instanceof VirtualMachineError && !DirectMemory.isExhausted(cause);
  }

  /**
   * Ends a connection that has brought half a command, however slowly more of it comes, or reads
   * none of its answers. One that is idle keeps nothing to be quick, and ends if it still holds
   * memory that the others need: for what it watches, or for a transaction that it does not end.
   * Netty's IdleStateHandler would not do: for it a byte that trickles is progress.
   */
  private void checkProgress(ChannelHandlerContext context) {
    boolean isIdle = batch == null && taken == takenAtCheck;
    if ((isIdle && (rest != null || decoder.hasPartialCommand()))
        || (unread > 0 && left == leftAtCheck)) {
      context.close();
    } else if (isIdle) {
      decoder.trim();
      hold();
      if (unread == 0 && memory.isShared()) {
        context.close();
      }
    }
    takenAtCheck = taken;
    leftAtCheck = left;
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    Batch waiting = batch;
    if (waiting != null) {
      waiting.abandon(); // also because it would watch keys after they are unwatched below
    }
    Batch last = new Batch(1, 0, memory);
    decoder.closed(last);
    memory.close();
    for (Future<?> each : new Future<?>[] {progressCheck, slow}) {
      if (each != null) {
        each.cancel(false);
      }
    }
    rest = null;
    if (last.size() > 0) {
      commits.add(last, () -> {});
    }
    context.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf came = (ByteBuf) message;
    try {
      if (decoder.isEnding() || isShut) {
        return; // nothing that follows is answered
      }
      if (rest == null && batch == null && mayGoOn(context)) {
        read(context, came);
      } else {
        keep(came);
        if (batch == null && mayGoOn(context)) {
          read(context, rest);
        } else {
          hold(); // what is over the budget was read before the client could be kept from it
        }
      }
    } finally {
      came.release();
    }
    adjust(context);
  }

  /** Keeps what was not taken apart, in a buffer of its own: nothing is copied more than twice. */
  private void keep(ByteBuf came) {
    ByteBuf before = rest;
    if (before == null) {
      rest = Unpooled.buffer(came.readableBytes()).writeBytes(came);
      return;
    }
    if (before.writableBytes() < came.readableBytes()) {
      before.discardReadBytes();
    }
    before.writeBytes(came);
  }

  /** Whether the client reads its answers. */
  private boolean mayGoOn(ChannelHandlerContext context) {
    return context.channel().isWritable() && uncounted == 0;
  }

  /** Takes commands apart, as many as a batch may have. */
  @SuppressWarnings("ReferenceEquality") // whether it is the same buffer
  private void read(ChannelHandlerContext context, @Nullable ByteBuf in) {
    Batch next = new Batch(lastSize, lastAnswerBytes, memory);
    if (in != null && !isOutOfMemory) {
      boolean isMore = fill(in, next);
      if (!in.isReadable() || decoder.isEnding()) {
        rest = null;
      } else if (in != rest) {
        keep(in);
      }
      isOutOfMemory = !hold() && !isMore;
      if (isMore && next.size() == 0 && !decoder.isEnding()) { // what was read asks for nothing
        context.executor().execute(() -> guarded(context, () -> goOn(context)));
      }
    }
    if (isOutOfMemory && !decoder.isEnding()) {
      decoder.outOfMemory(next);
      rest = null;
    }
    if (next.size() > 0) {
      place.use();
      if (wasHeavy) {
        next.expectHeavy();
      }
      batch = next;
      lastSize = next.size();
      taken += lastSize;
      commits.add(next, () -> guarded(context, () -> answer(context, next)));
    } else if (decoder.isEnding() || isShut) {
      end(context, Unpooled.EMPTY_BUFFER);
    }
  }

  /** Fills a batch; returns false if what is left is less than a command. */
  private boolean fill(ByteBuf in, Batch next) {
    int start = in.readerIndex();
    int limit = start + BATCH_BYTES_MAX;
    while (in.readerIndex() < limit && next.size() < BATCH_COMMANDS_MAX && !decoder.isEnding()) {
      boolean isMuch =
          next.size() >= BATCH_COMMANDS_FREE
              || (next.size() > 0 && in.readerIndex() - start > Batch.COMMAND_BYTES_FREE);
      if (isMuch && !isLarge && in.isReadable()) {
        isLarge = memory.tryTake(BATCH_HELD_BYTES);
        if (!isLarge) {
          return true; // the rest in another group
        }
      }
      if (!decoder.decode(in, next)) {
        return false;
      }
    }
    return true;
  }

  /** Counts what is kept of what was read; returns whether the memory budget has room for it. */
  private boolean hold() {
    ByteBuf waiting = rest;
    long bytes = decoder.heldBytes() + (waiting == null ? 0 : waiting.capacity());
    if (count(bytes + decoder.keptBytes())) {
      return true;
    }
    isTight = true;
    return count(bytes);
  }

  private boolean count(long bytes) {
    if (bytes < heldBytes) {
      memory.give(heldBytes - bytes);
    } else if (bytes > heldBytes && !memory.tryTake(bytes - heldBytes)) {
      return false;
    }
    heldBytes = bytes;
    return true;
  }

  /** After the commit. */
  private void answer(ChannelHandlerContext context, Batch done) {
    if (done.hasFailed()) {
      isShut = true; // and the batch stays, so that nothing of it is used again
      end(context, done.answers());
      return;
    }
    lastAnswerBytes = Math.min(done.answers().readableBytes() + 1, ANSWER_BYTES_EXPECTED_MAX);
    if (!done.isPaused()) {
      batch = null;
      wasHeavy = done.isHeavy();
      memory.give(done.commandBytes());
      release();
    }
    write(context, done);
    goOn(context);
  }

  /** Nothing of the batch is used from now on. */
  private void release() {
    decoder.answered();
    if (isLarge) {
      isLarge = false;
      memory.give(BATCH_HELD_BYTES);
    }
    if (memory.wasRejected() || isTight) {
      isTight = false;
      decoder.trim();
      hold();
    }
  }

  private void write(ChannelHandlerContext context, Batch done) {
    int bytes = done.answers().readableBytes();
    int held = done.heldBytes();
    ChannelFuture written = context.writeAndFlush(done.answers());
    if (written.isDone()) { // nearly always
      left++;
      memory.give(held);
      checkWritten(context, written);
      return;
    }
    unread++;
    boolean isCounted = memory.tryTake(bytes - held);
    uncounted += isCounted ? 0 : 1;
    int counted = isCounted ? bytes : held;
    written.addListener(
        future -> guarded(context, () -> left(context, future, counted, isCounted)));
  }

  /** An answer has left. */
  private void left(ChannelHandlerContext context, Future<?> written, int held, boolean isCounted) {
    unread--;
    left++;
    memory.give(held);
    checkWritten(context, written);
    if (!isCounted) {
      uncounted--;
      goOn(context);
    }
  }

  private void checkWritten(ChannelHandlerContext context, Future<?> written) {
    Throwable why = written.cause();
    if (why != null) {
      exceptionCaught(context, why); // the client would wait for this answer without end
    }
  }

  /** Does what has paused, did not fit into the batch, or came meanwhile. */
  private void goOn(ChannelHandlerContext context) {
    Batch paused = batch;
    if (!context.channel().isActive() || linger != null) {
      return;
    }
    if (mayGoOn(context)) {
      if (paused == null) {
        read(context, rest);
      } else if (paused.isPaused()) {
        paused.resume();
        commits.add(paused, () -> guarded(context, () -> answer(context, paused)));
      }
    }
    adjust(context);
  }

  /** Reads on, unless the client does not, or more has come than is done. */
  private void adjust(ChannelHandlerContext context) {
    ByteBuf waiting = rest;
    boolean isMuch =
        waiting != null
            && (waiting.readableBytes() > WAITING_BYTES_MAX
                || (batch != null && waiting.capacity() + decoder.heldBytes() > heldBytes));
    context.channel().config().setAutoRead(linger != null || (mayGoOn(context) && !isMuch));
  }

  /** Writes the last answer, and ends the connection when the client has had time to read it. */
  private void end(ChannelHandlerContext context, ByteBuf last) {
    if (linger == null) {
      linger = LingeringClose.end(context, last);
    }
  }

  /** A client that does not read what it asked for is not asked for more, and not kept long. */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    boolean isWritable = context.channel().isWritable();
    Future<?> waiting = slow;
    if (isWritable && waiting != null) {
      waiting.cancel(false);
      slow = null;
    } else if (!isWritable && waiting == null) {
      slow = context.executor().schedule(() -> context.close(), SLOW_SECONDS_MAX, TimeUnit.SECONDS);
    }
    adjust(context);
    if (isWritable) {
      // Not within the flush that reports it.
      context.executor().execute(() -> guarded(context, () -> goOn(context)));
    }
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      isShut = true; // no more comes: what came is answered
      LingeringClose last = linger;
      if (last != null) {
        last.inputEnded();
      }
      if (batch == null) {
        goOn(context);
      }
    }
    context.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (isFatal(cause)) {
      stop.accept(cause);
    } else if (!(cause instanceof IOException || cause instanceof DecoderException)) {
      Incidents.inConnection("Unhandled exception in connection", cause);
    }
    context.close(); // a connection that broke has nobody to answer to
  }
}
