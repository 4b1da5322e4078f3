package dev.quipu.server.resp.key;

import dev.quipu.Limits;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.wire.Reply;
import java.util.List;

/*
 * A hash, or a sorted set, is a family of counters: its key, a separator that no name has, and the
 * field name one counter each. So what is under the key is all that begins alike; it is there as
 * long as one of them is, and all of them expire together.
 */

/** Counters under one key. */
public final class Family {
  /** What is under the empty key: a name that no client can send, and no other port shows. */
  public static final String EMPTY_KEY = "\u001d" + CounterAccess.MEMBER;

  /** What is kept for the empty field. */
  static final String EMPTY_FIELD = "\u001d";

  private final CounterAccess turn;
  private final String prefix;

  private Family(CounterAccess turn, String prefix) {
    this.turn = turn;
    this.prefix = prefix;
  }

  /** A hash. */
  static Family hash(CounterAccess turn, String key) {
    return new Family(turn, key + CounterAccess.MEMBER);
  }

  /** A sorted set. */
  static Family ranking(CounterAccess turn, String key) {
    return new Family(turn, key + CounterAccess.RANKED_MEMBER);
  }

  /**
   * The family under the key of a command.
   *
   * @param kind HASH or RANKING
   * @throws Rejected if there is something else under the key
   */
  public static Family of(CounterAccess turn, Arguments words, Kind kind) {
    String key = words.key(1);
    Family family = kind == Kind.HASH ? hash(turn, key) : ranking(turn, key);
    if (!family.exists()) {
      Kind.require(turn, key, kind);
    }
    return family;
  }

  /** Members under a key, of whatever kind. */
  public static int size(CounterAccess turn, String key) {
    return hash(turn, key).names().size() + ranking(turn, key).names().size();
  }

  /** The key of a family by the name of a member; the name itself if it is none. */
  public static String keyOf(String name) {
    if (name.startsWith(EMPTY_KEY)) {
      return EMPTY_KEY;
    }
    int end =
        Math.max(name.indexOf(CounterAccess.MEMBER), name.indexOf(CounterAccess.RANKED_MEMBER));
    return end < 0 ? name : name.substring(0, end); // a name has one of them at most
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
    return !turn.names(prefix, prefix, 1).isEmpty();
  }

  /** Names of all members, in order. */
  public List<String> names() {
    return turn.names(prefix, prefix, Integer.MAX_VALUE);
  }

  /** The field of a member. */
  public String field(String name) {
    return shownField(name.substring(prefix.length()));
  }

  /** The name of a member. */
  public String member(String field) {
    int bytes = Limits.utf8Length(prefix) + Limits.utf8Length(field);
    if (bytes > Limits.NAME_BYTES_MAX) {
      throw new Rejected(
          "ERR key and field are %d bytes together, the limit is %d"
              .formatted(bytes - 1, Limits.NAME_BYTES_MAX - 1)); // without what separates them
    }
    return prefix + field;
  }

  /** Sets a member; a new one expires with the others. */
  public void set(String member, long value) {
    if (turn.get(member).isPresent()) {
      turn.set(member, value);
      return;
    }
    List<String> first = turn.names(prefix, prefix, 1);
    long expiresAt = first.isEmpty() ? 0 : turn.expiresAt(first.getFirst());
    turn.set(member, value);
    if (expiresAt != 0) {
      turn.expire(member, expiresAt);
    }
  }

  /**
   * Adds to a member; what it is then.
   *
   * @param overflow the answer if 64 bits do not suffice
   */
  public long add(String member, long delta, String overflow) {
    long after = sum(turn, member, delta, overflow);
    set(member, after);
    return after;
  }

  /** Adds to a counter whose name {@link dev.quipu.Add} does not take; what it is then. */
  public static long add(CounterAccess turn, String name, long delta, String overflow) {
    long after = sum(turn, name, delta, overflow);
    turn.set(name, after);
    return after;
  }

  private static long sum(CounterAccess turn, String name, long delta, String overflow) {
    long before = turn.get(name).orElse(0);
    long after = before + delta;
    if (((before ^ after) & (delta ^ after)) < 0) {
      throw new Rejected(overflow);
    }
    return after;
  }

  /** When it expires; 0 for never. */
  long expiresAt() {
    List<String> first = turn.names(prefix, prefix, 1);
    return first.isEmpty() ? 0 : turn.expiresAt(first.getFirst());
  }

  void expire(long atMillis) {
    names().forEach(name -> turn.expire(name, atMillis));
  }

  /** Removes the members that a command names behind its key; how many there were. */
  public Reply remove(Arguments words) {
    for (int i = 2; i < words.size(); i++) { // nothing is done by halves
      member(words.field(i));
    }
    long removed = 0;
    for (int i = 2; i < words.size(); i++) {
      removed += turn.remove(member(words.field(i))) ? 1 : 0;
    }
    return new Reply.Number(removed);
  }

  public void remove() {
    names().forEach(turn::remove);
  }
}
