package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.session.Collected;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import dev.quipu.store.Key;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/*
 * A sorted set is a family of counters that is read by their values. It is sorted when it is read,
 * which takes all of them: right for the top of thousands, not of millions.
 */

/** Commands on families of counters that are ranked. */
final class RankingCommands {
  private static final String NOT_A_NUMBER =
      "ERR value is not an integer or out of range: scores are counters here";

  private RankingCommands() {}

  /** A counter of a ranking. */
  private record Ranked(String member, long score) {
    static final Comparator<Ranked> LOWEST_FIRST =
        Comparator.comparingLong(Ranked::score).thenComparing(Ranked::member, Key.ORDER);
  }

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("zincrby", "key increment member")
            .summary("Adds to a counter of a ranking.")
            .arity(4)
            .writes((turn, words) -> {
              long delta = number(words, 2);
              Family family = family(turn, words);
              String member = family.member(words.field(3));
              return new Reply.Score(
                  family.add(member, delta, "ERR increment or decrement would overflow"));
            }),
        RespCommand.of("zadd", "key [NX | XX] [CH] number member [number member ...]")
            .summary("Sets counters of a ranking.")
            .arity(-4)
            .writes(RankingCommands::set),
        RespCommand.of("zrem", "key member [member ...]")
            .summary("Removes counters of a ranking.")
            .arity(-3)
            .writes((turn, words) -> family(turn, words).remove(words)),
        RespCommand.of("zscore", "key member")
            .summary("Reads a counter of a ranking.")
            .arity(3)
            .reads((turn, words) -> score(turn, family(turn, words), words.field(2))),
        RespCommand.of("zmscore", "key member [member ...]")
            .summary("Reads several.")
            .arity(-3)
            .reads((turn, words) -> {
              Family family = family(turn, words);
              Collected scores = new Collected(words);
              for (int i = 2; i < words.size(); i++) {
                scores.add(score(turn, family, words.field(i)));
              }
              return scores.array();
            }),
        RespCommand.of("zcard", "key")
            .summary("Returns the number of counters of a ranking.")
            .arity(2)
            .reads((turn, words) -> new Reply.Number(family(turn, words).names().size())),
        RespCommand.of("zrank", "key member")
            .summary("Returns the rank of a counter, the lowest being 0.")
            .arity(3)
            .reads((turn, words) -> rank(turn, words, false)),
        RespCommand.of("zrevrank", "key member")
            .summary("Returns the rank of a counter, the highest being 0.")
            .arity(3)
            .reads((turn, words) -> rank(turn, words, true)),
        RespCommand.of("zrange", "key start stop [REV] [WITHSCORES]")
            .summary("Names counters by place, from the lowest on.")
            .arity(-4)
            .reads((turn, words) -> range(turn, words, false)),
        RespCommand.of("zrevrange", "key start stop [WITHSCORES]")
            .summary("Names counters by place, from the highest on: the top.")
            .arity(-4)
            .reads((turn, words) -> range(turn, words, true)));
  }

  private static Family family(CounterAccess turn, Arguments words) {
    return Family.of(turn, words, Kind.RANKING);
  }

  private static long number(Arguments words, int index) {
    try {
      return words.number(index);
    } catch (Rejected e) {
      throw new Rejected(NOT_A_NUMBER);
    }
  }

  private static Reply score(CounterAccess turn, Family family, String field) {
    OptionalLong score = turn.get(family.member(field));
    return score.isEmpty() ? Replies.NULL : new Reply.Score(score.getAsLong());
  }

  private static Reply set(CounterAccess turn, Arguments words) {
    boolean ifAbsent = false;
    boolean ifPresent = false;
    boolean tellsChanged = false;
    int first = 2;
    for (boolean isOption = true; isOption && first < words.size(); ) {
      switch (words.word(first)) {
        case "NX" -> ifAbsent = true;
        case "XX" -> ifPresent = true;
        case "CH" -> tellsChanged = true;
        default -> isOption = false;
      }
      first += isOption ? 1 : 0;
    }
    if (first == words.size() || (words.size() - first) % 2 != 0) {
      throw new Rejected(Arguments.SYNTAX);
    }
    if (ifAbsent && ifPresent) {
      throw new Rejected("ERR XX and NX options at the same time are not compatible");
    }
    Family family = family(turn, words);
    List<String> members = new ArrayList<>();
    for (int i = first; i < words.size(); i += 2) { // nothing is done by halves
      number(words, i);
      members.add(family.member(words.field(i + 1)));
    }
    turn.requireMemory(members);
    long added = 0;
    long changed = 0;
    for (int i = first; i < words.size(); i += 2) {
      String member = family.member(words.field(i + 1));
      OptionalLong was = turn.get(member);
      long score = number(words, i);
      if (was.isEmpty() ? ifPresent : ifAbsent || was.getAsLong() == score) {
        continue;
      }
      family.set(member, score);
      added += was.isEmpty() ? 1 : 0;
      changed++;
    }
    return new Reply.Number(tellsChanged ? changed : added);
  }

  private static List<Ranked> ranked(CounterAccess turn, Family family, boolean isHighestFirst) {
    List<Ranked> all = new ArrayList<>();
    for (String name : family.names()) {
      all.add(new Ranked(family.field(name), turn.get(name).orElseThrow()));
    }
    all.sort(isHighestFirst ? Ranked.LOWEST_FIRST.reversed() : Ranked.LOWEST_FIRST);
    return all;
  }

  private static Reply rank(CounterAccess turn, Arguments words, boolean isHighestFirst) {
    Family family = family(turn, words);
    String field = Family.shownField(words.field(2));
    List<Ranked> all = ranked(turn, family, isHighestFirst);
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).member.equals(field)) {
        return new Reply.Number(i);
      }
    }
    return Replies.NULL;
  }

  private static Reply range(CounterAccess turn, Arguments words, boolean isReverse) {
    boolean isHighestFirst = isReverse;
    boolean withScores = false;
    for (int i = 4; i < words.size(); i++) {
      switch (words.word(i)) {
        case "WITHSCORES" -> withScores = true;
        case "REV" -> {
          if (isReverse) {
            throw new Rejected(Arguments.SYNTAX);
          }
          isHighestFirst = true;
        }
        default -> throw new Rejected(Arguments.SYNTAX);
      }
    }
    long start = words.number(2);
    long stop = words.number(3);
    List<Ranked> all = ranked(turn, family(turn, words), isHighestFirst);
    int from = Math.clamp(start < 0 ? all.size() + start : start, 0, all.size());
    long end = stop < 0 ? all.size() + stop : Math.min(stop, all.size());
    int to = Math.clamp(end + 1, 0, all.size());
    List<Ranked> wanted = all.subList(from, Math.max(from, to));
    Collected items = new Collected(words);
    for (Ranked each : wanted) {
      Reply member = Reply.bulk(each.member);
      if (withScores && words.protocol() == 3) { // a pair there, one after the other in RESP2
        items.add(new Reply.Several(List.of(member, new Reply.Score(each.score))));
      } else {
        items.add(member);
        if (withScores) {
          items.add(new Reply.Score(each.score));
        }
      }
    }
    return items.array();
  }
}
