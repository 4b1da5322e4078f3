package dev.quipu.technique;

import dev.quipu.Bounds;
import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.store.Condition;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
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
 * @param earlier what it was before, as long as requests of that time may be repeated
 */
record ShardPlan(int shards, long epoch, boolean together, Bounds bounds, List<Earlier> earlier) {
  static final String EPOCH = "epoch";
  private static final String SHARDS = "shards";
  private static final String TOGETHER = "together";
  private static final String FLOOR = "floor";
  private static final String CEILING = "ceiling";
  private static final String EARLIER = "earlier";
  private static final String SUFFIX = "#shard-";
  private static final Pattern SHARD_NAME = Pattern.compile("#shard-\\d+$");

  /** So many shards, until requests of that time are no longer repeated. */
  record Earlier(int shards, long untilMillis) {}

  ShardPlan {
    earlier = List.copyOf(earlier);
  }

  static Key key(String counter) {
    return new Key(CounterItems.partition(counter), SHARDS);
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
    return new ShardPlan(1, 0, together, bounds, List.of());
  }

  static ShardPlan of(Item item) {
    List<Earlier> earlier = new ArrayList<>();
    for (String each : item.text(EARLIER).orElse("").split(" ", -1)) {
      String[] parts = each.split(":", 2);
      if (parts.length == 2) {
        earlier.add(new Earlier(Integer.parseInt(parts[0]), Long.parseLong(parts[1])));
      }
    }
    return new ShardPlan(
        (int) item.number(SHARDS),
        item.number(EPOCH),
        item.number(TOGETHER) == 1,
        Bounds.between(item.number(FLOOR), item.number(CEILING)),
        earlier);
  }

  Map<String, Field> fields() {
    String times =
        String.join(
            " ", earlier.stream().map(each -> each.shards + ":" + each.untilMillis).toList());
    return Map.of(
        SHARDS, new Field.Number(shards),
        EPOCH, new Field.Number(epoch),
        TOGETHER, new Field.Number(together ? 1 : 0),
        FLOOR, new Field.Number(bounds.floor()),
        CEILING, new Field.Number(bounds.ceiling()),
        EARLIER, new Field.Text(times));
  }

  List<Key> valueKeys(String counter) {
    List<Key> keys = new ArrayList<>();
    for (int shard = 0; shard < shards; shard++) {
      keys.add(CounterItems.valueKey(shardName(counter, shard)));
    }
    return keys;
  }

  int home(RequestId id) {
    return home(id, shards);
  }

  /** The shards that were a request's home before and are not now. */
  List<Integer> earlierHomes(RequestId id, long nowMillis) {
    return earlier.stream()
        .filter(each -> nowMillis < each.untilMillis)
        .map(each -> home(id, each.shards))
        .distinct()
        .filter(home -> home != home(id))
        .toList();
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
  ShardPlan grownTo(int more, List<Earlier> before) {
    return new ShardPlan(more, epoch + 1, together, bounds, before);
  }

  /** What is to be remembered of this and earlier plans. */
  List<Earlier> history(long nowMillis, Instant until) {
    List<Earlier> all = new ArrayList<>();
    earlier.stream().filter(each -> nowMillis < each.untilMillis).forEach(all::add);
    all.add(new Earlier(shards, until.toEpochMilli()));
    return all;
  }
}
