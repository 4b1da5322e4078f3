package dev.quipu.server.resp;

import dev.quipu.engine.CounterTurn;
import dev.quipu.server.resp.Arguments.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * SCAN. A cursor is the place of a counter, which never changes: what is there all the time is told
 * once.
 */
final class Scanning {
  private static final int COUNT = 10;
  private static final int COUNT_MAX = 10_000;
  private static final String CURSOR = "ERR invalid cursor";

  private Scanning() {}

  static Reply run(CounterTurn turn, Arguments words) {
    long cursor = cursor(words);
    String pattern = "*";
    long count = COUNT;
    boolean isOurs = true;
    for (int i = 2; i < words.size(); i += 2) {
      if (i + 1 == words.size()) {
        throw new Refused(Arguments.SYNTAX);
      }
      switch (words.word(i)) {
        case "MATCH" -> pattern = words.text(i + 1);
        case "COUNT" -> count = words.number(i + 1);
        case "TYPE" -> isOurs = words.text(i + 1).equalsIgnoreCase("string");
        default -> throw new Refused(Arguments.SYNTAX);
      }
    }
    if (count < 1) {
      throw new Refused(Arguments.SYNTAX);
    }
    int end = (int) Math.min(cursor + Math.min(count, COUNT_MAX), turn.places());
    List<Reply> found = new ArrayList<>();
    for (int place = (int) Math.min(cursor, end); place < end; place++) {
      Optional<String> name = turn.nameAt(place);
      if (isOurs && name.isPresent() && Glob.matches(pattern, name.get())) {
        found.add(Reply.bulk(name.get()));
      }
    }
    long next = end < turn.places() ? end : 0;
    return new Reply.Several(List.of(Reply.bulk(Long.toString(next)), new Reply.Several(found)));
  }

  private static long cursor(Arguments words) {
    try {
      long cursor = words.number(1);
      if (cursor >= 0) {
        return cursor;
      }
    } catch (Refused e) {
      // told below
    }
    throw new Refused(CURSOR);
  }
}
