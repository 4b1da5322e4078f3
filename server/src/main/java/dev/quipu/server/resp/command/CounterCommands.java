package dev.quipu.server.resp.command;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.Reading;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.TransactionOperation;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.protocol.StoredText;
import dev.quipu.server.resp.key.Amounts;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.IncrementWithin;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.session.Collected;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Commands on single counters. */
public final class CounterCommands {
  private static final RespCommand GET =
      RespCommand.of("get", "key")
          .summary("Returns the value of a key.")
          .reads((counters, words) -> value(counters, words.key(1)));
  private static final RespCommand INCRBY =
      RespCommand.of("incrby", "key increment")
          .summary("Increments the integer value of a key by a number.")
          .writes((counters, words) -> addWhole(counters, words.key(1), words.number(2)));
  private static final String ADD_WORDS = "key delta ID id [FLOOR n] [CEILING n]";
  private static final String ADD_SYNTAX = Arguments.SYNTAX + "; use QUIPU.ADD " + ADD_WORDS;
  private static final RespCommand QUIPU_ADD =
      RespCommand.of("quipu.add", ADD_WORDS)
          .summary(
              "Adds exactly once per id. Returns the value, the delta and whether it was replayed.")
          .writes(CounterCommands::addOnce);
  private static final byte[] NO_WORD = {};
  private static final byte[] ID = {'I', 'D'};
  private static final String WOULD_OVERFLOW = "ERR increment or decrement would overflow";

