package dev.quipu.shard;

import dev.quipu.Bounds;
import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.technique.CounterItems;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * How one counter is divided at one time. Stored beside its first shard, {@code counter/NAME},
 * {@code shards}.
 *
 * @param shards how many there are
 * @param epoch how often that changed; the item of each shard has it too, so that an add by an
 *     older plan fails
 * @param together whether shards act together: bounds, growth
 * @param bounds of the sum
 * @param wasPlain whether the counter was used before it had a plan: its first shard may know
 *     requests whose place is elsewhere now
 */
record ShardPlan(int shards, long epoch, boolean together, Bounds bounds, boolean wasPlain) {
  static final String EPOCH = "epoch";
  private static final String SHARDS = "shards";
  private static final String TOGETHER = "together";
  private static final String FLOOR = "floor";
  private static final String CEILING = "ceiling";
  private static final String WAS_PLAIN = "was-plain";
  private static final String SUFFIX = "#shard-";
  private static final Pattern SHARD_NAME = Pattern.compile("#shard-\\d+$");

  /** Where the plan of a counter lies. */
  static Key key(String counter) {
    return new Key(CounterItems.partition(counter), SHARDS);
  }

  static boolean isPlan(Key key) {
    return key.sort().equals(SHARDS);
  }

  static boolean isShardName(String name) {
    return SHARD_NAME.matcher(name).find();
  }

  /** The counter that is a shard: the first has the name of the whole. */
  static String shardName(String counter, int shard) {
    if (shard == 0) {
      return counter;
    }
    String suffix = SUFFIX + shard;
    byte[] bytes = counter.getBytes(StandardCharsets.UTF_8);
    boolean fits = bytes.length + suffix.length() <= Limits.NAME_BYTES_MAX;
    return (fits ? counter : HexFormat.of().formatHex(Key.digest(bytes))) + suffix;
  }

  /** A counter that is not divided. */
  static ShardPlan undivided(boolean together, Bounds bounds) {
    return new ShardPlan(1, 0, together, bounds, false);
  }

  static ShardPlan of(Item item) {
    return new ShardPlan(
        (int) item.number(SHARDS),
        item.number(EPOCH),
        item.number(TOGETHER) == 1,
        Bounds.between(item.number(FLOOR), item.number(CEILING)),
        item.number(WAS_PLAIN) == 1);
  }

  Map<String, Field> fields() {
    return Map.of(
        SHARDS, new Field.Number(shards),
        EPOCH, new Field.Number(epoch),
        TOGETHER, new Field.Number(together ? 1 : 0),
        FLOOR, new Field.Number(bounds.floor()),
        CEILING, new Field.Number(bounds.ceiling()),
        WAS_PLAIN, new Field.Number(wasPlain ? 1 : 0));
  }

  /** The item with the number of a shard. */
  Key valueKey(String counter, int shard) {
    return CounterItems.valueKey(shardName(counter, shard));
  }

  List<Key> valueKeys(String counter) {
    List<Key> keys = new ArrayList<>();
    for (int shard = 0; shard < shards; shard++) {
      keys.add(valueKey(counter, shard));
    }
    return keys;
  }

  /** The shard of a request whose id is kept with the number. */
  int home(RequestId id) {
    return home(id, shards);
  }

  /**
   * The place of a request's id, where ids are kept apart from numbers: one of {@link
   * ShardOptions#SHARDS_MAX}, whatever the number of shards, so that every plan finds it there.
   */
  static int place(RequestId id) {
    return home(id, ShardOptions.SHARDS_MAX);
  }

  private static int home(RequestId id, int shards) {
    long mixed = (id.high() ^ id.low()) * 0x9E3779B97F4A7C15L; // callers may count their ids
    return Math.floorMod((int) (mixed >>> 32), shards);
  }

  /** What one shard must stay within: all of these together are the bounds. */
  Bounds local(int shard) {
    return Bounds.between(
        share(bounds.floor(), shard, shards), share(bounds.ceiling(), shard, shards));
  }

  /** A shard's part of an even division; the larger the whole, the larger or equal each part. */
  static long share(long whole, int shard, int shards) {
    return Math.floorDiv(whole, shards) + (shard < Math.floorMod(whole, shards) ? 1 : 0);
  }

  /** What must hold of a shard's item after its number changed. */
  Condition condition(int shard) {
    return Condition.all(withinShare(shard), inEpoch());
  }

  /** A shard's number stays within its share of the bounds. */
  Condition withinShare(int shard) {
    Bounds local = local(shard);
    return new Condition.Within(CounterItems.VALUE, local.floor(), local.ceiling());
  }

  /** An item that is not there, or has none, is of epoch 0. */
  private Condition inEpoch() {
    return new Condition.Within(EPOCH, epoch, epoch);
  }

  /** The plan after a growth. */
  ShardPlan grownTo(int more, boolean hasHistory) {
    return new ShardPlan(more, epoch + 1, together, bounds, hasHistory);
  }
}
