package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Expiry;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.util.List;

/** SET and its options, on numbers. */
final class SetCommand {
  private boolean ifAbsent;
  private boolean ifPresent;
  private boolean tells;
  private boolean keeps;
  private long expiresAt;

  private SetCommand() {}

  static Reply run(CounterAccess turn, Arguments words) {
    SetCommand options = new SetCommand();
    for (int i = 3; i < words.size(); i++) {
      i += options.take(turn, words, i);
    }
    if (options.ifAbsent && options.ifPresent) {
      throw new Rejected(Arguments.SYNTAX);
    }
    return options.set(turn, words.key(1), number(words, 2));
  }

  /** Reads an option; how many words it has besides. */
  private int take(CounterAccess turn, Arguments words, int at) {
    String word = words.word(at);
    if (Expiry.isUnit(word) && at + 1 < words.size() && expiresAt == 0 && !keeps) {
      expiresAt = Expiry.at(turn.nowMillis(), word, words.number(at + 1), "set");
      return 1;
    }
    switch (word) {
      case "NX" -> ifAbsent = true;
      case "XX" -> ifPresent = true;
      case "GET" -> tells = true;
      case "KEEPTTL" -> {
        if (expiresAt != 0) {
          throw new Rejected(Arguments.SYNTAX);
        }
        keeps = true;
      }
      default -> throw new Rejected(Arguments.SYNTAX);
    }
    return 0;
  }

  private Reply set(CounterAccess turn, String key, long number) {
    Reply was = tells ? CounterCommands.value(turn, key) : Replies.NULL;
    boolean isDone = Kind.of(turn, key) == Kind.NONE ? !ifPresent : !ifAbsent;
    if (isDone) {
      replace(turn, key, number, keeps ? Kind.expiresAt(turn, key) : expiresAt);
    }
    return tells || !isDone ? was : Replies.OK;
  }

  /** Sets a counter, whatever was under its key. */
  static void replace(CounterAccess turn, String key, long number, long expiresAt) {
    if (turn.get(key).isEmpty()) {
      turn.requireMemory(List.of(key));
      Kind.remove(turn, key);
    }
    turn.set(key, number);
    turn.expire(key, expiresAt);
  }

  /** SETEX and PSETEX. */
  static Reply expiring(CounterAccess turn, Arguments words, String unit, String command) {
    long at = Expiry.at(turn.nowMillis(), unit, words.number(2), command);
    String key = words.key(1);
    replace(turn, key, number(words, 3), at);
    return Replies.OK;
  }

  /** What a counter is set to. */
  static long number(Arguments words, int index) {
    try {
      return words.number(index);
    } catch (Rejected e) {
      throw new Rejected(
          "ERR value is not an integer or out of range: only counters are kept here");
    }
  }
}
