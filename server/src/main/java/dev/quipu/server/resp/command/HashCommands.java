package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Refused;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.session.Collected;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;

/** Commands on families of counters: a hash is a family, and its fields are counters. */
final class HashCommands {
  private HashCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.writes(
            "hincrby",
            4,
            1,
            1,
            "key field increment",
            "Adds to a counter of a family.",
            HashCommands::add),
        RespCommand.writes(
            "hset",
            -4,
            1,
            1,
            "key field number [field number ...]",
            "Sets counters of a family.",
            HashCommands::set),
        RespCommand.writes(
            "hsetnx",
            4,
            1,
            1,
            "key field number",
            "Sets a counter of a family, if there is none.",
            (turn, words) -> {
              Family family = family(turn, words);
              String member = family.member(words.field(2));
              long number = number(words, 3);
              boolean isNew = turn.get(member).isEmpty();
              if (isNew) {
                family.set(member, number);
              }
              return Reply.of(isNew);
            }),
        RespCommand.reads(
            "hget",
            3,
            1,
            "key field",
            "Reads a counter of a family.",
            (turn, words) -> value(turn, family(turn, words), words.field(2))),
        RespCommand.reads(
            "hmget",
            -3,
            1,
            "key field [field ...]",
            "Reads several.",
            (turn, words) -> {
              Family family = family(turn, words);
              Collected values = new Collected(words);
              for (int i = 2; i < words.size(); i++) {
                values.add(value(turn, family, words.field(i)));
              }
              return values.array();
            }),
        RespCommand.reads(
            "hgetall", 2, 1, "key", "Reads a whole family, by name.", HashCommands::everything),
        RespCommand.reads(
            "hkeys",
            2,
            1,
            "key",
            "Names the counters of a family.",
            (turn, words) -> {
              Family family = family(turn, words);
              return each(words, family, name -> Reply.bulk(family.field(name)));
            }),
        RespCommand.reads(
            "hvals",
            2,
            1,
            "key",
            "Reads a family, without names.",
            (turn, words) ->
                each(words, family(turn, words), name -> Reply.bulk(text(turn, name)))),
        RespCommand.reads(
            "hlen",
            2,
            1,
            "key",
            "Returns the number of counters of a family.",
            (turn, words) -> new Reply.Number(family(turn, words).names().size())),
        RespCommand.reads(
            "hexists",
            3,
            1,
            "key field",
            "Returns whether a family has a counter.",
            (turn, words) -> {
              Family family = family(turn, words);
              return Reply.of(turn.get(family.member(words.field(2))).isPresent());
            }),
        RespCommand.writes(
            "hdel",
            -3,
            1,
            1,
            "key field [field ...]",
            "Removes counters of a family.",
            (turn, words) -> family(turn, words).remove(words)));
  }

  private static Family family(CounterAccess turn, Arguments words) {
    return Family.of(turn, words, Kind.HASH);
  }

  private static String text(CounterAccess turn, String member) {
    return Long.toString(turn.get(member).orElseThrow());
  }

  private static Reply value(CounterAccess turn, Family family, String field) {
    OptionalLong value = turn.get(family.member(field));
    return value.isEmpty() ? Replies.NULL : Reply.bulk(Long.toString(value.getAsLong()));
  }

  private static Reply each(Arguments words, Family family, Function<String, Reply> item) {
    Collected all = new Collected(words);
    family.names().forEach(name -> all.add(item.apply(name)));
    return all.array();
  }

  private static Reply everything(CounterAccess turn, Arguments words) {
    Family family = family(turn, words);
    Collected all = new Collected(words);
    for (String name : family.names()) {
      all.add(Reply.bulk(family.field(name)));
      all.add(Reply.bulk(text(turn, name)));
    }
    return all.pairs();
  }

  private static Reply add(CounterAccess turn, Arguments words) {
    long delta = words.number(3);
    Family family = family(turn, words);
    return new Reply.Number(
        family.add(
            family.member(words.field(2)), delta, "ERR increment or decrement would overflow"));
  }

  private static Reply set(CounterAccess turn, Arguments words) {
    if (words.size() % 2 != 0) {
      throw new Refused("ERR wrong number of arguments for 'hset' command");
    }
    Family family = family(turn, words);
    List<String> members = new ArrayList<>();
    for (int i = 2; i < words.size(); i += 2) { // nothing is done by halves
      members.add(family.member(words.field(i)));
      number(words, i + 1);
    }
    turn.requireMemory(members);
    long added = 0;
    for (int i = 2; i < words.size(); i += 2) {
      String member = family.member(words.field(i));
      added += turn.get(member).isEmpty() ? 1 : 0;
      family.set(member, number(words, i + 1));
    }
    return new Reply.Number(added);
  }

  private static long number(Arguments words, int index) {
    return SetCommand.number(words, index);
  }
}
