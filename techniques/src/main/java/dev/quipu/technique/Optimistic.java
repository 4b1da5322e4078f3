package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Guarantee;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.TechniqueSpec.Cost;
import dev.quipu.time.Randomness;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Reads, computes, and writes if nothing has changed: works on every store with conditional writes.
 * The item keeps the tags of its last writers, newest last: one, or with history {@link
 * #WRITERS_MAX}. Thread-safe.
 *
 * <pre>{@code
 * OPTIMISTIC CONCURRENCY
 *
 * Problem. Adds must not be lost on a store without atomic add, and the outcome of an add whose
 * reply was lost should be known more often than with atomic add.
 *
 * Stored. One item holds the number and a tag, which is random and new with every write.
 *
 * Protocol.
 *   1. Read the item.
 *   2. Compute the new number; reject the add if the new number is out of bounds.
 *   3. Write the new number and a new tag, on condition that the item is still the one that was
 *      read.
 *   4. If the condition failed, another writer was faster: wait briefly, then go to 1.
 *   5. If the outcome is unknown, read the item again.
 *      a. It has the tag of this write: the write was applied.
 *      b. It is the item read in 1: the write has not been applied yet. Send the same write again.
 *         If the delayed one still arrives, only one of the two can meet the condition, and both
 *         have the same effect.
 *      c. Otherwise others have written since. This write may have been applied before theirs: the
 *         outcome is UNKNOWN.
 *
 * Why it is correct. A write is applied only to the state from which it was computed, so no write
 * overwrites another.
 *
 * Crash table.
 *   | crash after   | stored          | a repeat                           |
 *   | 1, 2          | nothing         | counts exactly once                |
 *   | 3, reply lost | the add, or not | 5a and 5b: counts exactly once;    |
 *   |               |                 | after 5c, a repeat may count TWICE |
 *
 * Cost. An add takes two round trips: one read and one write. Each conflict with a concurrent
 * writer costs two more round trips; with many writers on one counter, most of the work is wasted.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 2.
 * }</pre>
 *
 * <pre>{@code
 * OPTIMISTIC CONCURRENCY WITH HISTORY
 *
 * Problem. With many writers, plain optimistic concurrency can rarely determine after a lost reply
 * whether the write was applied, since others have replaced its tag.
 *
 * Stored. One item holds the number and the tags of its last 100 writers, newest last.
 *
 * Protocol.
 *   Steps 1 to 4 are those of optimistic, except that the new tag is appended to the list of tags,
 *   and the oldest tags beyond 100 are dropped.
 *   5. If the outcome is unknown, read the item again.
 *      a. The tag of this write is in the list: the write was applied.
 *      b. The item is the one read in 1: send the same write again.
 *      c. The tag that was the newest in 1 is in the list, and the tag of this write is not: others
 *         have written since, and all their tags are in the list. So this write was not applied,
 *         and never will be, since the state that it expects is gone: go to 1.
 *      d. Neither tag is in the list: at least 100 others have written since, and the tag of this
 *         write may have been dropped: the outcome is UNKNOWN.
 *
 * Why it is correct. Tags are appended in the order of the writes, and the oldest is dropped first,
 * so no tag is missing between one that is kept and the newest.
 *
 * Crash table.
 *   | crash after   | stored          | a repeat                           |
 *   | 1, 2          | nothing         | counts exactly once                |
 *   | 3, reply lost | the add, or not | 5a to 5c: counts exactly once;     |
 *   |               |                 | after 5d, a repeat may count TWICE |
 *   If the caller crashes, the tag is lost with it: a repeat by another process may count TWICE.
 *
 * Cost. The cost is that of optimistic, with up to 1.7 KB more in each read and write.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 3.
 * }</pre>
 */
public final class Optimistic extends OneItem implements AddPart.Shardable {
  /** The requirements, guarantees and costs with the tag of the last writer. */
  public static final TechniqueSpec SPEC =
      spec(
          "optimistic",
          "Read, compute, write if unchanged; a lost reply is resolved unless others wrote since.",
          "looked up: resolved, or unknown if others wrote since",
          "Implement resource counters with Amazon DynamoDB, method 2");

  /** The requirements, guarantees and costs with the tags of the last writers. */
  public static final TechniqueSpec WITH_HISTORY =
      spec(
          "optimistic-with-history",
          "Optimistic, with the tags of the last writers: a lost reply is nearly always resolved.",
          "looked up: resolved, or unknown if 100 others wrote since",
          "Implement resource counters with Amazon DynamoDB, method 3");

  /** Number of writers whose tags are kept with history. */
  public static final int WRITERS_MAX = 100;

  private static final String TAGS = "tag";

  private final TechniqueSpec spec;
  private final int tagsMax;

  private static TechniqueSpec spec(
      String name, String summary, String afterLostReply, String source) {
    return new TechniqueSpec(
        name,
        summary,
        afterLostReply,
        Set.of(Capability.STRONG_READ),
        Atomicity.ITEM,
        Set.of(
            Guarantee.AT_MOST_ONCE,
            Guarantee.BOUNDED,
            Guarantee.ADD_AND_GET,
            Guarantee.LINEARIZABLE_READ),
        new Cost(2, 1, 0),
        new Cost(1, 0, 0),
        source);
  }

  /**
   * Creates the technique on {@code store}, with the tag of the last writer.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public Optimistic(Store store) {
    this(store, Randomness.secure());
  }

  /** Creates the technique with the given source of randomness. */
  public Optimistic(Store store, RandomGenerator random) {
    this(store, random, SPEC, 1);
  }

  private Optimistic(Store store, RandomGenerator random, TechniqueSpec spec, int tagsMax) {
    super(spec, store, random);
    this.spec = spec;
    this.tagsMax = tagsMax;
  }

  /**
   * Creates the technique on {@code store}, with the tags of the last {@link #WRITERS_MAX} writers.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #WITH_HISTORY}
   *     requires
   */
  public static Optimistic withHistory(Store store) {
    return withHistory(store, Randomness.secure());
  }

  /** Creates the technique with history and the given source of randomness. */
  public static Optimistic withHistory(Store store, RandomGenerator random) {
    return new Optimistic(store, random, WITH_HISTORY, WRITERS_MAX);
  }

  @Override
  public TechniqueSpec spec() {
    return spec;
  }

  @Override
  public AddResult add(Add add, AddPart part) {
    if (add.id() != null) {
      throw Techniques.keepsNoIds(technique());
    }
    if (part.isWhole()) {
      items.enlist(add.counter());
    }
    Key key = part.value();
    return untilStored(
        add.counter(),
        () -> {
          Optional<Item> found = store.get(key);
          long value = found.map(item -> item.number(CounterItems.VALUE)).orElse(0L);
          if (!part.fits(key, found)) {
            return Optional.of(part.rejected(add, found));
          }
          long after = value + part.delta();
          return switch (put(key, found, after, part)) {
            case STORED -> Optional.of(new AddResult.Applied(add.delta(), OptionalLong.of(after)));
            case NO_ROOM_BESIDE -> Optional.of(part.rejected(add, found));
            case OVERTAKEN -> Optional.empty();
          };
        });
  }

  private ConditionalPut.Result put(Key key, Optional<Item> found, long after, AddPart part) {
    String tag = Long.toHexString(random.nextLong());
    List<String> before = tags(found);
    Condition unchanged = Condition.unchanged(found);
    Map<String, Field> fields = new HashMap<>(found.map(Item::fields).orElse(Map.of()));
    fields.put(CounterItems.VALUE, new Field.Number(after));
    fields.put(TAGS, tagsWith(before, tag));
    Write write = new Write.Put(key, fields, unchanged);
    return new ConditionalPut(store, key, found) {
      @Override
      WriteResult send() {
        return part.write(store, write);
      }

      @Override
      boolean isApplied(Optional<Item> now) {
        return tags(now).contains(tag);
      }

      @Override
      boolean isOvertaken(Optional<Item> now) {
        return hasAllTagsSince(before, tags(now));
      }
    }.run();
  }

  /** Returns whether no later tag has been dropped, so that a missing tag was never written. */
  private boolean hasAllTagsSince(List<String> before, List<String> now) {
    return before.isEmpty() ? now.size() < tagsMax : now.contains(before.getLast());
  }

  private static List<String> tags(Optional<Item> item) {
    String text = item.flatMap(each -> each.text(TAGS)).orElse("");
    return text.isEmpty() ? List.of() : List.of(text.split(" ", -1));
  }

  private Field tagsWith(List<String> before, String tag) {
    List<String> tags = new ArrayList<>(before);
    tags.add(tag);
    int first = Math.max(0, tags.size() - tagsMax);
    return new Field.Text(String.join(" ", tags.subList(first, tags.size())));
  }
}
