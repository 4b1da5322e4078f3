package dev.quipu.server.resp.key;

import dev.quipu.Limits;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.wire.Reply;
import java.util.List;

/*
 * A hash or sorted set is stored as one counter per field, named by the key, a reserved separator
 * and the field. The key exists as long as one of its counters does, and all of them expire
 * together.
 */

/** The counters of a hash or sorted set. */
public final class Family {
  /** Stands for the empty key: a name that clients cannot send and other ports do not show. */
  public static final String EMPTY_KEY = "\u001d" + CounterAccess.MEMBER;

  /** Stands for the empty field. */
  static final String EMPTY_FIELD = "\u001d";

  private final CounterAccess counters;
  private final String prefix;

  private Family(CounterAccess counters, String prefix) {
    this.counters = counters;
    this.prefix = prefix;
  }

  /** Returns the hash under a key. */
  static Family hash(CounterAccess counters, String key) {
    return new Family(counters, key + CounterAccess.MEMBER);
  }

  /** Returns the sorted set under a key. */
  static Family ranking(CounterAccess counters, String key) {
    return new Family(counters, key + CounterAccess.RANKED_MEMBER);
  }

  /**
   * Returns the family under the key of a command.
   *
   * @param kind HASH or RANKING
   * @throws Rejected if the key holds another kind of value
   */
  public static Family of(CounterAccess counters, Arguments words, Kind kind) {
    String key = words.key(1);
    Family family = kind == Kind.HASH ? hash(counters, key) : ranking(counters, key);
    if (!family.exists()) {
      Kind.require(counters, key, kind);
    }
    return family;
  }

  /** Returns the number of members under a key, of either kind. */
  public static int size(CounterAccess counters, String key) {
    return hash(counters, key).names().size() + ranking(counters, key).names().size();
  }

  /** Returns the key of the family of a member; the name itself if it is not a member. */
  public static String keyOf(String name) {
    if (name.startsWith(EMPTY_KEY)) {
      return EMPTY_KEY;
    }
    int end =
        Math.max(name.indexOf(CounterAccess.MEMBER), name.indexOf(CounterAccess.RANKED_MEMBER));
    return end < 0 ? name : name.substring(0, end); // a name contains at most one of them
  }

  /** Returns a key as clients know it. */
  public static String shown(String key) {
    return key.equals(EMPTY_KEY) ? "" : key;
  }

  /** Returns a field as clients know it. */
  public static String shownField(String field) {
    return field.equals(EMPTY_FIELD) ? "" : field;
  }

  boolean exists() {
    return !counters.names(prefix, prefix, 1).isEmpty();
  }

  /** Returns the names of all members, in order. */
  public List<String> names() {
    return counters.names(prefix, prefix, Integer.MAX_VALUE);
  }

  /** Returns the field of a member. */
  public String field(String name) {
    return shownField(name.substring(prefix.length()));
  }

  /** Returns the name of a member. */
  public String member(String field) {
    int bytes = Limits.utf8Length(prefix) + Limits.utf8Length(field);
    if (bytes > Limits.NAME_BYTES_MAX) {
      throw new Rejected(
          "ERR key and field are %d bytes together; the limit is %d"
              .formatted(bytes - 1, Limits.NAME_BYTES_MAX - 1)); // without the separator
    }
    return prefix + field;
  }

  /** Sets a member; a new member inherits the expiry of the family. */
  public void set(String member, long value) {
    if (counters.get(member).isPresent()) {
      counters.set(member, value);
      return;
    }
    long expiresAt = expiresAt();
    counters.set(member, value);
    if (expiresAt != 0) {
      counters.expire(member, expiresAt);
    }
  }

  /**
   * Adds to a member and returns its new value.
   *
   * @param overflow the reply on overflow
   */
  public long add(String member, long delta, String overflow) {
    long after = sum(counters, member, delta, overflow);
    set(member, after);
    return after;
  }

  /** Adds to a counter whose name {@link dev.quipu.Add} rejects; returns its new value. */
  public static long add(CounterAccess counters, String name, long delta, String overflow) {
    long after = sum(counters, name, delta, overflow);
    counters.set(name, after);
    return after;
  }

  private static long sum(CounterAccess counters, String name, long delta, String overflow) {
    long before = counters.get(name).orElse(0);
    long after = before + delta;
    if (((before ^ after) & (delta ^ after)) < 0) {
      throw new Rejected(overflow);
    }
    return after;
  }

  /** Returns the expiry; 0 for never. */
  long expiresAt() {
    List<String> first = counters.names(prefix, prefix, 1);
    return first.isEmpty() ? 0 : counters.expiresAt(first.getFirst());
  }

  void expire(long atMillis) {
    names().forEach(name -> counters.expire(name, atMillis));
  }

  /** Removes the members named by a command; the reply is the number removed. */
  public Reply remove(Arguments words) {
    for (int i = 2; i < words.size(); i++) { // validated before anything is changed
      member(words.field(i));
    }
    long removed = 0;
    for (int i = 2; i < words.size(); i++) {
      removed += counters.remove(member(words.field(i))) ? 1 : 0;
    }
    return new Reply.Number(removed);
  }

  public void remove() {
    names().forEach(counters::remove);
  }
}
