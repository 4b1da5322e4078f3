package dev.quipu.server.protocol;

import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.Operation;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * A commit that fails by its deadline may still be done later, by another thread. So a batch that
 * has failed is left alone: its commands and what they write are never used again, the answers that
 * say so are others, and the connection ends with them.
 *
 * A batch pauses after a command with a large reply, so that others come between, and when its
 * answers are as many bytes as one connection, or all of them, may hold. It goes on, in another
 * commit, when the client has read them.
 */

/** What one connection asked for since the last commit, in order, and the answers. */
public final class Batch implements Operation {
  /** Bytes of a command that are not counted. */
  public static final int COMMAND_BYTES_FREE = ConnectionMemory.FREE_BYTES;

  /** Bytes of answers after which a batch pauses. */
  static final int ANSWER_BYTES_MAX = 256 << 10;

  private static final int TOUCHED_AHEAD = 32;

  /** Names that the commands of one group look at, before others are served. */
  private static final int VISITED_MAX = 50_000;

  /** Answers are reserved by this many bytes. */
  private static final int ANSWER_STEP_BYTES = 16 << 10;

  private final List<PendingCommand> commands;
  private final ConnectionMemory memory;
  private ByteBuf out;
  private int next;
  private int answered; // commands whose answers have been taken
  private int touched;
  private int held; // bytes of the answers that are reserved
  private int holdAt = ANSWER_STEP_BYTES / 4; // bytes of answers that need more to be reserved
  private long commandBytes; // of the commands, which are reserved
  private boolean isPaused;
  private boolean isHeavy; // a command of it was
  private boolean isHeavyExpected;
  private boolean isAbandoned;
  private @Nullable RuntimeException broken; // the next command, before it was run
  private @Nullable ByteBuf failures;
  private @Nullable Runnable then;

  /**
   * Creates an empty batch.
   *
   * @param commands that it is likely to have
   * @param answerBytes that it is likely to be answered
   * @param memory of its connection
   */
  Batch(int commands, int answerBytes, ConnectionMemory memory) {
    this.commands = new ArrayList<>(commands);
    this.out = Unpooled.buffer(answerBytes);
    this.memory = memory;
  }

  /** Adds a command. */
  public void add(PendingCommand command) {
    commands.add(command);
  }

  /**
   * Reserves what a command holds until the batch is done, however long it waits for its turn.
   *
   * @return false if there is no memory for it: then it is not to be added
   */
  public boolean tryHold(long bytes) {
    if (!memory.tryTake(bytes)) {
      return false;
    }
    commandBytes += bytes;
    return true;
  }

  /** The same of what was reserved before: from now on it is the batch's. */
  public void takeOver(long bytes) {
    commandBytes += bytes;
  }

  /** Returns the bytes of its commands that are reserved in the memory of the connection. */
  long commandBytes() {
    return commandBytes;
  }

  /** Returns the number of commands. */
  int size() {
    return commands.size();
  }

  /** Returns what is to be answered. */
  ByteBuf answers() {
    return failures == null ? out : failures;
  }

  /** Returns the bytes of the answers that are reserved in the memory of the connection. */
  int heldBytes() {
    return held;
  }

  boolean hasFailed() {
    return failures != null;
  }

  /** Whether commands are left, to be done when the client has read the answers so far. */
  boolean isPaused() {
    return isPaused && failures == null;
  }

  /** Goes on after a pause; the answers so far have been taken, and what was held for them. */
  void resume() {
    isPaused = false;
    answered = next;
    held = 0;
    holdAt = ANSWER_STEP_BYTES / 4;
    out = Unpooled.buffer();
  }

  /** Whether a command of it had a large reply, and so kept others waiting. */
  boolean isHeavy() {
    return isHeavy;
  }

  /** Whether it is likely to keep others waiting. */
  boolean isLikelyHeavy() {
    return isHeavy || isHeavyExpected;
  }

  /** It has a command that may keep others waiting, or the batch before it did. */
  public void expectHeavy() {
    isHeavyExpected = true;
  }

  /** Its client is gone: what of it is in no group yet is not done. */
  void abandon() {
    isAbandoned = true;
  }

  boolean isAbandoned() {
    return isAbandoned;
  }

  /** Sets what runs when it was committed, or has failed. */
  void then(Runnable what) {
    then = what;
  }

  /** Runs what was set by {@link #then}, once. */
  void complete() {
    Runnable what = then;
    then = null;
    if (what != null) {
      what.run();
    }
  }

  @Override
  public int bytesMax(CounterAccess turn) {
    int bytes = commandBytesMax(turn);
    return turn.canEverFit(bytes) ? bytes : 0; // else it is rejected, which writes nothing
  }

  /** A command that fails here fails alone: the others of the commit do not depend on it. */
  private int commandBytesMax(CounterAccess turn) {
    try {
      return commands.get(next).bytesMax(turn);
    } catch (RuntimeException e) {
      broken = e;
      return 0;
    }
  }

  @Override
  public void on(CounterAccess turn) {
    touched = next; // places that were looked up in an earlier commit may be those of others now
    int bytes = commandBytesMax(turn);
    do {
      touch(turn);
      PendingCommand command = commands.get(next);
      RuntimeException why = broken;
      boolean fits = turn.canEverFit(bytes) && why == null;
      if (fits) {
        command.run(turn, out);
      } else {
        broken = null;
        command.failed(why == null ? turn.tooLarge() : why, out);
      }
      if (!fits || command.isDone()) {
        next++;
      }
      if (next == commands.size()) {
        isHeavy |= memory.isLarge() || turn.visited() > VISITED_MAX;
        hold();
        return;
      }
      if ((out.readableBytes() >= holdAt || memory.isLarge()) && mustPause(command)) {
        isPaused = true;
        return;
      }
      if (turn.visited() > VISITED_MAX) {
        isHeavy = true;
        isPaused = true; // others are served before the rest
        return;
      }
      bytes = commandBytesMax(turn);
    } while (turn.fits(bytes) || !turn.canEverFit(bytes));
  }

  private boolean mustPause(PendingCommand last) {
    boolean isLarge = memory.isLarge();
    isHeavy |= isLarge;
    boolean isHeld = hold();
    return last.isDone() && (isLarge || !isHeld || out.readableBytes() >= ANSWER_BYTES_MAX);
  }

  /** Reserves what the answers need; returns whether the budget allows it. */
  private boolean hold() {
    int bytes = out.readableBytes();
    if (bytes < holdAt) {
      return memory.keep(0);
    }
    if (!memory.keep(bytes - held)) {
      return false;
    }
    held = bytes;
    holdAt = bytes + ANSWER_STEP_BYTES;
    return true;
  }

  private void touch(CounterAccess turn) {
    if (next == touched) {
      touched = Math.min(commands.size(), next + TOUCHED_AHEAD);
      for (int i = next; i < touched; i++) {
        commands.get(i).touch(turn);
      }
    }
  }

  @Override
  public boolean isDone() {
    return isPaused || next == commands.size();
  }

  /** Answers that the outcome of what is not answered yet is unknown. */
  @Override
  public void failed(RuntimeException why) {
    ByteBuf told = Unpooled.buffer();
    for (int i = answered; i < commands.size(); i++) {
      commands.get(i).failed(why, told);
    }
    failures = told;
  }
}
