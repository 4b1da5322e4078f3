package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
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
        RespCommand.of("hincrby", "key field increment")
            .summary("Adds to a counter of a family.")
            .arity(4)
            .writes(HashCommands::add),
        RespCommand.of("hset", "key field number [field number ...]")
            .summary("Sets counters of a family.")
            .arity(-4)
            .writes(HashCommands::set),
        RespCommand.of("hsetnx", "key field number")
            .summary("Sets a counter of a family, if there is none.")
            .arity(4)
            .writes((turn, words) -> {
              Family family = family(turn, words);
              String member = family.member(words.field(2));
              long number = number(words, 3);
              boolean isNew = turn.get(member).isEmpty();
              if (isNew) {
                family.set(member, number);
              }
              return Reply.of(isNew);
            }),
        RespCommand.of("hget", "key field")
            .summary("Reads a counter of a family.")
            .arity(3)
            .reads((turn, words) -> value(turn, family(turn, words), words.field(2))),
        RespCommand.of("hmget", "key field [field ...]")
            .summary("Reads several.")
            .arity(-3)
            .reads((turn, words) -> {
              Family family = family(turn, words);
              Collected values = new Collected(words);
              for (int i = 2; i < words.size(); i++) {
                values.add(value(turn, family, words.field(i)));
              }
              return values.array();
            }),
        RespCommand.of("hgetall", "key")
            .summary("Reads a whole family, by name.")
            .arity(2)
            .reads(HashCommands::everything),
        RespCommand.of("hkeys", "key")
            .summary("Names the counters of a family.")
            .arity(2)
            .reads((turn, words) -> {
              Family family = family(turn, words);
              return each(words, family, name -> Reply.bulk(family.field(name)));
            }),
        RespCommand.of("hvals", "key")
            .summary("Reads a family, without names.")
            .arity(2)
            .reads((turn, words) ->
                each(words, family(turn, words), name -> Reply.bulk(text(turn, name)))),
        RespCommand.of("hlen", "key")
            .summary("Returns the number of counters of a family.")
            .arity(2)
            .reads((turn, words) -> new Reply.Number(family(turn, words).names().size())),
        RespCommand.of("hexists", "key field")
            .summary("Returns whether a family has a counter.")
            .arity(3)
            .reads((turn, words) -> {
              Family family = family(turn, words);
              return Reply.of(turn.get(family.member(words.field(2))).isPresent());
            }),
        RespCommand.of("hdel", "key field [field ...]")
            .summary("Removes counters of a family.")
            .arity(-3)
            .writes((turn, words) -> family(turn, words).remove(words)));
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
      throw new Rejected("ERR wrong number of arguments for 'hset' command");
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
