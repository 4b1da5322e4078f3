package dev.quipu.server.memcache;

import dev.quipu.engine.CounterAccess;
import io.netty.buffer.ByteBuf;

/**
 * One command in data: what drives its parsing and the reference page.
 *
 * @param wordsMin least words of it, its name included
 * @param wordsMax most words, {@code noreply} not included
 * @param lengthAt the place of the word that tells how long its data is; 0 for none
 * @param knowsNoReply whether {@code noreply} may be its last word
 * @param usage its arguments
 * @param summary what it does
 * @param does does it
 */
record MemcacheCommand(
    String name,
    int wordsMin,
    int wordsMax,
    int lengthAt,
    boolean knowsNoReply,
    String usage,
    String summary,
    Does does) {
  /** Does a command, on a turn, and writes the answer. */
  interface Does {
    void run(CounterAccess turn, Request request, ByteBuf out);
  }

  /** Whether a line of this command asks for no answer. */
  boolean isQuiet(Line line) {
    return knowsNoReply && line.text(line.size() - 1).equals("noreply");
  }

  /** Begins the definition of a command without data, which is always answered. */
  static Builder of(String name, String usage) {
    return new Builder(name, usage);
  }

  /** A definition that ends with what the command does. */
  static final class Builder {
    private final String name;
    private final String usage;
    private String summary = "";
    private int wordsMin = 1;
    private int wordsMax = 1;
    private int lengthAt;
    private boolean knowsNoReply;

    private Builder(String name, String usage) {
      this.name = name;
      this.usage = usage;
    }

    Builder summary(String text) {
      summary = text;
      return this;
    }

    Builder words(int min, int max) {
      wordsMin = min;
      wordsMax = max;
      return this;
    }

    Builder dataLengthAt(int place) {
      lengthAt = place;
      return this;
    }

    Builder mayBeQuiet() {
      knowsNoReply = true;
      return this;
    }

    MemcacheCommand runs(Does does) {
      return new MemcacheCommand(
          name, wordsMin, wordsMax, lengthAt, knowsNoReply, usage, summary, does);
    }
  }
}
