package dev.quipu.display;

import dev.quipu.RequestId;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The durable description of a counter in a cache: one item.
 *
 * @param token names the number in the cache; never reused
 * @param base the value of the durable counter when that number was created as 0
 * @param flushed the part of that number that was flushed to the durable counter
 * @param lossMax maximum number of views that were lost with earlier numbers
 * @param filled whether that number was stored in the cache, so that a miss is a loss
 */
record CachedCount(
    String name, String token, long base, long flushed, long lossMax, boolean filled, Item item) {
  /**
   * The partitions of the items; a counter is always in the same partition, under its name as sort.
   */
  static final List<String> PARTITIONS =
      IntStream.range(0, 16).mapToObj(i -> "display/" + HexFormat.of().toHexDigits(i, 1)).toList();

  private static final String TOKEN = "token";
  private static final String BASE = "base";
  private static final String FLUSHED = "flushed";
  private static final String LOSS_MAX = "lossMax";
  private static final String FILLED = "filled";

  static Key key(String name) {
    return new Key(PARTITIONS.get(Math.floorMod(name.hashCode(), PARTITIONS.size())), name);
  }

  static CachedCount of(Item item) {
    return new CachedCount(
        item.key().sort(),
        item.text(TOKEN).orElseThrow(),
        item.number(BASE),
        item.number(FLUSHED),
        item.number(LOSS_MAX),
        item.number(FILLED) != 0,
        item);
  }

  /** Returns the write of a new number, under the condition that the item is unchanged. */
  static Write begin(String name, String token, long base, long lossMax, Optional<Item> found) {
    return write(name, token, base, 0, lossMax, false, found);
  }

  /** Returns the write that marks the number as filled. */
  Write nowFilled() {
    return write(name, token, base, flushed, lossMax, true, Optional.of(item));
  }

  /** Returns the write that adds {@code more} to {@link #flushed}. */
  Write nowFlushed(long more) {
    return write(name, token, base, flushed + more, lossMax, filled, Optional.of(item));
  }

  private static Write write(
      String name,
      String token,
      long base,
      long flushed,
      long lossMax,
      boolean filled,
      Optional<Item> found) {
    Map<String, Field> fields =
        Map.of(
            TOKEN,
            new Field.Text(token),
            BASE,
            new Field.Number(base),
            FLUSHED,
            new Field.Number(flushed),
            LOSS_MAX,
            new Field.Number(lossMax),
            FILLED,
            new Field.Number(filled ? 1 : 0));
    return new Write.Put(key(name), fields, Condition.unchanged(found));
  }

  /** Returns the key in the cache. */
  String cacheKey() {
    return "display:" + token;
  }

  /**
   * Returns the id of the request that flushes views after {@link #flushed} to the durable counter.
   */
  RequestId flush() {
    return RequestId.of("flush/" + token + "/" + flushed);
  }
}
