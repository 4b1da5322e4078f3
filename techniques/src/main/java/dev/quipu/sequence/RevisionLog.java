package dev.quipu.sequence;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import dev.quipu.time.Randomness;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Revisions of entities; the newest revision has the number of entities. Thread-safe.
 *
 * <pre>{@code
 * REVISION LOG
 *
 * Problem. Entities are created, changed and deleted, and nothing is ever overwritten: each change
 * is a revision with the next number. How many entities exist? The highest number is the count of
 * all revisions, and a scan of them takes longer each day.
 *
 * Stored. The partition of the series holds a revision under each number: the entity, its content,
 * the kind of change, the time, and the number of entities after the change. Each entity has a
 * head: the number of one of its revisions, and whether the entity existed after that revision.
 *
 * Protocol.
 *   1. Read the newest revision, with number N. Its count is the number of entities.
 *   2. Advance the head of its entity to N, if the head is older.
 *   3. Read the head of the entity to be changed. If it exists and this is an insert, or if it does
 *      not exist and this is an update or a delete, the change is rejected.
 *   4. Store revision N + 1, if there is none: its count is that of N plus one, minus one, or
 *      unchanged.
 *      a. It is stored: the change is done.
 *      b. It exists, and is from this call, whose reply was lost: the change is done.
 *      c. It exists, and is from another call: it is now the newest revision. Go to 2 with it,
 *         since the count and the head may have changed.
 *      d. The outcome is unknown: store it again, under the same number.
 *
 * Why it is correct. Revisions are totally ordered, and each was made with knowledge of the one
 * before, so each count continues from the right one. Revision N + 1 is never stored before the
 * head of revision N is up to date, so the heads of all earlier revisions are up to date too; and a
 * head that was read after revision N is correct until N + 1 is stored.
 *
 * Crash table.
 *   | crash           | stored           | then                                  |
 *   | before 4        | nothing          | a repeat is a new request             |
 *   | reply to 4 lost | the revision     | within the call: 4b                   |
 *   | after 4         | an outdated head | step 2 of the next writer advances it |
 *   If an outcome stays unknown, look it up in the current revision of the entity.
 *
 * Cost. A change takes five round trips, two of which are writes. Reading the count takes one read
 * of one item.
 *
 * Source. "Sequence numbers for records without a counter" (App Engine), the count in the newest
 * record.
 * }</pre>
 */
public final class RevisionLog {
  private static final String PARTITION = "revisions/";
  private static final String HEADS = "revision-heads/";
  private static final String NUMBER = "n";
  private static final String THERE = "there";
  private static final String CALL = "call";

  private final Store store;
  private final NumberedItems items;
  private final RandomGenerator random;

  /** The definite result of a change. */
  public sealed interface Result {
    /** Returns the number of entities after the change or rejection. */
    long count();
  }

  /** The change was made, as this revision. */
  public record Written(long number, long count) implements Result {}

  /** Nothing was changed: the entity already exists, or does not exist. */
  public record Rejected(boolean isThere, long count) implements Result {}

  /**
   * Creates a log on {@code store}.
   *
   * @throws IllegalArgumentException if the store lacks strong reads or scans
   */
  public RevisionLog(Store store) {
    this(store, Randomness.secure());
  }

  /** Creates a log with the given source of randomness. */
  public RevisionLog(Store store, RandomGenerator random) {
    store.profile().require(Capability.STRONG_READ);
    store.profile().require(Capability.ORDERED_SCAN);
    this.store = store;
    this.items = new NumberedItems(store, PARTITION);
    this.random = random;
  }

