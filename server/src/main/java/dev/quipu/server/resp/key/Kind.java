package dev.quipu.server.resp.key;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.protocol.StoredText;
import dev.quipu.server.resp.key.Arguments.Rejected;

/** The kind of value under a key. */
public enum Kind {
  NONE("none", "nothing"),
  COUNTER("string", "counter"),
  TEXT("string", "text"),
  SKETCH("string", "sketch of distinct elements"),
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

  /** Returns a description. */
  public String meaning() {
    return meaning;
  }

  /** Returns the reply of TYPE. */
  public String type() {
    return type;
  }

  public static Kind of(CounterAccess counters, String key) {
    if (counters.get(key).isPresent()) {
      return COUNTER;
    }
    byte[] text = counters.text(key);
    if (text != null) {
      return StoredText.isSketch(text) ? SKETCH : TEXT;
    }
    if (Family.hash(counters, key).exists()) {
      return HASH;
    }
    return Family.ranking(counters, key).exists() ? RANKING : NONE;
  }

  /** Returns whether a key holds a counter or does not exist. */
  public static boolean mayBeNumber(CounterAccess counters, String key) {
    Kind found = of(counters, key);
    return found == NONE || found == COUNTER;
  }

  /** Rejects a key that holds something else than a counter. */
  public static void requireNumber(CounterAccess counters, String key) {
    switch (of(counters, key)) {
      case NONE, COUNTER -> {}
      case TEXT -> throw new Rejected(Arguments.NOT_AN_INTEGER);
      case SKETCH, HASH, RANKING -> throw new Rejected(WRONG);
    }
  }

  /** Rejects a key that holds another kind of value. */
  public static void require(CounterAccess counters, String key, Kind wanted) {
    Kind found = of(counters, key);
    if (found != wanted && found != NONE) {
      throw new Rejected(WRONG);
    }
  }

  /** Removes a key; returns whether it existed. */
  public static boolean remove(CounterAccess counters, String key) {
    boolean wasThere = counters.remove(key);
    if (!wasThere) {
      Family hash = Family.hash(counters, key);
      Family ranking = Family.ranking(counters, key);
      wasThere = hash.exists() || ranking.exists();
      hash.remove();
      ranking.remove();
    }
    return wasThere;
  }

  /** Returns the expiry of a key in milliseconds since 1970; 0 for never. */
  public static long expiresAt(CounterAccess counters, String key) {
    return switch (of(counters, key)) {
      case NONE, COUNTER, TEXT, SKETCH -> counters.expiresAt(key);
      case HASH -> Family.hash(counters, key).expiresAt();
      case RANKING -> Family.ranking(counters, key).expiresAt();
    };
  }

  /** Sets the expiry of a key; returns whether the key exists. */
  public static boolean expire(CounterAccess counters, String key, long atMillis) {
    switch (of(counters, key)) {
      case NONE, COUNTER, TEXT, SKETCH -> {
        return counters.expire(key, atMillis);
      }
      case HASH -> Family.hash(counters, key).expire(atMillis);
      case RANKING -> Family.ranking(counters, key).expire(atMillis);
    }
    return true;
  }
}
