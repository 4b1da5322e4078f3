package dev.quipu.server.resp.key;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.wire.Reply;
import java.util.List;

/** INCREX: an increment within bounds, optionally saturating, with an optional expiry. */
public final class IncrementWithin {
  private static final String OVERFLOW = "ERR increment or decrement would overflow";

  private final int scale;
  private long by;
  private boolean isBySet;
  private long floor = Long.MIN_VALUE;
  private long ceiling = Long.MAX_VALUE;
  private boolean saturates;
  private boolean persists;
  private boolean onlyIfNone;
  private long expiresAt;

  private IncrementWithin(int scale) {
    this.scale = scale;
    this.by = Amounts.whole(1, scale, OVERFLOW);
  }

  public static Reply run(CounterAccess counters, Arguments words) {
    IncrementWithin options = new IncrementWithin(counters.scale(words.key(1)));
    for (int i = 2; i < words.size(); i++) {
      i += options.take(counters, words, i);
    }
    if (options.floor > options.ceiling) {
      throw new Rejected("ERR LBOUND can't be greater than UBOUND");
    }
    if (options.onlyIfNone && options.expiresAt == 0) {
      throw new Rejected("ERR ENX flag requires EX, PX, EXAT or PXAT");
    }
    return options.increment(counters, words.key(1));
  }

  private int take(CounterAccess counters, Arguments words, int at) {
    String word = words.word(at);
    boolean hasNext = at + 1 < words.size();
    if (Expiry.isUnit(word) && hasNext && expiresAt == 0 && !persists) {
      expiresAt = Expiry.at(counters.nowMillis(), word, words.number(at + 1), "increx");
      return 1;
    }
    switch (word) {
      case "BYINT", "BYFLOAT" -> {
        if (!hasNext || isBySet) {
          throw new Rejected(Arguments.SYNTAX);
        }
        by =
            word.equals("BYINT")
                ? Amounts.whole(words.number(at + 1), scale, OVERFLOW)
                : Amounts.fraction(words, at + 1, scale, "BYINT");
        isBySet = true;
        return 1;
      }
      case "LBOUND", "UBOUND" -> {
        if (!hasNext) {
          throw new Rejected(Arguments.SYNTAX);
        }
        long bound = Amounts.units(words, at + 1, scale);
        floor = word.equals("LBOUND") ? bound : floor;
        ceiling = word.equals("UBOUND") ? bound : ceiling;
        return 1;
      }
      case "SATURATE" -> saturates = true;
      case "ENX" -> onlyIfNone = true;
      case "PERSIST" -> {
        if (expiresAt != 0) {
          throw new Rejected(Arguments.SYNTAX);
        }
        persists = true;
      }
      default -> throw new Rejected(Arguments.SYNTAX);
    }
    return 0;
  }

  private Reply increment(CounterAccess counters, String key) {
    Kind.requireNumber(counters, key);
    long before = counters.get(key).orElse(0);
    long after = before + by;
    boolean overflows = ((before ^ after) & (by ^ after)) < 0;
    if (overflows) {
      after = by < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    boolean isOutside = overflows || after < floor || after > ceiling;
    if (isOutside && !saturates) {
      return of(before, 0);
    }
    long target = Math.clamp(after, floor, ceiling);
    counters.set(key, target);
    if (persists) {
      counters.expire(key, 0);
    } else if (expiresAt != 0 && !(onlyIfNone && counters.expiresAt(key) != 0)) {
      counters.expire(key, expiresAt);
    }
    return of(target, target - before);
  }

  private Reply of(long value, long applied) {
    return new Reply.Several(List.of(Amounts.reply(value, scale), Amounts.reply(applied, scale)));
  }
}
