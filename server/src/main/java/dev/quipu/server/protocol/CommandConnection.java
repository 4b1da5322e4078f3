package dev.quipu.server.protocol;

import dev.quipu.server.net.Connections;
import dev.quipu.server.net.DirectMemory;
import dev.quipu.server.net.Incidents;
import dev.quipu.server.net.PortMeter;
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
 * All commands received so far are decoded into one batch. The event loop commits the batches of
 * all its connections as one group, then sends all replies in the order of the commands.
 *
 * Everything that a client can make the connection keep is bounded and counted in the memory
 * budget: undecoded input, incomplete commands, large queued commands, unread replies. While a
 * client does not read its replies, its batch pauses and nothing more is read from it.
 */

/** One connection of a command port. Confined to its event loop. */
final class CommandConnection extends ChannelInboundHandlerAdapter {
  /** Maximum number of commands of a connection in one group. */
  static final int BATCH_COMMANDS_MAX = 1_024;

  /** Bytes of commands after which a group takes no more from a connection. */
  private static final int BATCH_BYTES_MAX = 64 << 10;

  /** Number of commands that a group takes from a connection regardless of the memory budget. */
  private static final int BATCH_COMMANDS_FREE = 16;

  /** Heap used by a large batch: its small commands, with an allowance for their objects. */
  private static final int BATCH_HELD_BYTES = 256 << 10;

  /** Memory of small commands, in bytes, after which a group takes no more from a connection. */
  private static final int BATCH_SMALL_BYTES_MAX = BATCH_HELD_BYTES / 2;

  /** Maximum undecoded bytes before reading pauses; larger than any argument. */
  private static final int WAITING_BYTES_MAX = 256 << 10;

  /**
   * Undecoded bytes over the budget after which the connection is rejected. A transport may deliver
   * input after reading was paused: io_uring does, until the socket is empty. A thousand
   * connections hold this much in addition to the budget.
   */
  private static final int OVER_BUDGET_BYTES_MAX = 4 << 10;

  private static final int ANSWER_BYTES_EXPECTED_MAX = 4 << 10;

  /** Interval of progress checks: an incomplete command times out after one to two intervals. */
  private static final int PROGRESS_SECONDS = 30;

  /** Timeout of a client that does not read its replies. */
  private static final int SLOW_SECONDS_MAX = 30;

  private final CommandDecoder decoder;
  private final Batch.ErrorReplies errorReplies;
  private final LoopCommits commits;
  private final ConnectionMemory memory;
  private final Connections.Place place;
  private final PortMeter meter;
  private final Consumer<Throwable> stop;
  private @Nullable ByteBuf rest; // undecoded input, copied out of the network buffer
  private @Nullable Batch batch; // waiting for its commit, or paused
  private long heldBytes; // reserved for input
  private int lastSize = 1; // predicts the next one: most clients repeat themselves
  private int lastAnswerBytes = 64;
  private int unread; // replies not yet sent
  private int uncounted; // of these, replies over the memory budget
  private boolean isShut; // input has ended, or is ignored
  private @Nullable LingeringClose linger; // set when the last reply is written
  private boolean isOutOfMemory;
  private boolean wasHeavy; // the batch before
  private boolean isTight; // no memory for buffers kept for reuse
  private boolean isLarge; // whether the overhead of the batch is reserved
  private @Nullable Future<?> slow;
  private @Nullable Future<?> progressCheck;
  private long batchStart;
  private long taken; // commands
  private long takenAtCheck;
  private long left; // replies sent
  private long leftAtCheck;

