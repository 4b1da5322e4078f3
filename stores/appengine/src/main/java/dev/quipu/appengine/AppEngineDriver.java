package dev.quipu.appengine;

import com.google.appengine.api.datastore.CommittedButStillApplyingException;
import com.google.appengine.api.datastore.DatastoreService;
import com.google.appengine.api.datastore.Entity;
import com.google.appengine.api.datastore.FetchOptions;
import com.google.appengine.api.datastore.Query;
import com.google.appengine.api.datastore.Transaction;
import com.google.appengine.api.datastore.TransactionOptions;
import dev.quipu.Outcome;
import dev.quipu.Reason;
import dev.quipu.StoreException;
import dev.quipu.store.Atomicity;
import dev.quipu.store.Capability;
import dev.quipu.store.Consistency;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.WriteGroup;
import dev.quipu.store.Transactions;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counting on the datastore of App Engine, by its own API, in threads that App Engine knows.
 *
 * <p><b>Stored.</b> One entity an item, of the kind {@code Quipu}, named by {@link Key#place}:
 *
 * <pre>
 * at       the name once more: scans select and sort by it
 * v        the version: new with each write
 * x        expiry in milliseconds, if it has one; the sweeper selects by it
 * f.FIELD  a field: an integer, a text, or a list of texts; not indexed
 * </pre>
 *
 * <p><b>Entity groups.</b> App Engine writes the entities of a group one after the other, and
 * sustains one write a second in it. The caller chooses what is a group:
 *
 * <ul>
 *   <li>{@link #withItemsAsGroups}: each item. Writers of different items do not meet. Queries go
 *       across groups, and are eventual: what is new may be missing.
 *   <li>{@link #withPartitionsAsGroups}: all items of a partition. Queries are of one group, and
 *       strong; all writers of a partition meet. Two indexes are needed: kind {@code Quipu}, with
 *       ancestor, by {@code at}, ascending and descending.
 * </ul>
 *
 * <p><b>Protocol.</b> Each write is a transaction: begin, get, put, commit. What must hold is
 * judged here, on what was got. Where another transaction comes between, the store refuses one of
 * them, and it is begun again.
 *
 * <p><b>Atomic.</b> Items of 25 groups. A read of several looks twice, and again until nothing has
 * changed in between. <b>Limits.</b> 1,000,000 bytes of fields in an item. <b>Durable</b>; a read
 * by key sees what was acknowledged.
 *
 * <p><b>After a timeout or a failure</b> of a commit the write is unknown. A concurrent
 * modification means that nothing was written. The API repeats nothing.
 *
 * @see <a href="https://cloud.google.com/appengine/docs/legacy/standard/java/datastore">guide</a>
 */
public final class AppEngineDriver implements StoreDriver {
  private static final Logger LOGGER = LoggerFactory.getLogger(AppEngineDriver.class);
  private static final int GROUPS_MAX = 25; // of one transaction
  private static final int LOOKS_MAX = 100;
  private static final int ITEM_BYTES_MAX = 1_000_000;
  private static final int WRITES_PER_SECOND = 1;

  private final DatastoreService datastore;
  private final StoreProfile profile;
  private final Entities entities;
  private final Transactions transactions;

  private AppEngineDriver(DatastoreService datastore, Atomicity group, Capability scan) {
    this.datastore = datastore;
    this.profile =
        new StoreProfile(
            "appengine",
            EnumSet.of(
                Capability.STRONG_READ,
                Capability.NATIVE_UPDATE,
                Capability.ATOMIC_BATCH,
                Capability.DURABLE,
                scan),
            Atomicity.STORE,
            GROUPS_MAX,
            ITEM_BYTES_MAX,
            Optional.of(new WriteGroup(group, WRITES_PER_SECOND)));
    this.entities = new Entities(group);
    this.transactions =
        new Transactions(() -> known(Begun::new), Clock.system(), Randomness.secure());
  }

  /**
   * Counts with each item as an entity group of its own: for techniques that do without scans, and
   * for sequences of records.
   *
   * @param datastore with the deadline that each call shall have
   */
  public static AppEngineDriver withItemsAsGroups(DatastoreService datastore) {
    return new AppEngineDriver(datastore, Atomicity.ITEM, Capability.EVENTUAL_SCAN);
  }

  /**
   * Counts with each partition as an entity group: for every technique, where one write a second to
   * a counter, a page or a series is enough.
   *
   * @param datastore with the deadline that each call shall have
   */
  public static AppEngineDriver withPartitionsAsGroups(DatastoreService datastore) {
    return new AppEngineDriver(datastore, Atomicity.PARTITION, Capability.ORDERED_SCAN);
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  // ---- items

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return known(() -> get(null, List.of(key))).getFirst();
  }

  @Override
  public WriteResult write(Write write) {
    return transactions.write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token != null) {
      throw profile.lacks(Capability.TOKEN_BATCH);
    }
    return transactions.writeAll(writes);
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    // A transaction would see each group as of a moment of its own, and not be checked, since it
    // writes nothing. No two states of an item have the same version.
    List<Optional<Item>> last = known(() -> get(null, keys));
    for (int looks = 2; looks <= LOOKS_MAX; looks++) {
      List<Optional<Item>> found = known(() -> get(null, keys));
      if (found.equals(last)) {
        return found;
      }
      last = found;
    }
    throw StoreException.notApplied(
        Reason.THROTTLED, "%d looks at %d items found changes".formatted(LOOKS_MAX, keys.size()));
  }

  /** A call without an effect. */
  private static <T> T known(Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      throw Failures.of(e, Outcome.NOT_APPLIED);
    }
  }

  private List<Optional<Item>> get(@Nullable Transaction transaction, List<Key> keys) {
    List<com.google.appengine.api.datastore.Key> named = keys.stream().map(entities::key).toList();
    Map<com.google.appengine.api.datastore.Key, Entity> found = datastore.get(transaction, named);
    List<Optional<Item>> items = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      Key key = keys.get(i);
      items.add(Optional.ofNullable(found.get(named.get(i))).map(e -> Entities.item(key, e)));
    }
    return items;
  }

  private final class Begun implements Transactions.Transaction {
    private final Transaction transaction =
        datastore.beginTransaction(TransactionOptions.Builder.withXG(true));

    @Override
    public List<Optional<Item>> get(List<Key> keys) {
      return known(() -> AppEngineDriver.this.get(transaction, keys));
    }

    @Override
    public void put(Item item) {
      known(() -> datastore.put(transaction, entities.entity(item)));
    }

    @Override
    public void delete(Key key) {
      known(() -> {
        datastore.delete(transaction, entities.key(key));
        return key;
      });
    }

    @Override
    public void commit() {
      AppEngineDriver.commit(transaction);
    }

    @Override
    public void close() {
      giveUp(transaction);
    }
  }

  private static void commit(Transaction transaction) {
    try {
      transaction.commit();
    } catch (CommittedButStillApplyingException e) {
      LOGGER.debug("a committed write is not in all indexes yet", e);
    } catch (RuntimeException e) {
      throw Failures.of(e, Outcome.UNKNOWN);
    }
  }

  private static void giveUp(Transaction transaction) {
    if (transaction.isActive()) {
      try {
        transaction.rollback();
      } catch (RuntimeException e) {
        LOGGER.debug("a transaction that was given up ends by itself", e);
      }
    }
  }

  // ---- many items

  @Override
  public Page scan(Scan scan) {
    if (scan.consistency() == Consistency.STRONG && !profile.has(Capability.ORDERED_SCAN)) {
      throw profile.lacks(Capability.ORDERED_SCAN);
    }
    Query query = new Query(Entities.KIND);
    entities.root(scan.partition()).ifPresent(query::setAncestor);
    query.setFilter(
        Query.CompositeFilterOperator.and(
            Query.FilterOperator.GREATER_THAN_OR_EQUAL.of(Entities.PLACE, scan.fromPlace()),
            Query.FilterOperator.LESS_THAN.of(Entities.PLACE, scan.untilPlace())));
    query.addSort(
        Entities.PLACE,
        scan.descending() ? Query.SortDirection.DESCENDING : Query.SortDirection.ASCENDING);
    List<Item> items = new ArrayList<>();
    for (Entity entity : run(query, scan.itemsMax() + 1)) { // one more: where the next page begins
      String place = String.valueOf(entity.getProperty(Entities.PLACE));
      items.add(Entities.item(Key.at(scan.partition(), place), entity));
    }
    return Page.of(scan, items);
  }

  private List<Entity> run(Query query, int limit) {
    return known(() ->
        datastore.prepare(null, query).asList(FetchOptions.Builder.withLimit(limit)).stream()
            .toList());
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    Query query =
        new Query(Entities.KIND)
            .setKeysOnly()
            .setFilter(
                Query.FilterOperator.LESS_THAN_OR_EQUAL.of(Entities.EXPIRY, before.toEpochMilli()));
    int removed = 0;
    for (Entity found : run(query, itemsMax)) {
      removed += removeIfExpired(found.getKey(), before) ? 1 : 0;
    }
    return removed;
  }

  /** It may have been written again since it was found. */
  private boolean removeIfExpired(com.google.appengine.api.datastore.Key key, Instant before) {
    Transaction transaction = known(datastore::beginTransaction);
    try {
      Entity found = known(() -> datastore.get(transaction, Set.of(key)).get(key));
      boolean isExpired =
          found != null
              && found.getProperty(Entities.EXPIRY) instanceof Long expiry
              && expiry <= before.toEpochMilli();
      if (isExpired) {
        datastore.delete(transaction, key);
        commit(transaction);
      }
      return isExpired;
    } finally {
      giveUp(transaction);
    }
  }

  /** Closes nothing: the service is App Engine's. */
  @Override
  public void close() {}
}
