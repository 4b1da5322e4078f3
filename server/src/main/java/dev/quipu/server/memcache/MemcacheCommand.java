package dev.quipu.server.memcache;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.net.CommandHelp;
import io.netty.buffer.ByteBuf;

/**
 * The definition of a command: it drives parsing and the reference page.
 *
 * @param wordsMin minimum number of words, including the name
 * @param wordsMax maximum number of words, without {@code noreply}
 * @param lengthAt index of the word with the length of the data; 0 if there is no data
 * @param knowsNoReply whether {@code noreply} is accepted as the last word
 */
record MemcacheCommand(
    CommandHelp help,
    int wordsMin,
    int wordsMax,
    int lengthAt,
    boolean knowsNoReply,
    Handler handler) {
  /** Runs a command and writes the reply. */
  interface Handler {
    void run(CounterAccess counters, Request request, ByteBuf out);
  }

  String name() {
    return help.name();
  }

  /** Returns whether a line of this command requests no reply. */
  boolean isQuiet(Line line) {
    return knowsNoReply && line.text(line.size() - 1).equals("noreply");
  }

  /** Begins the definition of a command without data or {@code noreply}. */
  static Builder of(String name, String usage) {
    return new Builder(name, usage);
  }

  /** Builds a definition; the handler completes it. */
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

    Builder dataLengthAt(int index) {
      lengthAt = index;
      return this;
    }

    Builder mayBeQuiet() {
      knowsNoReply = true;
      return this;
    }

    MemcacheCommand runs(Handler handler) {
      String arguments = usage + (knowsNoReply ? " [noreply]" : "");
      CommandHelp help = new CommandHelp("memcached", name, arguments, summary);
      return new MemcacheCommand(help, wordsMin, wordsMax, lengthAt, knowsNoReply, handler);
    }
  }
}