  /**
   * Creates the handler of one connection.
   *
   * @param meter counts the commands
   * @param stop stops the engine after a {@link VirtualMachineError}
   */
  CommandConnection(
      CommandDecoder decoder,
      LoopCommits commits,
      ConnectionMemory memory,
      Connections.Place place,
      PortMeter meter,
      Consumer<Throwable> stop) {
    this.decoder = decoder;
    this.errorReplies = decoder::isError;
    this.commits = commits;
    this.memory = memory;
    this.place = place;
    place.idleWhen(() -> batch == null && unread == 0);
    this.meter = meter;
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

  /** Runs a task of this connection outside its pipeline and closes the connection if it fails. */
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
   * Closes a connection whose command stays incomplete, however slowly bytes arrive, or that reads
   * no replies. An idle connection releases its reusable buffers, and is closed if it still holds
   * shared memory: watched keys or an open transaction. Netty's IdleStateHandler counts every byte
   * as progress.
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
      waiting.abandon(); // else it could watch keys after they are unwatched below
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
      if (isIgnoringInput()) {
        if (linger != null) {
          linger.discarded(came.readableBytes());
        }
        return;
      }
      if (rest == null && batch == null && mayGoOn(context)) {
        read(context, came);
      } else {
        keep(came);
        if (batch == null && mayGoOn(context)) {
          read(context, rest);
        } else if (!hold()) {
          limitRest();
        }
      }
    } finally {
      came.release();
    }
    adjust(context);
  }

  private boolean isIgnoringInput() {
    return decoder.isEnding() || isShut || isOutOfMemory;
  }

  /** Keeps undecoded input in a separate buffer; each byte is copied twice at most. */
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

  /** Returns whether the client reads its replies. */
  private boolean mayGoOn(ChannelHandlerContext context) {
    return context.channel().isWritable() && uncounted == 0;
  }

  /** Decodes the commands of one batch. */
  @SuppressWarnings("ReferenceEquality") // compares buffers by identity
  private void read(ChannelHandlerContext context, @Nullable ByteBuf in) {
    Batch next = new Batch(lastSize, lastAnswerBytes, memory);
    next.countErrors(errorReplies);
    if (in != null && !isOutOfMemory) {
      boolean isMore = fill(in, next);
      if (!in.isReadable() || decoder.isEnding()) {
        rest = null;
      } else if (in != rest) {
        keep(in);
      }
      if (!hold()) {
        isOutOfMemory = !isMore;
        limitRest();
      }
      if (isMore && next.size() == 0 && !decoder.isEnding()) { // the input contained no command
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
      batchStart = meter.start();
      lastSize = next.size();
      taken += lastSize;
      commits.add(next, () -> guarded(context, () -> answer(context, next)));
    } else {
      memory.give(next.commandBytes()); // of a command that is not complete
      release();
      if (decoder.isEnding() || isShut) {
        end(context, Unpooled.EMPTY_BUFFER);
      }
    }
  }

  /** Fills a batch; returns false if an incomplete command is left. */
  private boolean fill(ByteBuf in, Batch next) {
    int start = in.readerIndex();
    int limit = start + BATCH_BYTES_MAX;
    int commandsMax = Math.clamp(commits.commandsShare(), BATCH_COMMANDS_FREE, BATCH_COMMANDS_MAX);
    while (in.readerIndex() < limit
        && next.size() < commandsMax
        && next.smallBytes() < BATCH_SMALL_BYTES_MAX
        && !decoder.isEnding()) {
      boolean isMuch =
          next.size() >= BATCH_COMMANDS_FREE
              || next.smallBytes() > Batch.COMMAND_BYTES_FREE
              || (next.size() > 0 && in.readerIndex() - start > Batch.COMMAND_BYTES_FREE);
      if (isMuch && !isLarge && in.isReadable()) {
        isLarge = memory.tryTake(BATCH_HELD_BYTES);
        if (!isLarge) {
          return true; // the rest goes to the next group
        }
      }
      if (!decoder.decode(in, next)) {
        return false;
      }
    }
    return true;
  }

  /** Reserves memory for kept input; returns whether the budget allows it. */
  private boolean hold() {
    ByteBuf waiting = rest;
    long bytes = decoder.heldBytes() + (waiting == null ? 0 : waiting.capacity());
    if (count(bytes + decoder.keptBytes())) {
      return true;
    }
    isTight = true;
    return count(bytes);
  }

  /** Rejects further input if too much of it is held over the budget. */
  private void limitRest() {
    ByteBuf waiting = rest;
    if (waiting != null && waiting.readableBytes() > heldBytes + OVER_BUDGET_BYTES_MAX) {
      isOutOfMemory = true;
      rest = null;
      waiting.release(); // frees its array, although the decoder may still refer to the buffer
      hold();
    }
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

  /** Answers a batch after its commit. */
  private void answer(ChannelHandlerContext context, Batch done) {
    if (done.hasFailed()) {
      if (done.isUnknown()) {
        meter.unknown(done.size());
      } else {
        meter.answered(done.size(), done.size(), meter.since(batchStart));
      }
      isShut = true; // the batch stays set, so that none of its objects are reused
      end(context, done.answers());
      return;
    }
    lastAnswerBytes = Math.min(done.answers().readableBytes() + 1, ANSWER_BYTES_EXPECTED_MAX);
    if (!done.isPaused()) {
      batch = null;
      meter.answered(done.size(), done.errors(), meter.since(batchStart));
      wasHeavy = done.isHeavy();
      memory.give(done.commandBytes());
      release();
    }
    write(context, done);
    goOn(context);
  }

  /** Releases the memory held for the answered batch. */
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

  /** Notes that a reply was sent. */
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
      exceptionCaught(context, why); // else the client would wait forever
    }
  }

  /** Continues with a paused batch, or with input that is still undecoded. */
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

  /** Resumes reading, or pauses it while the client does not read or input piles up. */
  private void adjust(ChannelHandlerContext context) {
    ByteBuf waiting = rest;
    boolean isMuch =
        waiting != null
            && (waiting.readableBytes() > WAITING_BYTES_MAX
                || (batch != null && waiting.capacity() + decoder.heldBytes() > heldBytes));
    LingeringClose last = linger;
    boolean isReading =
        last == null ? mayGoOn(context) && !isMuch && !isIgnoringInput() : last.isReading();
    context.channel().config().setAutoRead(isReading);
  }

  /** Writes the last reply and closes the connection once the client had time to read it. */
  private void end(ChannelHandlerContext context, ByteBuf last) {
    if (linger == null) {
      linger = LingeringClose.end(context, last);
    }
  }

  /** Pauses reading from a client that does not read its replies; closes it after a timeout. */
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
      // Deferred, since this runs within a flush.
      context.executor().execute(() -> guarded(context, () -> goOn(context)));
    }
    context.fireChannelWritabilityChanged();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      isShut = true; // what was received is still answered
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
    context.close(); // nothing can be answered on a broken connection
  }
}
