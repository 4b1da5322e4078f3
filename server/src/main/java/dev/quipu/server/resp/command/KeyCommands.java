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

/** Commands about the life of counters, and about all of them. */
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
        left("ttl", 1_000, false, "Returns the seconds until it expires."),
        left("pttl", 1, false, "Returns the milliseconds until it expires."),
        left("expiretime", 1_000, true, "Returns the second at which it expires."),
        left("pexpiretime", 1, true, "Returns the millisecond at which it expires."),
        RespCommand.of("persist", "key")
            .summary("Removes the expiry.")
            .arity(2)
            .onWholeKeys()
            .writes((turn, words) -> {
              boolean expires = Kind.expiresAt(turn, words.key(1)) != 0;
              return Reply.of(expires && Kind.expire(turn, words.key(1), 0));
            }),
        RespCommand.of("getex", "key [EX s | PX ms | EXAT s | PXAT ms | PERSIST]")
            .summary("Reads, and sets when it expires.")
            .arity(-2)
            .writes(KeyCommands::getAndExpire),
        RespCommand.of("scan", "cursor [MATCH pattern] [COUNT n] [TYPE type]")
            .summary("Names some counters, and where to go on.")
            .arity(-2)
            .noKeys()
            .reads(Scanning::run),
        RespCommand.of("keys", "pattern")
            .summary("Names counters, 100,000 at most.")
            .arity(2)
            .noKeys()
            .reads(KeyCommands::keys),
        RespCommand.of("dbsize", "")
            .summary("Returns the number of counters, those of families included.")
            .arity(1)
            .noKeys()
            .reads((turn, words) -> new Reply.Number(turn.size())),
        RespCommand.of("randomkey", "")
            .summary("Names a counter: the first.")
            .arity(1)
            .noKeys()
            .reads((turn, words) -> {
              List<String> names = turn.names("", "", 1);
              return names.isEmpty()
                  ? Replies.NULL
                  : Reply.bulk(Family.shown(Family.keyOf(names.getFirst())));
            }));
  }

  private static RespCommand expire(String name, String unit, String usage) {
    return RespCommand.of(name, "key " + usage + " [NX | XX | GT | LT]")
        .summary("Sets when it expires.")
        .arity(-3)
        .onWholeKeys()
        .writes((turn, words) -> expire(turn, words, unit, name));
  }

  private static Reply expire(CounterAccess turn, Arguments words, String unit, String command) {
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
    long at = Expiry.anyAt(turn.nowMillis(), unit, words.number(2), command);
    if (Kind.of(turn, key) == Kind.NONE) {
      return Reply.of(false);
    }
    long was = Kind.expiresAt(turn, key);
    boolean isDone =
        !(options.contains("NX") && was != 0)
            && !(options.contains("XX") && was == 0)
            && !(options.contains("GT") && (was == 0 || at <= was))
            && !(options.contains("LT") && was != 0 && at >= was);
    if (isDone && at <= turn.nowMillis()) {
      return Reply.of(Kind.remove(turn, key));
    }
    return Reply.of(isDone && Kind.expire(turn, key, at));
  }

  private static RespCommand left(String name, long unit, boolean isAbsolute, String summary) {
    return RespCommand.of(name, "key")
        .summary(summary)
        .arity(2)
        .reads((turn, words) -> {
          if (Kind.of(turn, words.key(1)) == Kind.NONE) {
            return new Reply.Number(-2);
          }
          long at = Kind.expiresAt(turn, words.key(1));
          if (at == 0) {
            return new Reply.Number(-1);
          }
          long time = isAbsolute ? at : at - turn.nowMillis();
          boolean rounds = unit > 1 && !isAbsolute;
          return new Reply.Number((time + (rounds ? unit / 2 : 0)) / unit);
        });
  }

  private static Reply getAndExpire(CounterAccess turn, Arguments words) {
    String key = words.key(1);
    Reply value = CounterCommands.value(turn, key);
    if (words.size() == 2) {
      return value;
    }
    String option = words.word(2);
    long at;
    if (option.equals("PERSIST") && words.size() == 3) {
      at = 0;
    } else if (Expiry.isUnit(option) && words.size() == 4) {
      at = Expiry.at(turn.nowMillis(), option, words.number(3), "getex");
    } else {
      throw new Rejected(Arguments.SYNTAX);
    }
    if (at != 0 && at <= turn.nowMillis()) {
      turn.remove(key);
    } else {
      turn.expire(key, at);
    }
    return value;
  }

  private static Reply keys(CounterAccess turn, Arguments words) {
    Collected found = new Collected(words);
    Glob glob = new Glob(turn, List.of(words.text(1)));
    int count = 0;
    String last = "";
    List<String> page = turn.names("", "", SCANNED_MAX);
    while (!page.isEmpty()) {
      for (String name : page) {
        String key = Family.keyOf(name);
        if (!key.equals(last) && glob.matches(Family.shown(key))) {
          found.add(Reply.bulk(Family.shown(key)));
          count++;
        }
        last = key; // members of a family follow each other
      }
      if (count > KEYS_MAX) {
        throw new Rejected("ERR more than 100000 keys match: use SCAN");
      }
      page = turn.names("", page.getLast(), SCANNED_MAX);
    }
    return found.array();
  }
}
