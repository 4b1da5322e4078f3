package dev.quipu.server.resp.key;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.protocol.StoredText;
import dev.quipu.server.resp.key.Arguments.Rejected;

/** What is under a key. */
public enum Kind {
  NONE("none", "nothing"),
  COUNTER("string", "counter"),
  TEXT("string", "text"),
  SKETCH("string", "sketch of different things"),
  HASH("hash", "family of counters"),
  RANKING("zset", "ranked family of counters");

  private static final String WRONG =
      "WRONGTYPE Operation against a key holding the wrong kind of value";

  private final String type;
  private final String meaning;

  Kind(String type, String meaning) {
    this.type = type;
    this.meaning = meaning;
  }

  /** For people. */
  public String meaning() {
    return meaning;
  }

  /** As TYPE tells it. */
  public String type() {
    return type;
  }

  public static Kind of(CounterAccess turn, String key) {
    if (turn.get(key).isPresent()) {
      return COUNTER;
    }
    byte[] text = turn.text(key);
    if (text != null) {
      return StoredText.isSketch(text) ? SKETCH : TEXT;
    }
    if (Family.hash(turn, key).exists()) {
      return HASH;
    }
    return Family.ranking(turn, key).exists() ? RANKING : NONE;
  }

  /** Whether a key is a counter, or may become one. */
  public static boolean mayBeNumber(CounterAccess turn, String key) {
    Kind found = of(turn, key);
    return found == NONE || found == COUNTER;
  }

  /** Makes sure that a key is a counter, or may become one. */
  public static void requireNumber(CounterAccess turn, String key) {
    switch (of(turn, key)) {
      case NONE, COUNTER -> {}
      case TEXT -> throw new Rejected(Arguments.NOT_AN_INTEGER);
      case SKETCH, HASH, RANKING -> throw new Rejected(WRONG);
    }
  }

  /** Makes sure that there is nothing under a key, or this. */
  public static void require(CounterAccess turn, String key, Kind wanted) {
    Kind found = of(turn, key);
    if (found != wanted && found != NONE) {
      throw new Rejected(WRONG);
    }
  }

  /** Removes what is under a key; whether there was anything. */
  public static boolean remove(CounterAccess turn, String key) {
    boolean wasThere = turn.remove(key);
    if (!wasThere) {
      Family hash = Family.hash(turn, key);
      Family ranking = Family.ranking(turn, key);
      wasThere = hash.exists() || ranking.exists();
      hash.remove();
      ranking.remove();
    }
    return wasThere;
  }

  /** When what is under a key expires, in milliseconds since 1970; 0 for never. */
  public static long expiresAt(CounterAccess turn, String key) {
    return switch (of(turn, key)) {
      case NONE, COUNTER, TEXT, SKETCH -> turn.expiresAt(key);
      case HASH -> Family.hash(turn, key).expiresAt();
      case RANKING -> Family.ranking(turn, key).expiresAt();
    };
  }

  /** Sets when what is under a key expires; whether there is anything. */
  public static boolean expire(CounterAccess turn, String key, long atMillis) {
    switch (of(turn, key)) {
      case NONE, COUNTER, TEXT, SKETCH -> {
        return turn.expire(key, atMillis);
      }
      case HASH -> Family.hash(turn, key).expire(atMillis);
      case RANKING -> Family.ranking(turn, key).expire(atMillis);
    }
    return true;
  }
}
