package dev.quipu.redis;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreDriver.Finding;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Survival;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.store.group.Member;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Driver for Redis 6.2 and later, Valkey, and Redis Cluster.
 *
 * <p><b>Stored.</b> All keys of a partition have it as their hash tag, so they share a slot:
 *
 * <pre>
 * quipu:{PARTITION}        sorted set: the sorts of its items, in byte order
 * quipu:{PARTITION}:SORT   hash: version, expiry, and the fields; {@code items.lua} has the names
 * </pre>
 *
 * <p>In a partition {@code %} is written {@code %25} and <code>}</code> is written {@code %7D}.
 *
 * <p><b>Protocol.</b>
 *
 * <ol>
 *   <li>A write, or a batch, is one call of a script, which writes only if all conditions hold.
 *       Redis runs scripts one at a time, so this is atomic.
 *   <li>Adds to one number that arrive at the same time, during another add, are combined into one
 *       call, with the markers of their requests, if any. It decides each of them in order ({@link
 *       GroupCommit}).
 *   <li>The script is loaded as a function library whose name carries a digest of its text; without
 *       functions (before 7.0), it is called by its digest. A node that lacks the script replies
 *       with an error before any effect: the driver loads it there and calls it again.
 *   <li>The script keeps numbers as text, since numbers of Lua are exact to 53 bits only.
 * </ol>
 *
 * <p><b>Atomic.</b> Batches over all items; in a cluster, over one partition. <b>Limits.</b> An
 * item of 1 MiB, a batch of 100. <b>Expiry.</b> Redis removes an item a minute after its expiry, to
 * allow for clock skew. <b>Durable</b> if {@code appendonly} is on, {@code appendfsync} is {@code
 * always}, and nothing is evicted: {@code maxmemory} is 0, or its policy is {@code noeviction}. The
 * driver checks this when it opens, and in {@link #inspect}; even so, a promoted replica may lack
 * the last writes.
 *
 * <p><b>Full.</b> When Redis has reached {@code maxmemory}, reads, deletes and opening still work.
 * A write is rejected as {@link Reason#FULL} only if its conditions hold: a repeated request is
 * replayed.
 *
 * <p><b>After a lost connection</b> the outcome of a write is unknown. By default Lettuce resends
 * commands after a reconnect; a client opened by URI does not, and for a client that was handed in
 * the driver logs a warning.
 *
 * @see <a
 *     href="https://redis.io/docs/latest/develop/programmability/functions-intro/">functions</a>
 */
public final class RedisDriver implements BatchDriver, ScanDriver {
  /** Largest item, in bytes. */
  static final int ITEM_BYTES_MAX = 1 << 20;

  private static final String PROBE = "permissions"; // a partition that has no items
  private static final int BATCH_ITEMS_MAX = 100;
  // On one number at a time: Redis executes one while callers make the other.
  private static final int GROUPS_MAX = 2;
  private static final int GROUP_MEMBERS_MAX = 100; // no other command runs during a script
  private static final Duration KEEP_EXPIRED = Duration.ofMinutes(1);
  private static final Set<Capability> CAPABILITIES =
      EnumSet.of(
          Capability.STRONG_READ,
          Capability.NATIVE_ADD,
          Capability.NATIVE_UPDATE,
          Capability.ATOMIC_BATCH,
          Capability.BATCH_RETURNS,
          Capability.ORDERED_SCAN,
          Capability.NATIVE_EXPIRY);

  private final RedisConnection link;
  private final Settings settings;
  private final Script script;
  private final String prefix;
  private final StoreProfile profile;
  private final GroupCommit groups;
  private final Runnable onClose;
  // Tokens are unique across processes, so that no version recurs.
  private final FreshTokens tokens = new FreshTokens();

  private RedisDriver(
      RedisConnection link, String prefix, Survival accepted, boolean combines, Runnable onClose) {
    this.link = link;
    this.settings = new Settings(link, accepted);
    this.script = new Script(link);
    this.prefix = prefix;
    this.profile =
        profile(settings.inspect().stream().noneMatch(Finding::losesWrites), link.atomicity());
    this.groups =
        new GroupCommit(
            "Redis",
            new RedisGroups(this, combines),
            GROUPS_MAX,
            GROUP_MEMBERS_MAX,
            link.timeout());
    this.onClose = onClose;
  }

  /**
   * Opens a driver on one server.
   *
   * @param client the caller shuts it down
   * @param prefix of all keys
   * @param timeout longest wait for one reply
   * @throws QuipuException if the server cannot be used
   */
  public static RedisDriver of(RedisClient client, String prefix, Duration timeout) {
    return open(RedisConnection.to(client, "", timeout), prefix, Survival.FSYNC, true, () -> {});
  }

  /** Opens a driver on a cluster; see {@link #of(RedisClient, String, Duration)}. */
  public static RedisDriver of(RedisClusterClient client, String prefix, Duration timeout) {
    return open(RedisConnection.to(client, "", timeout), prefix, Survival.FSYNC, true, () -> {});
  }

  static RedisDriver open(
      RedisConnection link, String prefix, Survival accepted, boolean combines, Runnable onClose) {
    try {
      return new RedisDriver(link, prefix, accepted, combines, onClose);
    } catch (RuntimeException e) {
      link.close();
      throw e;
    }
  }

  static StoreProfile profile(boolean durable, Atomicity atomicity) {
    Set<Capability> capabilities = EnumSet.copyOf(CAPABILITIES);
    if (durable) {
      capabilities.add(Capability.DURABLE);
    }
    return new StoreProfile("redis", capabilities, atomicity, BATCH_ITEMS_MAX, ITEM_BYTES_MAX);
  }

  /** Returns the earliest time of all masters, so that no item expires too early. */
  @Override
  public Optional<Instant> time() {
    try {
      return link.onEachMaster(commands -> commands.time()).stream()
          .map(RedisDriver::instant)
          .min(Comparator.naturalOrder());
    } catch (QuipuException e) {
      if (e.reason() == Reason.DENIED) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Returns the instant of a reply of seconds and microseconds. */
  private static Instant instant(List<String> time) {
    return Instant.ofEpochSecond(Long.parseLong(time.get(0)), Long.parseLong(time.get(1)) * 1_000);
  }

  @Override
  public List<Finding> inspect() {
    List<Finding> found = new ArrayList<>(settings.inspect());
    script.obstacle(indexKey(PROBE)).ifPresent(found::add);
    return found;
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    Map<String, String> hash = link.read(commands -> commands.hgetall(itemKey(key)));
    return ItemHash.item(key, ItemHash.flat(hash));
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    List<Object> hashes = script.read(keys.stream().map(this::itemKey).toList());
    List<Optional<Item>> found = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      found.add(ItemHash.item(keys.get(i), (List<?>) hashes.get(i)));
    }
    return found;
  }

  @Override
  public Page scan(Scan scan) {
    List<Object> rows =
        script.scan(
            indexKey(scan.partition()),
            List.of(
                indexKey(scan.partition()) + ":",
                scan.from().isEmpty() ? "-" : "[" + scan.from(),
                scan.until().map(until -> "(" + until).orElse("+"),
                scan.descending() ? "1" : "0",
                Integer.toString(scan.itemsMax() + 1)));
    List<Item> found = new ArrayList<>();
    for (Object row : rows) {
      List<?> parts = (List<?>) row;
      Key key = new Key(scan.partition(), (String) parts.get(0));
      ItemHash.item(key, (List<?>) parts.get(1)).ifPresent(found::add);
    }
    return Page.of(scan, found);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token != null) {
      throw profile.lacks(Capability.TOKEN_BATCH);
    }
    return groups.write(writes);
  }

  /** Calls the script for a group. */
  List<Object> group(Group group) {
    List<String> keys = new ArrayList<>();
    Arguments arguments = new Arguments(KEEP_EXPIRED);
    arguments.add(tokens.next());
    arguments.add(group.key().sort());
    keys.add(indexKey(group.key().partition()));
    keys.add(itemKey(group.key()));
    for (Member each : group.members()) {
      each.markerKey()
          .ifPresent(marker -> {
            keys.add(indexKey(marker.partition()));
            keys.add(itemKey(marker));
          });
      arguments.add(each);
    }
    return script.group(keys, arguments.list());
  }

  /** Calls the script for one write or batch. */
  WriteResult alone(List<Write> writes) {
    List<String> keys = new ArrayList<>();
    Arguments arguments = new Arguments(KEEP_EXPIRED);
    arguments.add(tokens.next());
    for (Write write : writes) {
      keys.add(indexKey(write.key().partition()));
      keys.add(itemKey(write.key()));
      arguments.add(write);
    }
    boolean frees = writes.stream().allMatch(write -> write instanceof Write.Delete);
    List<Object> answer = script.write(keys, arguments.list(), frees);
    String result = (String) answer.getFirst();
    if (result.equals("applied")) {
      Key last = writes.getLast().key();
      return new WriteResult.Applied(
          ItemHash.afterWrite(() -> ItemHash.item(last, answer.subList(1, answer.size()))));
    }
    if (result.equals("failed") || result.equals("torn")) {
      throw link.failures().ofSteps((String) answer.get(1), result.equals("torn"));
    }
    Write failed = writes.get(Integer.parseInt((String) answer.get(1)));
    Optional<Item> found = ItemHash.item(failed.key(), answer.subList(2, answer.size()));
    if (failed.holdsOn(found)) { // throws if a field has another type
      throw new NotAppliedException(
          Reason.CORRUPT, "Redis and the driver disagree on the condition of %s".formatted(failed));
    }
    return new WriteResult.ConditionFailed(failed.key(), found);
  }

  Failures failures() {
    return link.failures();
  }

  @Override
  public Map<Measure, Long> measures() {
    return groups.measures();
  }

  private String indexKey(String partition) {
    return prefix + ":{" + partition.replace("%", "%25").replace("}", "%7D") + "}";
  }

  private String itemKey(Key key) {
    return indexKey(key.partition()) + ":" + key.sort();
  }

  @Override
  public void close() {
    link.close();
    onClose.run();
  }
}