  private CounterCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("incr", "key")
            .summary("Increments the integer value of a key by 1.")
            .writes((counters, words) -> addWhole(counters, words.key(1), 1)),
        RespCommand.of("decr", "key")
            .summary("Decrements the integer value of a key by 1.")
            .writes((counters, words) -> addWhole(counters, words.key(1), -1)),
        INCRBY,
        RespCommand.of("decrby", "key decrement")
            .summary("Decrements the integer value of a key by a number.")
            .writes(CounterCommands::decrementBy),
        RespCommand.of("incrbyfloat", "key increment")
            .summary("Increments the decimal value of a key; only if it has a scale.")
            .writes((counters, words) -> {
              String key = words.key(1);
              int scale = counters.scale(key);
              return add(counters, key, Amounts.fraction(words, 2, scale, "INCRBY"), scale);
            }),
        RespCommand.of(
                "increx",
                "key [BYINT n | BYFLOAT n] [LBOUND n] [UBOUND n] [SATURATE]"
                    + " [EX s | PX ms | EXAT s | PXAT ms | PERSIST] [ENX]")
            .summary("Increments within bounds. Returns the value and the delta applied.")
            .writes(IncrementWithin::run),
        GET,
        RespCommand.of("mget", "key [key ...]")
            .summary("Returns the values of several keys.")
            .everyKey(1)
            .reads(CounterCommands::many),
        RespCommand.of(
                "set", "key number [NX | XX] [GET] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL]")
            .summary("Sets the integer value of a key.")
            .onWholeKeys()
            .writes(SetCommand::run),
        RespCommand.of("setnx", "key number")
            .summary("Sets the integer value of a key, only if the key doesn't exist.")
            .writes((counters, words) -> {
              String key = words.key(1);
              long number = SetCommand.number(counters, key, words, 2);
              boolean isNew = Kind.of(counters, key) == Kind.NONE;
              if (isNew) {
                counters.set(key, number);
              }
              return Reply.of(isNew);
            }),
        RespCommand.of("setex", "key seconds number")
            .summary("Sets the integer value of a key and its expiry.")
            .onWholeKeys()
            .writes((counters, words) -> SetCommand.expiring(counters, words, "EX", "setex")),
        RespCommand.of("psetex", "key milliseconds number")
            .summary("Sets the integer value of a key and its expiry.")
            .onWholeKeys()
            .writes((counters, words) -> SetCommand.expiring(counters, words, "PX", "psetex")),
        RespCommand.of("getset", "key number")
            .summary("Sets the integer value of a key and returns the previous one.")
            .onWholeKeys()
            .writes((counters, words) -> {
              String key = words.key(1);
              Reply was = value(counters, key);
              SetCommand.replace(counters, key, SetCommand.number(counters, key, words, 2), 0);
              return was;
            }),
        RespCommand.of("getdel", "key")
            .summary("Returns the value of a key and deletes the key.")
            .writes((counters, words) -> {
              Reply was = value(counters, words.key(1));
              counters.remove(words.key(1));
              return was;
            }),
        RespCommand.of("mset", "key number [key number ...]")
            .summary("Sets the integer values of several keys.")
            .everyKey(2)
            .onWholeKeys()
            .writes(CounterCommands::set),
        remove("del"),
        remove("unlink"),
        exist("exists"),
        exist("touch"),
        RespCommand.of("type", "key")
            .summary("Returns the type of the value of a key: string, hash, zset or none.")
            .reads((counters, words) -> new Reply.Simple(Kind.of(counters, words.key(1)).type())),
        RespCommand.of("strlen", "key")
            .summary("Returns the length of the value in characters.")
            .reads((counters, words) -> {
              Reply value = value(counters, words.key(1));
              return new Reply.Number(value instanceof Reply.Bulk bulk ? bulk.length() : 0);
            }),
        QUIPU_ADD,
        RespCommand.of("quipu.outcome", "[key] id")
            .summary(
                "Returns the outcome of a request: applied, canceled or not-seen. Without a key, of"
                    + " QUIPU.TX; of QUIPU.HOLD, held and its state.")
            .reads((counters, words) ->
                isOfAll(words)
                    ? HoldCommands.outcome(counters, TransactionOperation.outcome(id(words, 1)))
                    : outcome(counters.outcome(words.sharedKey(1), id(words, 2)))),
        RespCommand.of("quipu.cancel", "[key] id")
            .summary(
                "Cancels a request unless it was applied. Returns its outcome. Without a key, of"
                    + " QUIPU.TX.")
            .writes((counters, words) ->
                isOfAll(words)
                    ? HoldCommands.outcome(counters, TransactionOperation.cancel(id(words, 1)))
                    : outcome(counters.cancel(words.sharedKey(1), id(words, 2)))));
  }

  private static boolean isOfAll(Arguments words) {
    if (words.size() > 3) {
      throw new Rejected("ERR wrong number of arguments for '%s' command".formatted(words.text(0)));
    }
    return words.size() == 2;
  }

  /** Returns the reply of GET. */
  static Reply value(CounterAccess counters, String key) {
    Optional<Reading> reading = counters.reading(key);
    if (reading.isPresent()) {
      return Reply.bulk(reading.get().text(reading.get().value()));
    }
    byte[] text = counters.text(key);
    if (text != null && !StoredText.isSketch(text)) {
      return new Reply.Bulk(StoredText.content(text));
    }
    Kind.require(counters, key, Kind.COUNTER);
    return Replies.NULL;
  }

  /** Returns a call of GET. */
  public static CounterCall get(byte[] name, ConnectionMemory memory) {
    return new CounterCall(GET, new Arguments(List.of(NO_WORD, name), memory, 2));
  }

  /** Returns a call of INCRBY, or of QUIPU.ADD if there is an id. */
  public static CounterCall add(byte[] name, long delta, byte[] id, ConnectionMemory memory) {
    byte[] number = Long.toString(delta).getBytes(StandardCharsets.ISO_8859_1);
    List<byte[]> words =
        id.length == 0 ? List.of(NO_WORD, name, number) : List.of(NO_WORD, name, number, ID, id);
    return new CounterCall(id.length == 0 ? INCRBY : QUIPU_ADD, new Arguments(words, memory, 2));
  }

  private static Reply addWhole(CounterAccess counters, String key, long number) {
    int scale = counters.scale(key);
    return add(counters, key, Amounts.whole(number, scale, WOULD_OVERFLOW), scale);
  }

  /** Adds units of a counter with this scale. */
  private static Reply add(CounterAccess counters, String key, long delta, int scale) {
    OptionalLong value = counters.get(key);
    if (value.isEmpty()) {
      Kind.requireNumber(counters, key);
    }
    if (key.equals(Family.EMPTY_KEY)) {
      return Amounts.reply(Family.add(counters, key, delta, WOULD_OVERFLOW), scale);
    }
    if (delta == 0) {
      if (value.isEmpty()) {
        counters.set(key, 0); // creates the key, as in Redis
      }
      return Amounts.reply(value.orElse(0), scale);
    }
    return switch (counters.add(new Add(key, delta, null))) {
      case AddResult.Applied applied -> Amounts.reply(applied.value(), scale);
      case AddResult.Rejected rejected -> throw new Rejected(WOULD_OVERFLOW);
      case AddResult.Replayed again -> throw new IllegalStateException("without an id");
      case AddResult.Conflict conflict -> throw new IllegalStateException("without an id");
    };
  }

  private static Reply decrementBy(CounterAccess counters, Arguments words) {
    long less = words.number(2);
    if (less == Long.MIN_VALUE) {
      throw new Rejected("ERR decrement would overflow");
    }
    return addWhole(counters, words.key(1), -less);
  }

  private static Reply many(CounterAccess counters, Arguments words) {
    return Collected.arrayOf(
        words,
        1,
        i -> {
          Kind kind = Kind.of(counters, words.key(i));
          boolean isText = kind == Kind.COUNTER || kind == Kind.TEXT;
          return isText ? value(counters, words.key(i)) : Replies.NULL;
        });
  }

  private static Reply set(CounterAccess counters, Arguments words) {
    if (words.size() % 2 == 0) {
      throw new Rejected("ERR wrong number of arguments for 'mset' command");
    }
    List<String> keys = new ArrayList<>();
    for (int i = 1; i < words.size(); i += 2) { // validated before anything is changed
      keys.add(words.key(i));
      var unusedNumber = SetCommand.number(counters, words.key(i), words, i + 1);
    }
    counters.requireRoom(keys);
    for (int i = 1; i < words.size(); i += 2) {
      String key = words.key(i);
      SetCommand.replace(counters, key, SetCommand.number(counters, key, words, i + 1), 0);
    }
    return Replies.OK;
  }

  private static RespCommand remove(String name) {
    return RespCommand.of(name, "key [key ...]")
        .summary("Deletes keys. Returns how many existed.")
        .everyKey(1)
        .onWholeKeys()
        .writes(CounterCommands::remove);
  }

  private static RespCommand exist(String name) {
    return RespCommand.of(name, "key [key ...]")
        .summary("Returns the number of keys that exist.")
        .everyKey(1)
        .reads(CounterCommands::exist);
  }

  private static Reply remove(CounterAccess counters, Arguments words) {
    for (int i = 1; i < words.size(); i++) {
      words.key(i);
    }
    long removed = 0;
    for (int i = 1; i < words.size(); i++) {
      removed += Kind.remove(counters, words.key(i)) ? 1 : 0;
    }
    return new Reply.Number(removed);
  }

  private static Reply exist(CounterAccess counters, Arguments words) {
    long there = 0;
    for (int i = 1; i < words.size(); i++) {
      there += Kind.of(counters, words.key(i)) == Kind.NONE ? 0 : 1;
    }
    return new Reply.Number(there);
  }

  static RequestId id(Arguments words, int index) {
    try {
      return RequestId.of(words.id(index));
    } catch (IllegalArgumentException e) {
      throw new Rejected("ERR " + e.getMessage());
    }
  }

  private static Reply addOnce(CounterAccess counters, Arguments words) {
    if (!words.word(3).equals("ID") || words.size() % 2 == 0) {
      throw new Rejected(ADD_SYNTAX);
    }
    String key = words.sharedKey(1);
    int scale = counters.scale(key);
    long floor = Long.MIN_VALUE;
    long ceiling = Long.MAX_VALUE;
    for (int i = 5; i < words.size(); i += 2) {
      switch (words.word(i)) {
        case "FLOOR" -> floor = Amounts.units(words, i + 1, scale);
        case "CEILING" -> ceiling = Amounts.units(words, i + 1, scale);
        default -> throw new Rejected(ADD_SYNTAX);
      }
    }
    long delta = Amounts.units(words, 2, scale);
    Add add = new Add(key, delta, new Bounds(floor, ceiling), id(words, 4));
    if (!Kind.mayBeNumber(counters, key)
        && !counters.isRepeat(add)) { // the add looks up the id anyway
      Kind.requireNumber(counters, key);
    }
    return switch (counters.add(add)) {
      case AddResult.Applied applied -> added(applied);
      case AddResult.Replayed again -> added(again);
      case AddResult.Conflict conflict ->
          throw new Rejected(
              "CONFLICT this id was first used with delta %s; delta or bounds differ"
                  .formatted(Decimal.text(conflict.added(), conflict.scale())));
      case AddResult.Rejected rejected ->
          throw new Rejected(rejection(rejected.why(), rejected.valueIfKnown(), rejected.scale()));
    };
  }

  static String rejection(Rejection why, OptionalLong value, int scale) {
    String what =
        switch (why) {
          case FLOOR -> "FLOOR value would fall below the floor";
          case CEILING -> "CEILING value would exceed the ceiling";
          case OVERFLOW -> "OVERFLOW value would exceed 64 bits";
          case HELD_ELSEWHERE -> "HELD capacity is held by regions that do not respond";
          case CANCELED -> "CANCELED request was canceled and will never be applied";
        };
    return why == Rejection.CANCELED || value.isEmpty()
        ? what
        : what + "; the value is " + Decimal.text(value.getAsLong(), scale);
  }

  private static Reply added(AddResult.Success done) {
    return new Reply.Several(
        List.of(
            Amounts.reply(done.value(), done.scale()),
            Amounts.reply(done.added(), done.scale()),
            Reply.of(done.isReplayed())));
  }

  private static Reply outcome(RequestOutcome outcome) {
    return switch (outcome) {
      case RequestOutcome.Applied applied ->
          new Reply.Several(
              List.of(
                  Reply.bulk("applied"),
                  Amounts.reply(applied.added(), applied.scale()),
                  Amounts.reply(applied.valueIfKnown().orElseThrow(), applied.scale())));
      case RequestOutcome.NotSeen unseen -> new Reply.Several(List.of(Reply.bulk("not-seen")));
      case RequestOutcome.Canceled canceled -> new Reply.Several(List.of(Reply.bulk("canceled")));
    };
  }
}
