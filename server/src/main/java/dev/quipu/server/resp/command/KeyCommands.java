package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Expiry;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.Glob;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.session.Collected;
import dev.quipu.server.resp.session.Scanning;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Commands on expiries and on the key space. */
final class KeyCommands {
  private static final int SCANNED_MAX = 1_000;
  private static final int KEYS_MAX = 100_000;

  private KeyCommands() {}

  static List<RespCommand> all() {
    return List.of(
        expire("expire", "EX", "seconds"),
        expire("pexpire", "PX", "milliseconds"),
        expire("expireat", "EXAT", "unix-time-seconds"),
        expire("pexpireat", "PXAT", "unix-time-milliseconds"),
        left("ttl", 1_000, false, "Returns the time to live of a key in seconds."),
        left("pttl", 1, false, "Returns the time to live of a key in milliseconds."),
        left("expiretime", 1_000, true, "Returns the expiry of a key as a Unix time in seconds."),
        left("pexpiretime", 1, true, "Returns the expiry of a key as a Unix time in milliseconds."),
        RespCommand.of("persist", "key")
            .summary("Removes the expiry of a key.")
            .onWholeKeys()
            .writes((counters, words) -> {
              boolean expires = Kind.expiresAt(counters, words.key(1)) != 0;
              return Reply.of(expires && Kind.expire(counters, words.key(1), 0));
            }),
        RespCommand.of("getex", "key [EX s | PX ms | EXAT s | PXAT ms | PERSIST]")
            .summary("Returns the value of a key and sets its expiry.")
            .writes(KeyCommands::getAndExpire),
        RespCommand.of("scan", "cursor [MATCH pattern] [COUNT n] [TYPE type]")
            .summary("Iterates over the keys; returns a page and the next cursor.")
            .noKeys()
            .reads(Scanning::run),
        RespCommand.of("keys", "pattern")
            .summary("Returns all keys that match a pattern, up to 100,000.")
            .noKeys()
            .reads(KeyCommands::keys),
        RespCommand.of("dbsize", "")
            .summary("Returns the number of counters; each hash field and member counts.")
            .noKeys()
            .reads((counters, words) -> new Reply.Number(counters.size())),
        RespCommand.of("randomkey", "")
            .summary("Returns a key: the first in order.")
            .noKeys()
            .reads((counters, words) -> {
              List<String> names = counters.names("", "", 1);
              return names.isEmpty()
                  ? Replies.NULL
                  : Reply.bulk(Family.shown(Family.keyOf(names.getFirst())));
            }));
  }

  private static RespCommand expire(String name, String unit, String usage) {
    return RespCommand.of(name, "key " + usage + " [NX | XX | GT | LT]")
        .summary("Sets the expiry of a key.")
        .onWholeKeys()
        .writes((counters, words) -> expire(counters, words, unit, name));
  }

  private static Reply expire(
      CounterAccess counters, Arguments words, String unit, String command) {
    Set<String> options = new TreeSet<>();
    for (int i = 3; i < words.size(); i++) {
      switch (words.word(i)) {
        case "NX", "XX", "GT", "LT" -> options.add(words.word(i));
        default -> throw new Rejected("ERR Unsupported option " + words.text(i));
      }
    }
    if (options.contains("NX") && options.size() > 1) {
      throw new Rejected("ERR NX and XX, GT or LT options at the same time are not compatible");
    }
    if (options.contains("GT") && options.contains("LT")) {
      throw new Rejected("ERR GT and LT options at the same time are not compatible");
    }
    String key = words.key(1);
    long at = Expiry.anyAt(counters.nowMillis(), unit, words.number(2), command);
    if (Kind.of(counters, key) == Kind.NONE) {
      return Reply.of(false);
    }
    long was = Kind.expiresAt(counters, key);
    boolean isDone =
        !(options.contains("NX") && was != 0)
            && !(options.contains("XX") && was == 0)
            && !(options.contains("GT") && (was == 0 || at <= was))
            && !(options.contains("LT") && was != 0 && at >= was);
    if (isDone && at <= counters.nowMillis()) {
      return Reply.of(Kind.remove(counters, key));
    }
    return Reply.of(isDone && Kind.expire(counters, key, at));
  }

  private static RespCommand left(String name, long unit, boolean isAbsolute, String summary) {
    return RespCommand.of(name, "key")
        .summary(summary)
        .reads((counters, words) -> {
          if (Kind.of(counters, words.key(1)) == Kind.NONE) {
            return new Reply.Number(-2);
          }
          long at = Kind.expiresAt(counters, words.key(1));
          if (at == 0) {
            return new Reply.Number(-1);
          }
          long time = isAbsolute ? at : at - counters.nowMillis();
          boolean rounds = unit > 1 && !isAbsolute;
          return new Reply.Number((time + (rounds ? unit / 2 : 0)) / unit);
        });
  }

  private static Reply getAndExpire(CounterAccess counters, Arguments words) {
    String key = words.key(1);
    Reply value = CounterCommands.value(counters, key);
    if (words.size() == 2) {
      return value;
    }
    String option = words.word(2);
    long at;
    if (option.equals("PERSIST") && words.size() == 3) {
      at = 0;
    } else if (Expiry.isUnit(option) && words.size() == 4) {
      at = Expiry.at(counters.nowMillis(), option, words.number(3), "getex");
    } else {
      throw new Rejected(Arguments.SYNTAX);
    }
    if (at != 0 && at <= counters.nowMillis()) {
      counters.remove(key);
    } else {
      counters.expire(key, at);
    }
    return value;
  }

  private static Reply keys(CounterAccess counters, Arguments words) {
    Collected found = new Collected(words);
    Glob glob = new Glob(counters, List.of(words.text(1)));
    int count = 0;
    String last = "";
    List<String> page = counters.names("", "", SCANNED_MAX);
    while (!page.isEmpty()) {
      for (String name : page) {
        String key = Family.keyOf(name);
        if (!key.equals(last) && glob.matches(Family.shown(key))) {
          found.add(Reply.bulk(Family.shown(key)));
          count++;
        }
        last = key; // members of a family are adjacent
      }
      if (count > KEYS_MAX) {
        throw new Rejected("ERR more than 100000 keys match; use SCAN");
      }
      page = counters.names("", page.getLast(), SCANNED_MAX);
    }
    return found.array();
  }
}
