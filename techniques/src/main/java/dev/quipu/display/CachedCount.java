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
 * What the durable store knows of a counter in a cache: one item.
 *
 * @param token names the number in the cache; it is never used again
 * @param base the durable counter when that number began at 0
 * @param flushed how much of that number the durable counter has
 * @param lossMax most views that went with numbers which the cache lost
 * @param filled whether that number was stored in the cache, so that a miss is a loss
 */
record CachedCount(
    String name, String token, long base, long flushed, long lossMax, boolean filled, Item item) {
  /** Where the items lie: a counter always in the same of these partitions, for its sort. */
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

  /** Stores a new number, if the item is still what was found. */
  static Write begin(String name, String token, long base, long lossMax, Optional<Item> found) {
    return write(name, token, base, 0, lossMax, false, found);
  }

  /** Tells that the number is in the cache. */
  Write nowFilled() {
    return write(name, token, base, flushed, lossMax, true, Optional.of(item));
  }

  /** Tells that the durable counter has so much more of the number. */
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
    return new Write.Put(key(name), fields, Optional.empty(), Condition.unchanged(found));
  }

  /** Its key in the cache. */
  String cacheKey() {
    return "display:" + token;
  }

  /** The request that carries what follows {@link #flushed} to the durable counter. */
  RequestId flush() {
    return RequestId.of("flush/" + token + "/" + flushed);
  }
}
