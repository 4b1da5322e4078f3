package dev.quipu.server.resp.session;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Family;
import dev.quipu.server.resp.key.Glob;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.wire.Reply;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
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
    Collected names = new Collected(words);
    Set<String> families = new HashSet<>(); // each once per page
    for (int place = (int) Math.min(cursor, end); place < end; place++) {
      String name = counters.nameAt(place).orElse(null);
      if (name == null) {
        continue;
      }
      String key = Family.keyOf(name);
      boolean isFamily = key.length() < name.length();
      if (glob.matches(Family.shown(key))
          && (type.isEmpty() || type(counters, key, isFamily).equals(type))
          && (!isFamily || families.add(key))) {
        names.add(Reply.bulk(Family.shown(key)));
      }
    }
    long next = end < counters.places() ? end : 0;
    return new Reply.Several(List.of(Reply.bulk(Long.toString(next)), names.array()));
  }

  /** Returns the type of a key; that of a name which is its own key needs no lookup. */
  private static String type(CounterAccess counters, String key, boolean isFamily) {
    return isFamily ? Kind.of(counters, key).type() : Kind.COUNTER.type();
  }

  private static long cursor(Arguments words) {
    long cursor = words.number(1, CURSOR);
    if (cursor < 0) {
      throw new Rejected(CURSOR);
    }
    return cursor;
  }
}
