package dev.quipu.server.resp.command;

import dev.quipu.Reading;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Amounts;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.session.Collected;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Commands on hashes, whose fields are counters. */
final class HashCommands {
  private static final String WOULD_OVERFLOW = "ERR increment or decrement would overflow";

  private HashCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("hincrby", "key field increment")
            .summary("Increments the integer value of a hash field by a number.")
            .writes(HashCommands::add),
        RespCommand.of("hincrbyfloat", "key field increment")
            .summary("Increments the decimal value of a hash field; only if it has a scale.")
            .writes((counters, words) -> {
              Family family = family(counters, words);
              String member = family.member(words.field(2));
              int scale = counters.scale(member);
              long delta = Amounts.fraction(words, 3, scale, "HINCRBY");
              return Amounts.reply(family.add(member, delta, WOULD_OVERFLOW), scale);
            }),
        RespCommand.of("hset", "key field number [field number ...]")
            .summary("Sets the integer values of hash fields.")
            .writes(HashCommands::set),
        RespCommand.of("hsetnx", "key field number")
            .summary("Sets the integer value of a hash field, only if it doesn't exist.")
            .writes((counters, words) -> {
              Family family = family(counters, words);
              String member = family.member(words.field(2));
              long number = SetCommand.number(counters, member, words, 3);
              boolean isNew = counters.get(member).isEmpty();
              if (isNew) {
                family.set(member, number);
              }
              return Reply.of(isNew);
            }),
        RespCommand.of("hget", "key field")
            .summary("Returns the value of a hash field.")
            .reads((counters, words) -> value(counters, family(counters, words), words.field(2))),
        RespCommand.of("hmget", "key field [field ...]")
            .summary("Returns the values of several hash fields.")
            .reads((counters, words) -> {
              Family family = family(counters, words);
              return Collected.arrayOf(words, 2, i -> value(counters, family, words.field(i)));
            }),
        RespCommand.of("hgetall", "key")
            .summary("Returns all fields and values of a hash, ordered by field.")
            .reads(HashCommands::everything),
        RespCommand.of("hkeys", "key")
            .summary("Returns all fields of a hash.")
            .reads((counters, words) -> {
              Family family = family(counters, words);
              return each(words, family, name -> Reply.bulk(family.field(name)));
            }),
        RespCommand.of("hvals", "key")
            .summary("Returns all values of a hash.")
            .reads((counters, words) ->
                each(words, family(counters, words), name -> Reply.bulk(text(counters, name)))),
        RespCommand.of("hlen", "key")
            .summary("Returns the number of fields of a hash.")
            .reads((counters, words) -> new Reply.Number(family(counters, words).names().size())),
        RespCommand.of("hexists", "key field")
            .summary("Returns whether a hash field exists.")
            .reads((counters, words) -> {
              Family family = family(counters, words);
              return Reply.of(counters.get(family.member(words.field(2))).isPresent());
            }),
        RespCommand.of("hdel", "key field [field ...]")
            .summary("Deletes hash fields. Deletes the hash if no fields remain.")
            .writes((counters, words) -> family(counters, words).remove(words)));
  }

  private static Family family(CounterAccess counters, Arguments words) {
    return Family.of(counters, words, Kind.HASH);
  }

  private static String text(CounterAccess counters, String member) {
    Reading reading = counters.reading(member).orElseThrow();
    return reading.text(reading.value());
  }

  private static Reply value(CounterAccess counters, Family family, String field) {
    String member = family.member(field);
    return counters.get(member).isEmpty() ? Replies.NULL : Reply.bulk(text(counters, member));
  }

  private static Reply each(Arguments words, Family family, Function<String, Reply> item) {
    Collected all = new Collected(words);
    family.names().forEach(name -> all.add(item.apply(name)));
    return all.array();
  }

  private static Reply everything(CounterAccess counters, Arguments words) {
    Family family = family(counters, words);
    Collected all = new Collected(words);
    for (String name : family.names()) {
      all.add(Reply.bulk(family.field(name)));
      all.add(Reply.bulk(text(counters, name)));
    }
    return all.pairs();
  }

  private static Reply add(CounterAccess counters, Arguments words) {
    long number = words.number(3);
    Family family = family(counters, words);
    String member = family.member(words.field(2));
    int scale = counters.scale(member);
    long delta = Amounts.whole(number, scale, WOULD_OVERFLOW);
    return Amounts.reply(family.add(member, delta, WOULD_OVERFLOW), scale);
  }

  private static Reply set(CounterAccess counters, Arguments words) {
    if (words.size() % 2 != 0) {
      throw new Rejected("ERR wrong number of arguments for 'hset' command");
    }
    Family family = family(counters, words);
    List<String> members = new ArrayList<>();
    for (int i = 2; i < words.size(); i += 2) { // validated before anything is changed
      String member = family.member(words.field(i));
      members.add(member);
      var unusedNumber = SetCommand.number(counters, member, words, i + 1);
    }
    counters.requireRoom(members);
    long added = 0;
    for (int i = 2; i < words.size(); i += 2) {
      String member = family.member(words.field(i));
      added += counters.get(member).isEmpty() ? 1 : 0;
      family.set(member, SetCommand.number(counters, member, words, i + 1));
    }
    return new Reply.Number(added);
  }
}
