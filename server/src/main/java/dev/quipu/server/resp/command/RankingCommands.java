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
 * A sorted set is a family of counters, sorted on each read: fit for thousands of members, not for
 * millions.
 */

/** Commands on sorted sets, whose scores are counters. */
final class RankingCommands {
  private static final String NOT_A_NUMBER =
      "ERR value is not an integer or out of range: scores are integers";

  private RankingCommands() {}

  /** A member with its score. */
  private record Ranked(String member, long score) {
    static final Comparator<Ranked> LOWEST_FIRST =
        Comparator.comparingLong(Ranked::score).thenComparing(Ranked::member, Key.ORDER);
  }

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("zincrby", "key increment member")
            .summary("Increments the score of a member of a sorted set.")
            .writes((counters, words) -> {
              long delta = number(words, 2);
              Family family = family(counters, words);
              String member = family.member(words.field(3));
              return new Reply.Score(
                  family.add(member, delta, "ERR increment or decrement would overflow"));
            }),
        RespCommand.of("zadd", "key [NX | XX] [CH] score member [score member ...]")
            .summary("Adds members to a sorted set, or updates their scores.")
            .writes(RankingCommands::set),
        RespCommand.of("zrem", "key member [member ...]")
            .summary("Removes members from a sorted set.")
            .writes((counters, words) -> family(counters, words).remove(words)),
        RespCommand.of("zscore", "key member")
            .summary("Returns the score of a member of a sorted set.")
            .reads((counters, words) -> score(counters, family(counters, words), words.field(2))),
        RespCommand.of("zmscore", "key member [member ...]")
            .summary("Returns the scores of several members of a sorted set.")
            .reads((counters, words) -> {
              Family family = family(counters, words);
              return Collected.arrayOf(words, 2, i -> score(counters, family, words.field(i)));
            }),
        RespCommand.of("zcard", "key")
            .summary("Returns the number of members of a sorted set.")
            .reads((counters, words) -> new Reply.Number(family(counters, words).names().size())),
        RespCommand.of("zrank", "key member")
            .summary("Returns the rank of a member by ascending score, starting at 0.")
            .reads((counters, words) -> rank(counters, words, false)),
        RespCommand.of("zrevrank", "key member")
            .summary("Returns the rank of a member by descending score, starting at 0.")
            .reads((counters, words) -> rank(counters, words, true)),
        RespCommand.of("zrange", "key start stop [REV] [WITHSCORES]")
            .summary("Returns members in a range of ranks, by ascending score.")
            .reads((counters, words) -> range(counters, words, false)),
        RespCommand.of("zrevrange", "key start stop [WITHSCORES]")
            .summary("Returns members in a range of ranks, by descending score.")
            .reads((counters, words) -> range(counters, words, true)));
  }

  private static Family family(CounterAccess counters, Arguments words) {
    return Family.of(counters, words, Kind.RANKING);
  }

  private static long number(Arguments words, int index) {
    return words.number(index, NOT_A_NUMBER);
  }

  private static Reply score(CounterAccess counters, Family family, String field) {
    OptionalLong score = counters.get(family.member(field));
    return score.isEmpty() ? Replies.NULL : new Reply.Score(score.getAsLong());
  }

  private static Reply set(CounterAccess counters, Arguments words) {
    boolean ifAbsent = false;
    boolean ifPresent = false;
    boolean returnsChanged = false;
    int first = 2;
    for (boolean isOption = true; isOption && first < words.size(); ) {
      switch (words.word(first)) {
        case "NX" -> ifAbsent = true;
        case "XX" -> ifPresent = true;
        case "CH" -> returnsChanged = true;
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
    Family family = family(counters, words);
    List<String> members = new ArrayList<>();
    for (int i = first; i < words.size(); i += 2) { // validated before anything is changed
      number(words, i);
      members.add(family.member(words.field(i + 1)));
    }
    counters.requireRoom(members);
    long added = 0;
    long changed = 0;
    for (int i = first; i < words.size(); i += 2) {
      String member = family.member(words.field(i + 1));
      OptionalLong was = counters.get(member);
      long score = number(words, i);
      if (was.isEmpty() ? ifPresent : ifAbsent || was.getAsLong() == score) {
        continue;
      }
      family.set(member, score);
      added += was.isEmpty() ? 1 : 0;
      changed++;
    }
    return new Reply.Number(returnsChanged ? changed : added);
  }

  private static List<Ranked> ranked(
      CounterAccess counters, Family family, boolean isHighestFirst) {
    List<Ranked> all = new ArrayList<>();
    for (String name : family.names()) {
      all.add(new Ranked(family.field(name), counters.get(name).orElseThrow()));
    }
    all.sort(isHighestFirst ? Ranked.LOWEST_FIRST.reversed() : Ranked.LOWEST_FIRST);
    return all;
  }

  private static Reply rank(CounterAccess counters, Arguments words, boolean isHighestFirst) {
    Family family = family(counters, words);
    String field = Family.shownField(words.field(2));
    List<Ranked> all = ranked(counters, family, isHighestFirst);
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).member.equals(field)) {
        return new Reply.Number(i);
      }
    }
    return Replies.NULL;
  }

  private static Reply range(CounterAccess counters, Arguments words, boolean isReverse) {
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
    List<Ranked> all = ranked(counters, family(counters, words), isHighestFirst);
    int from = Math.clamp(start < 0 ? all.size() + start : start, 0, all.size());
    long end = stop < 0 ? all.size() + stop : Math.min(stop, all.size());
    int to = Math.clamp(end + 1, 0, all.size());
    List<Ranked> wanted = all.subList(from, Math.max(from, to));
    Collected items = new Collected(words);
    for (Ranked each : wanted) {
      Reply member = Reply.bulk(each.member);
      if (withScores && words.protocol() == 3) { // pairs in RESP3, flat in RESP2
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
