package dev.quipu.server.protocol;

import dev.quipu.NotAppliedException;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Operation;
import dev.quipu.server.net.Incidents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * A commit that times out may still be executed later by another thread. So a failed batch is
 * abandoned: its commands and buffers are never reused, the failure replies go to a buffer of their
 * own, and the connection closes after them.
 *
 * A batch pauses after a command with a large reply, so that other connections are served, and when
 * its replies reach the limit of the connection or of the memory budget. It continues in a later
 * commit, once the client has read the replies.
 */

/** The commands of one connection since its last commit, in order, and their replies. */
public final class Batch implements Operation {
  /** Commands up to this size are not reserved one by one. */
  static final int COMMAND_BYTES_FREE = ConnectionMemory.FREE_BYTES;

  /** Bytes of replies after which a batch pauses. */
  static final int ANSWER_BYTES_MAX = 256 << 10;

  private static final int TOUCHED_AHEAD = CounterAccess.EXPECTED_MAX;

  /** Number of names visited by one batch before other connections are served. */
  private static final int VISITED_MAX = 50_000;

  /** Size of a buffer that may be mostly unused. */
  private static final int ANSWER_CAPACITY_FREE = 8 << 10;

  /** Memory for replies is reserved in steps of this size. */
  private static final int ANSWER_STEP_BYTES = 16 << 10;

  private final List<PendingCommand> commands;
  private final ConnectionMemory memory;
  private ByteBuf out;
  private int next;
  private int answered; // commands whose replies were taken
  private int touched;
  private int held; // bytes of replies that are reserved
  private int holdAt = ANSWER_STEP_BYTES / 4; // bytes of replies from which more must be reserved
  private long commandBytes; // reserved for the large commands
  private long smallBytes; // of the other commands
  private boolean isPaused;
  private boolean isHeavy; // a command had a large reply or visited many names
  private boolean isHeavyExpected;
  private boolean isAbandoned;
  private ErrorReplies errorReplies = (replies, at) -> false;
  private int errors; // replies
  private boolean isContinued; // the next command has run in part
  private boolean isUnknown; // failed, perhaps after it took effect
  private @Nullable RuntimeException broken; // failure of the next command before it ran
  private @Nullable ByteBuf failures;
  private @Nullable Runnable then;

  /**
   * Creates an empty batch.
   *
   * @param commands expected number of commands
   * @param answerBytes expected size of the replies
   * @param memory the memory of the connection
   */
  Batch(int commands, int answerBytes, ConnectionMemory memory) {
    this.commands = new ArrayList<>(commands);
    this.out = Unpooled.buffer(answerBytes);
    this.memory = memory;
  }

  /** Recognizes error replies. */
  @FunctionalInterface
  interface ErrorReplies {
    /** Returns whether the last reply of the buffer, which begins at this place, is an error. */
    boolean isError(ByteBuf replies, int at);
  }

  /** Counts the error replies of this batch. */
  void countErrors(ErrorReplies recognized) {
    errorReplies = recognized;
  }

  /** Returns the number of error replies. */
  int errors() {
    return errors;
  }

  /** Returns whether the batch has failed, and may have taken effect nevertheless. */
  boolean isUnknown() {
    return isUnknown;
  }

  /** Adds a command. */
  public void add(PendingCommand command) {
    commands.add(command);
  }

  /**
   * Reserves the memory of a large command until the batch is done; a small one only counts towards
   * the limit of small ones.
   *
   * @return false if there is no memory: the command must not be added
   */
  public boolean tryHold(long bytes) {
    if (bytes <= COMMAND_BYTES_FREE) {
      countSmall(bytes);
      return true;
    }
    if (!memory.tryTake(bytes)) {
      return false;
    }
    commandBytes += bytes;
    return true;
  }

  /** Counts memory of a command towards the limit of small ones. */
  public void countSmall(long bytes) {
    smallBytes += bytes;
  }

  /** Returns the memory of the small commands, in bytes. */
  long smallBytes() {
    return smallBytes;
  }

  /** Takes over bytes that are already reserved; the batch releases them when it is done. */
  public void takeOver(long bytes) {
    commandBytes += bytes;
  }

  /** Returns the bytes reserved for commands in the memory of the connection. */
  long commandBytes() {
    return commandBytes;
  }

  /** Returns the number of commands. */
  int size() {
    return commands.size();
  }

  /** Returns the replies. */
  ByteBuf answers() {
    return failures == null ? out : failures;
  }

  /** Returns the bytes reserved for replies in the memory of the connection. */
  int heldBytes() {
    return held;
  }

  boolean hasFailed() {
    return failures != null;
  }

  /** Returns whether commands are left to run once the client has read the replies so far. */
  boolean isPaused() {
    return isPaused && failures == null;
  }

  /** Resumes after a pause; the replies so far and their reservation have been taken. */
  void resume() {
    isPaused = false;
    answered = next;
    held = 0;
    holdAt = ANSWER_STEP_BYTES / 4;
    out = Unpooled.buffer();
  }

