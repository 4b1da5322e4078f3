package dev.quipu.server.resp.command;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Refusal;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.net.ConnectionMemory;
import dev.quipu.server.net.StoredText;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Refused;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.IncrementWithin;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.session.Collected;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Commands that count, read, set and remove. */
public final class CounterCommands {
  private static final RespCommand GET =
      RespCommand.reads("get", 2, 1, "key", "Reads.", (turn, words) -> value(turn, words.key(1)));
  private static final RespCommand INCRBY =
      RespCommand.writes(
          "incrby",
          3,
          1,
          1,
          "key increment",
          "Adds a number.",
          (turn, words) -> add(turn, words.key(1), words.number(2)));
  private static final RespCommand QUIPU_ADD =
      RespCommand.writes(
          "quipu.add",
          -5,
          1,
          1,
          "key delta ID id [FLOOR n] [CEILING n]",
          "Adds once, however often it is sent under the id: value, added, replayed.",
          CounterCommands::addOnce);
  private static final byte[] NO_WORD = {};
  private static final byte[] ID = {'I', 'D'};
  private static final String WOULD_OVERFLOW = "ERR increment or decrement would overflow";

  private CounterCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.writes(
            "incr", 2, 1, 1, "key", "Adds 1.", (turn, words) -> add(turn, words.key(1), 1)),
        RespCommand.writes(
            "decr",
            2,
            1,
            1,
            "key",
            "Decrements by 1.",
            (turn, words) -> add(turn, words.key(1), -1)),
        INCRBY,
        RespCommand.writes(
            "decrby", 3, 1, 1, "key decrement", "Takes a number.", CounterCommands::decrementBy),
        RespCommand.writes(
            "increx",
            -2,
            1,
            1,
            "key [BYINT n] [LBOUND n] [UBOUND n] [SATURATE]"
                + " [EX s | PX ms | EXAT s | PXAT ms | PERSIST] [ENX]",
            "Adds within bounds; returns the value and what was added.",
            IncrementWithin::run),
        GET,
        RespCommand.reads("mget", -2, -1, "key [key ...]", "Reads several.", CounterCommands::many),
        RespCommand.writes(
                "set",
                -3,
                1,
                1,
                "key number [NX | XX] [GET] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL]",
                "Sets a counter.",
                SetCommand::run)
            .onWholeKeys(),
        RespCommand.writes(
            "setnx",
            3,
            1,
            1,
            "key number",
            "Sets a counter, if there is none.",
            (turn, words) -> {
              String key = words.key(1);
              long number = SetCommand.number(words, 2);
              boolean isNew = Kind.of(turn, key) == Kind.NONE;
              if (isNew) {
                turn.set(key, number);
              }
              return Reply.of(isNew);
            }),
        RespCommand.writes(
                "setex",
                4,
                1,
                1,
                "key seconds number",
                "Sets a counter that expires.",
                (turn, words) -> SetCommand.expiring(turn, words, "EX", "setex"))
            .onWholeKeys(),
        RespCommand.writes(
                "psetex",
                4,
                1,
                1,
                "key milliseconds number",
                "Sets a counter that expires.",
                (turn, words) -> SetCommand.expiring(turn, words, "PX", "psetex"))
            .onWholeKeys(),
        RespCommand.writes(
                "getset",
                3,
                1,
                1,
                "key number",
                "Sets a counter, and returns the previous value.",
                (turn, words) -> {
                  String key = words.key(1);
                  Reply was = value(turn, key);
                  SetCommand.replace(turn, key, SetCommand.number(words, 2), 0);
                  return was;
                })
            .onWholeKeys(),
        RespCommand.writes(
            "getdel",
            2,
            1,
            1,
            "key",
            "Removes a counter, and returns the previous value.",
            (turn, words) -> {
              Reply was = value(turn, words.key(1));
              turn.remove(words.key(1));
              return was;
            }),
        RespCommand.writes(
                "mset",
                -3,
                -1,
                2,
                "key number [key number ...]",
                "Sets several.",
                CounterCommands::set)
            .onWholeKeys(),
        RespCommand.writes(
                "del", -2, -1, 1, "key [key ...]", "Removes counters.", CounterCommands::remove)
            .onWholeKeys(),
        RespCommand.writes(
                "unlink", -2, -1, 1, "key [key ...]", "Removes counters.", CounterCommands::remove)
            .onWholeKeys(),
        RespCommand.reads(
            "exists",
            -2,
            -1,
            "key [key ...]",
            "Returns how many of them exist.",
            CounterCommands::exist),
        RespCommand.reads(
            "touch",
            -2,
            -1,
            "key [key ...]",
            "Returns how many of them exist.",
            CounterCommands::exist),
        RespCommand.reads(
            "type",
            2,
            1,
            "key",
            "Returns string for a counter, as Redis does; hash and zset for families of them.",
            (turn, words) -> new Reply.Simple(Kind.of(turn, words.key(1)).type())),
        RespCommand.reads(
            "strlen",
            2,
            1,
            "key",
            "Returns the length of the number in decimal digits.",
            (turn, words) -> {
              Reply value = value(turn, words.key(1));
              return new Reply.Number(value instanceof Reply.Bulk bulk ? bulk.length() : 0);
            }),
        QUIPU_ADD,
        RespCommand.reads(
            "quipu.outcome",
            3,
            1,
            "key id",
            "Returns the outcome of a request.",
            (turn, words) -> outcome(turn.outcome(words.sharedKey(1), id(words, 2)))),
        RespCommand.writes(
            "quipu.seal",
            3,
            1,
            1,
            "key id",
            "Makes sure that a request which did not apply never will.",
            (turn, words) -> outcome(turn.seal(words.sharedKey(1), id(words, 2)))));
  }

  /** What GET tells. */
  static Reply value(CounterAccess turn, String key) {
    OptionalLong value = turn.get(key);
    if (value.isPresent()) {
      return Reply.bulk(Long.toString(value.getAsLong()));
    }
    byte[] text = turn.text(key);
    if (text != null && !StoredText.isSketch(text)) {
      return new Reply.Bulk(StoredText.content(text));
    }
    Kind.require(turn, key, Kind.COUNTER);
    return Replies.NULL;
  }

  /** GET, of a name that came in bytes. */
  public static CounterCall get(byte[] name, ConnectionMemory memory) {
    return new CounterCall(GET, new Arguments(List.of(NO_WORD, name), memory, 2));
  }

  /** INCRBY, or QUIPU.ADD if there is an id, of a name that came in bytes. */
  public static CounterCall add(byte[] name, long delta, byte[] id, ConnectionMemory memory) {
    byte[] number = Long.toString(delta).getBytes(StandardCharsets.ISO_8859_1);
    List<byte[]> words =
        id.length == 0 ? List.of(NO_WORD, name, number) : List.of(NO_WORD, name, number, ID, id);
    return new CounterCall(id.length == 0 ? INCRBY : QUIPU_ADD, new Arguments(words, memory, 2));
  }

  private static Reply add(CounterAccess turn, String key, long delta) {
    OptionalLong value = turn.get(key);
    if (value.isEmpty()) {
      Kind.requireNumber(turn, key);
    }
    if (key.equals(Family.EMPTY_KEY)) {
      return new Reply.Number(Family.add(turn, key, delta, WOULD_OVERFLOW));
    }
    if (delta == 0) {
      if (value.isEmpty()) {
        turn.set(key, 0); // Redis makes a key of it
      }
      return new Reply.Number(value.orElse(0));
    }
    return switch (turn.add(new Add(key, delta, null))) {
      case AddResult.Applied applied -> new Reply.Number(applied.value().orElseThrow());
      case AddResult.Refused refused -> throw new Refused(WOULD_OVERFLOW);
      case AddResult.Replayed again -> throw new IllegalStateException("without an id");
      case AddResult.Conflict conflict -> throw new IllegalStateException("without an id");
    };
  }

  private static Reply decrementBy(CounterAccess turn, Arguments words) {
    long less = words.number(2);
    if (less == Long.MIN_VALUE) {
      throw new Refused("ERR decrement would overflow");
    }
    return add(turn, words.key(1), -less);
  }

  private static Reply many(CounterAccess turn, Arguments words) {
    Collected values = new Collected(words);
    for (int i = 1; i < words.size(); i++) {
      Kind kind = Kind.of(turn, words.key(i));
      boolean isText = kind == Kind.COUNTER || kind == Kind.TEXT;
      values.add(isText ? value(turn, words.key(i)) : Replies.NULL);
    }
    return values.array();
  }

  private static Reply set(CounterAccess turn, Arguments words) {
    if (words.size() % 2 == 0) {
      throw new Refused("ERR wrong number of arguments for 'mset' command");
    }
    List<String> keys = new ArrayList<>();
    for (int i = 1; i < words.size(); i += 2) { // nothing is done by halves
      keys.add(words.key(i));
      SetCommand.number(words, i + 1);
    }
    turn.requireMemory(keys);
    for (int i = 1; i < words.size(); i += 2) {
      SetCommand.replace(turn, words.key(i), SetCommand.number(words, i + 1), 0);
    }
    return Replies.OK;
  }

  private static Reply remove(CounterAccess turn, Arguments words) {
    for (int i = 1; i < words.size(); i++) {
      words.key(i);
    }
    long removed = 0;
    for (int i = 1; i < words.size(); i++) {
      removed += Kind.remove(turn, words.key(i)) ? 1 : 0;
    }
    return new Reply.Number(removed);
  }

  private static Reply exist(CounterAccess turn, Arguments words) {
    long there = 0;
    for (int i = 1; i < words.size(); i++) {
      there += Kind.of(turn, words.key(i)) == Kind.NONE ? 0 : 1;
    }
    return new Reply.Number(there);
  }

  static RequestId id(Arguments words, int index) {
    try {
      return RequestId.of(words.text(index));
    } catch (IllegalArgumentException e) {
      throw new Refused("ERR " + e.getMessage());
    }
  }

  private static Reply addOnce(CounterAccess turn, Arguments words) {
    if (!words.word(3).equals("ID") || words.size() % 2 == 0) {
      throw new Refused(Arguments.SYNTAX);
    }
    long floor = Long.MIN_VALUE;
    long ceiling = Long.MAX_VALUE;
    for (int i = 5; i < words.size(); i += 2) {
      switch (words.word(i)) {
        case "FLOOR" -> floor = words.number(i + 1);
        case "CEILING" -> ceiling = words.number(i + 1);
        default -> throw new Refused(Arguments.SYNTAX);
      }
    }
    long delta = words.number(2);
    String key = words.sharedKey(1);
    Add add = new Add(key, delta, new Bounds(floor, ceiling), id(words, 4));
    if (!Kind.mayBeNumber(turn, key)
        && !turn.isRepeat(add)) { // ids are looked up by the add anyway
      Kind.requireNumber(turn, key);
    }
    return switch (turn.add(add)) {
      case AddResult.Applied applied -> added(applied.value(), applied.added(), false);
      case AddResult.Replayed again -> added(again.value(), again.added(), true);
      case AddResult.Conflict conflict ->
          throw new Refused(
              "CONFLICT the first request under this id added %d or had other bounds"
                  .formatted(conflict.added()));
      case AddResult.Refused refused -> throw new Refused(refusal(refused));
    };
  }

  private static String refusal(AddResult.Refused refused) {
    String what =
        switch (refused.why()) {
          case FLOOR -> "FLOOR the counter would go below it";
          case CEILING -> "CEILING the counter would go above it";
          case OVERFLOW -> "OVERFLOW the counter would leave 64 bits";
          case HELD_ELSEWHERE -> "HELD room is held in regions that do not answer";
          case SEALED -> "SEALED the request never applied and never will";
        };
    return refused.why() == Refusal.SEALED || refused.value().isEmpty()
        ? what
        : what + ": it is at " + refused.value().getAsLong();
  }

  private static Reply added(OptionalLong value, long added, boolean replayed) {
    return new Reply.Several(
        List.of(
            new Reply.Number(value.orElseThrow()), new Reply.Number(added), Reply.of(replayed)));
  }

  private static Reply outcome(RequestOutcome outcome) {
    return switch (outcome) {
      case RequestOutcome.Applied applied ->
          new Reply.Several(
              List.of(
                  Reply.bulk("applied"),
                  new Reply.Number(applied.added()),
                  new Reply.Number(applied.value().orElseThrow())));
      case RequestOutcome.NotSeen unseen -> new Reply.Several(List.of(Reply.bulk("not-seen")));
      case RequestOutcome.Sealed sealed -> new Reply.Several(List.of(Reply.bulk("sealed")));
    };
  }
}
