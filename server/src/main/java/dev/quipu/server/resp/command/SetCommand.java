package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Amounts;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Expiry;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.util.List;

/** SET and its options. */
final class SetCommand {
  private boolean ifAbsent;
  private boolean ifPresent;
  private boolean returnsPrevious;
  private boolean keeps;
  private long expiresAt;

  private SetCommand() {}

  static Reply run(CounterAccess counters, Arguments words) {
    SetCommand options = new SetCommand();
    for (int i = 3; i < words.size(); i++) {
      i += options.take(counters, words, i);
    }
    if (options.ifAbsent && options.ifPresent) {
      throw new Rejected(Arguments.SYNTAX);
    }
    return options.set(counters, words.key(1), number(counters, words.key(1), words, 2));
  }

  /** Parses an option; returns the number of its arguments. */
  private int take(CounterAccess counters, Arguments words, int at) {
    String word = words.word(at);
    if (Expiry.isUnit(word) && at + 1 < words.size() && expiresAt == 0 && !keeps) {
      expiresAt = Expiry.at(counters.nowMillis(), word, words.number(at + 1), "set");
      return 1;
    }
    switch (word) {
      case "NX" -> ifAbsent = true;
      case "XX" -> ifPresent = true;
      case "GET" -> returnsPrevious = true;
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

  private Reply set(CounterAccess counters, String key, long number) {
    Reply was = returnsPrevious ? CounterCommands.value(counters, key) : Replies.NULL;
    boolean isDone = Kind.of(counters, key) == Kind.NONE ? !ifPresent : !ifAbsent;
    if (isDone) {
      replace(counters, key, number, keeps ? Kind.expiresAt(counters, key) : expiresAt);
    }
    return returnsPrevious || !isDone ? was : Replies.OK;
  }

  /** Sets a counter, replacing any kind of value. */
  static void replace(CounterAccess counters, String key, long number, long expiresAt) {
    if (counters.get(key).isEmpty()) {
      counters.requireRoom(List.of(key));
      Kind.remove(counters, key);
    }
    counters.set(key, number);
    counters.expire(key, expiresAt);
  }

  /** SETEX and PSETEX. */
  static Reply expiring(CounterAccess counters, Arguments words, String unit, String command) {
    long at = Expiry.at(counters.nowMillis(), unit, words.number(2), command);
    String key = words.key(1);
    replace(counters, key, number(counters, key, words, 3), at);
    return Replies.OK;
  }

  /** Parses the value of a counter, in its units. */
  static long number(CounterAccess counters, String key, Arguments words, int index) {
    return Amounts.units(
        words,
        index,
        counters.scale(key),
        "ERR value is not an integer or out of range: only integers can be stored");
  }
}