  /** Returns whether a command was expensive enough to delay other connections. */
  boolean isHeavy() {
    return isHeavy;
  }

  /** Returns whether the batch was, or is expected to be, heavy. */
  boolean isLikelyHeavy() {
    return isHeavy || isHeavyExpected;
  }

  /** Marks the batch as likely to delay other connections. */
  public void expectHeavy() {
    isHeavyExpected = true;
  }

  /** Drops what is not in a group yet: the client has disconnected. */
  void abandon() {
    isAbandoned = true;
  }

  boolean isAbandoned() {
    return isAbandoned;
  }

  /** Sets the callback that runs after the commit or failure. */
  void then(Runnable what) {
    then = what;
  }

  /** Runs the callback set by {@link #then}, once. */
  void complete() {
    Runnable what = then;
    then = null;
    if (what != null) {
      what.run();
    }
  }

  @Override
  public int bytesMax(CounterAccess counters) {
    int bytes = commandBytesMax(counters);
    return counters.canEverFit(bytes) ? bytes : 0; // else it is rejected and writes nothing
  }

  /** Returns the log bytes of the next command; if it fails here, only this command fails. */
  private int commandBytesMax(CounterAccess counters) {
    try {
      return commands.get(next).bytesMax(counters);
    } catch (RuntimeException e) {
      broken = e;
      return 0;
    }
  }

  @Override
  public void on(CounterAccess counters) {
    runSome(counters);
    trim();
  }

  /** Releases what a rejected reply has left: only the bytes of replies are reserved. */
  private void trim() {
    int bytes = out.readableBytes();
    if (out.capacity() > ANSWER_CAPACITY_FREE && out.capacity() / 2 > bytes) {
      ByteBuf trimmed = Unpooled.buffer(bytes).writeBytes(out);
      out.release();
      out = trimmed;
    }
  }

  private void runSome(CounterAccess counters) {
    touched = next; // places looked up in an earlier commit may have been reused
    int bytes = commandBytesMax(counters);
    do {
      touch(counters);
      PendingCommand command = commands.get(next);
      RuntimeException why = broken;
      boolean fits = counters.canEverFit(bytes) && why == null;
      int at = out.writerIndex();
      if (fits) {
        command.run(counters, out);
      } else {
        broken = null;
        command.failed(why == null ? counters.tooLarge() : why, out);
      }
      if (!fits || command.isDone()) {
        errors += !isContinued && errorReplies.isError(out, at) ? 1 : 0;
        isContinued = false;
        next++;
      } else {
        isContinued = true;
      }
      if (next == commands.size()) {
        isHeavy |= memory.isLarge() || counters.visited() > VISITED_MAX;
        hold();
        return;
      }
      if ((out.readableBytes() >= holdAt || memory.isLarge()) && mustPause(command)) {
        isPaused = true;
        return;
      }
      if (counters.visited() > VISITED_MAX) {
        isHeavy = true;
        isPaused = true; // other connections are served first
        return;
      }
      bytes = commandBytesMax(counters);
    } while (counters.fits(bytes) || !counters.canEverFit(bytes));
  }

  private boolean mustPause(PendingCommand last) {
    boolean isLarge = memory.isLarge();
    isHeavy |= isLarge;
    boolean isHeld = hold();
    return last.isDone() && (isLarge || !isHeld || out.readableBytes() >= ANSWER_BYTES_MAX);
  }

  /** Reserves memory for the replies; returns whether the budget allows it. */
  private boolean hold() {
    int bytes = out.readableBytes();
    if (bytes < holdAt) {
      memory.keep(0);
      return true;
    }
    held += (int) memory.keep(bytes - held); // at most the size of a buffer
    if (held < bytes) {
      return false;
    }
    holdAt = bytes + ANSWER_STEP_BYTES;
    return true;
  }

  private void touch(CounterAccess counters) {
    if (next == touched) {
      touched = Math.min(commands.size(), next + TOUCHED_AHEAD);
      if (counters.isLarge()) {
        counters.beginExpected();
        for (int i = next; i < touched; i++) {
          commands.get(i).expect(counters);
        }
        counters.touchExpected();
      }
      for (int i = next; i < touched; i++) {
        commands.get(i).touch(counters);
      }
      counters.readIds();
    }
  }

  @Override
  public boolean isDone() {
    return isPaused || next == commands.size();
  }

  /** Replaces the replies of all unanswered commands by errors: their outcome is unknown. */
  @Override
  public void failed(RuntimeException why) {
    ByteBuf replies = Unpooled.buffer();
    failures = replies; // in any case, so that the connection ends
    isUnknown = !(why instanceof NotAppliedException);
    try {
      for (int i = answered; i < commands.size(); i++) {
        commands.get(i).failed(why, replies);
      }
    } catch (RuntimeException e) { // the other connections must get their replies
      isUnknown = true;
      Incidents.inConnection("Unhandled exception after a failed commit", e);
    }
  }
}
