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
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * How one counter is divided at one time. Stored beside its first shard, {@code counter/NAME},
 * {@code shards}.
 *
 * @param shards number of shards
 * @param epoch number of changes of the plan; the item of each shard has it too, so that an add by
 *     an older plan fails
 * @param together whether shards are coordinated: bounds, growth
 * @param bounds of the sum
 * @param wasPlain whether the counter was used before it had a plan: its first shard may know
 *     requests that now belong to another shard
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

  /** Returns the key of the plan of a counter. */
  static Key key(String counter) {
    return new Key(CounterItems.partition(counter), SHARDS);
  }

  static boolean isPlan(Key key) {
    return key.sort().equals(SHARDS);
  }

  static boolean isShardName(String name) {
    return SHARD_NAME.matcher(name).find();
  }

  /** Returns the counter name of a shard: the first shard has the name of the whole. */
  static String shardName(String counter, int shard) {
    if (shard == 0) {
      return counter;
    }
    String suffix = SUFFIX + shard;
    byte[] bytes = counter.getBytes(StandardCharsets.UTF_8);
    boolean fits = bytes.length + suffix.length() <= Limits.NAME_BYTES_MAX;
    return (fits ? counter : HexFormat.of().formatHex(Key.digest(bytes))) + suffix;
  }

  /** Returns the plan of a counter that is not divided. */
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

  /** Returns the key of the item that holds the number of a shard. */
  Key valueKey(String counter, int shard) {
    return CounterItems.valueKey(shardName(counter, shard));
  }

  List<Key> valueKeys(String counter) {
    return IntStream.range(0, shards).mapToObj(shard -> valueKey(counter, shard)).toList();
  }

  /** Returns the shard of a request whose id is stored with the number. */
  int home(RequestId id) {
    return home(id, shards);
  }

  /**
   * Returns the slot of a request id that is stored apart from numbers: one of {@link
   * ShardOptions#SHARDS_MAX}, independent of the number of shards, so that every plan finds it.
   */
  static int place(RequestId id) {
    return home(id, ShardOptions.SHARDS_MAX);
  }

  private static int home(RequestId id, int shards) {
    long mixed = (id.high() ^ id.low()) * 0x9E3779B97F4A7C15L; // ids may be consecutive
    return Math.floorMod((int) (mixed >>> 32), shards);
  }

  /**
   * Returns the bounds of one shard; those of all shards together are the bounds of the counter.
   */
  Bounds local(int shard) {
    return Bounds.between(
        share(bounds.floor(), shard, shards), share(bounds.ceiling(), shard, shards));
  }

  /** Returns a shard's part of an even division; monotonic in {@code whole}. */
  static long share(long whole, int shard, int shards) {
    return Math.floorDiv(whole, shards) + (shard < Math.floorMod(whole, shards) ? 1 : 0);
  }

  /** Returns the condition on a shard's item after its number changed. */
  Condition condition(int shard) {
    return Condition.all(withinShare(shard), inEpoch());
  }

  /** Returns the condition that a shard's number stays within its share of the bounds. */
  Condition withinShare(int shard) {
    Bounds local = local(shard);
    return new Condition.Within(CounterItems.VALUE, local.floor(), local.ceiling());
  }

  /**
   * Returns the condition on the epoch; an item that is missing, or has no epoch, is of epoch 0.
   */
  private Condition inEpoch() {
    return new Condition.Within(EPOCH, epoch, epoch);
  }

  /** Returns the plan after a growth. */
  ShardPlan grownTo(int more, boolean hasHistory) {
    return new ShardPlan(more, epoch + 1, together, bounds, hasHistory);
  }
}
