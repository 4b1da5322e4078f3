package dev.quipu.server.resp.session;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.Glob;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.wire.Reply;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * SCAN. A cursor is the place of a counter, which never changes: a counter that exists during the
 * whole scan is returned once, a family of counters at least once.
 */
public final class Scanning {
  private static final int COUNT = 10;
  private static final int COUNT_MAX = 10_000;
  private static final String CURSOR = "ERR invalid cursor";

  private Scanning() {}

  public static Reply run(CounterAccess counters, Arguments words) {
    long cursor = cursor(words);
    String pattern = "*";
    long count = COUNT;
    String type = "";
    for (int i = 2; i < words.size(); i += 2) {
      if (i + 1 == words.size()) {
        throw new Rejected(Arguments.SYNTAX);
      }
      switch (words.word(i)) {
        case "MATCH" -> pattern = words.text(i + 1);
        case "COUNT" -> count = words.number(i + 1);
        case "TYPE" -> type = words.text(i + 1).toLowerCase(Locale.ROOT);
        default -> throw new Rejected(Arguments.SYNTAX);
      }
    }
    if (count < 1) {
      throw new Rejected(Arguments.SYNTAX);
    }
    Glob glob = new Glob(counters, List.of(pattern));
    int end = (int) Math.min(cursor + Math.min(count, COUNT_MAX), counters.places());
    Set<String> found = new LinkedHashSet<>(); // a family once per page
    for (int place = (int) Math.min(cursor, end); place < end; place++) {
      Optional<String> name = counters.nameAt(place);
      String key = name.map(Family::keyOf).orElse("");
      if (name.isPresent()
          && glob.matches(Family.shown(key))
          && (type.isEmpty() || Kind.of(counters, key).type().equals(type))) {
        found.add(key);
      }
    }
    long next = end < counters.places() ? end : 0;
    Collected names = new Collected(words);
    found.forEach(key -> names.add(Reply.bulk(Family.shown(key))));
    return new Reply.Several(List.of(Reply.bulk(Long.toString(next)), names.array()));
  }

  private static long cursor(Arguments words) {
    long cursor = words.number(1, CURSOR);
    if (cursor < 0) {
      throw new Rejected(CURSOR);
    }
    return cursor;
  }
}
