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

  /** A command without data and without noreply. */
  static MemcacheCommand of(
      String name, int wordsMin, int wordsMax, String usage, String summary, Does does) {
    return new MemcacheCommand(name, wordsMin, wordsMax, 0, false, usage, summary, does);
  }

  /** A command without data, to which no answer may be wanted. */
  static MemcacheCommand quiet(
      String name, int wordsMin, int wordsMax, String usage, String summary, Does does) {
    return new MemcacheCommand(name, wordsMin, wordsMax, 0, true, usage, summary, does);
  }
}