  /**
   * Changes an entity.
   *
   * @param payload its new content: up to {@link SequenceOfRecords#PAYLOAD_BYTES_MAX} bytes
   * @throws QuipuException if the outcome is unknown; check it with {@link #current}
   */
  public Result write(String series, String entity, Revision.Kind kind, String payload) {
    NumberedItems.checkSeries(series);
    Limits.checkText("entity", entity, Limits.NAME_BYTES_MAX);
    NumberedItems.checkPayload(payload);
    String call = RequestId.random(random).bits();
    Optional<Item> newest = items.newest(series, Consistency.STRONG);
    while (true) {
      newest.ifPresent(item -> advanceHead(series, item));
      long number = newest.map(NumberedItems::number).orElse(0L) + 1;
      long count = newest.map(item -> item.number(Revision.COUNT)).orElse(0L);
      boolean isThere = head(series, entity).map(item -> item.number(THERE) == 1).orElse(false);
      if (isThere == (kind == Revision.Kind.INSERT)) {
        return new Rejected(isThere, count);
      }
      long after = Math.addExact(count, kind.step());
      Map<String, Field> fields =
          Map.of(
              Revision.ENTITY,
              new Field.Text(entity),
              Revision.KIND,
              new Field.Text(kind.name().toLowerCase(Locale.ROOT)),
              Revision.PAYLOAD,
              new Field.Text(payload),
              Revision.COUNT,
              new Field.Number(after),
              Revision.AT,
              new Field.Number(store.clock().epochMillis()),
              CALL,
              new Field.Text(call));
      WriteResult result =
          untilKnown(new Write.Put(items.key(series, number), fields, new Condition.Absent()));
      if (!(result instanceof WriteResult.ConditionFailed failed)) {
        return new Written(number, after);
      }
      Item found = failed.found().orElseThrow();
      if (found.text(CALL).equals(Optional.of(call))) {
        return new Written(number, after);
      }
      newest = Optional.of(found);
    }
  }

  private WriteResult untilKnown(Write write) {
    return IdempotentRetry.result(
        store, "revision " + write.key().sort(), () -> store.write(write));
  }

  /** Makes step 2 of the protocol. */
  private void advanceHead(String series, Item revision) {
    String entity = revision.text(Revision.ENTITY).orElseThrow();
    boolean isDelete = revision.text(Revision.KIND).equals(Optional.of("delete"));
    long number = NumberedItems.number(revision);
    while (true) {
      Optional<Item> head = head(series, entity);
      if (head.isPresent() && head.get().number(NUMBER) >= number) {
        return;
      }
      Map<String, Field> fields =
          Map.of(NUMBER, new Field.Number(number), THERE, new Field.Number(isDelete ? 0 : 1));
      Write write =
          new Write.Put(new Key(HEADS + series, entity), fields, Condition.unchanged(head));
      if (untilKnown(write) instanceof WriteResult.Applied) {
        return;
      }
    }
  }

  private Optional<Item> head(String series, String entity) {
    return store.get(new Key(HEADS + series, entity));
  }

  /**
   * Returns the series whose names begin with a prefix, in order, as counters whose values are
   * their numbers of entities.
   *
   * @param after only names after this one; empty for all
   * @param seriesMax maximum number of series, 1 to {@link SequenceOfRecords#PAGE_MAX}
   * @throws UnsupportedOperationException if the store does not list its partitions
   */
  public CounterPage list(String prefix, String after, int seriesMax) {
    return items.series(prefix, after, seriesMax, this::count);
  }

  /** Returns the newest revision of a series; one read. */
  public Optional<Revision> newest(String series) {
    NumberedItems.checkSeries(series);
    return items
        .newest(series, Consistency.STRONG)
        .map(item -> Revision.of(NumberedItems.number(item), item));
  }

  /** Returns the number of entities; one read. */
  public long count(String series) {
    return newest(series).map(Revision::count).orElse(0L);
  }

  /** Returns the last revision of an existing entity; empty if it does not exist. */
  public Optional<Revision> current(String series, String entity) {
    NumberedItems.checkSeries(series);
    Limits.checkText("entity", entity, Limits.NAME_BYTES_MAX);
    items.newest(series, Consistency.STRONG).ifPresent(item -> advanceHead(series, item));
    return head(series, entity)
        .filter(head -> head.number(THERE) == 1)
        .map(head -> head.number(NUMBER))
        .flatMap(number -> revision(series, number));
  }

  /** Returns the revision under a number. */
  public Optional<Revision> revision(String series, long number) {
    NumberedItems.checkSeries(series);
    return items.get(series, number).map(item -> Revision.of(number, item));
  }
}
