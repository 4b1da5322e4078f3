package dev.quipu.datastore;

import com.google.cloud.datastore.Datastore;
import com.google.cloud.datastore.DatastoreException;
import com.google.cloud.datastore.Entity;
import com.google.cloud.datastore.EntityQuery;
import com.google.cloud.datastore.Query;
import com.google.cloud.datastore.QueryResults;
import com.google.cloud.datastore.ReadOption;
import com.google.cloud.datastore.StructuredQuery.CompositeFilter;
import com.google.cloud.datastore.StructuredQuery.OrderBy;
import com.google.cloud.datastore.StructuredQuery.PropertyFilter;
import com.google.cloud.datastore.Transaction;
import dev.quipu.Outcome;
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
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counting on Google Cloud Datastore (Firestore in Datastore mode), in the entities of one kind.
 *
 * <p><b>Stored.</b> One entity an item, a root, named by {@link Key#place}:
 *
 * <pre>
 * at       the name once more: scans select and sort by it, by its built-in index
 * v        the version: new with each write
 * x        expiry in milliseconds, if it has one; the sweeper selects by it
 * f.FIELD  a field: an integer, a string, or a list of strings; not indexed
 * </pre>
 *
 * <p><b>Protocol.</b> Each write is a transaction: begin, look up, commit; three round trips. What
 * must hold is judged here, on what was looked up. Where another transaction comes between, the
 * store refuses one of them, and it is begun again.
 *
 * <p><b>Entity groups.</b> Each item is a group of its own. Google states about one write a second
 * to an entity as what is sustained; more is possible for a while, and meets contention. Writers of
 * different items do not meet.
 *
 * <p><b>Atomic.</b> Items anywhere, 100 of them. <b>Limits.</b> 1,000,000 bytes of fields in an
 * item. <b>Durable</b>; reads and scans see what was acknowledged.
 *
 * <p><b>After a timeout, a dropped connection or an INTERNAL, UNAVAILABLE or UNKNOWN error</b> of a
 * commit the write is unknown. ABORTED means that nothing was written. The client that {@link
 * DatastoreProvider} opens repeats nothing. Giving up, the driver rolls the transaction back, so
 * that a commit that is still on its way comes too late.
 *
 * @see <a href="https://cloud.google.com/datastore/docs/concepts/transactions">transactions</a>
 */
public final class DatastoreDriver implements StoreDriver {
  static final StoreProfile PROFILE =
      new StoreProfile(
          "datastore",
          EnumSet.of(
              Capability.STRONG_READ,
              Capability.NATIVE_UPDATE,
              Capability.ATOMIC_BATCH,
              Capability.ORDERED_SCAN,
              Capability.DURABLE),
          Atomicity.STORE,
          100,
          1_000_000,
          Optional.of(new WriteGroup(Atomicity.ITEM, 1)));

  private static final Logger LOGGER = LoggerFactory.getLogger(DatastoreDriver.class);

  private final Datastore datastore;
  private final String kind;
  private final Entities entities;
  private final Transactions transactions;
  private final Runnable onClose;

  private DatastoreDriver(Datastore datastore, String kind, Runnable onClose) {
    this.datastore = datastore;
    this.kind = kind;
    this.entities = new Entities(() -> datastore.newKeyFactory().setKind(kind));
    this.transactions =
        new Transactions(() -> known(Begun::new), Clock.system(), Randomness.secure());
    this.onClose = onClose;
  }

  /**
   * Counts in the entities of one kind.
   *
   * @param datastore stays the caller's to close; its own retries should be off
   */
  public static DatastoreDriver of(Datastore datastore, String kind) {
    int attempts = attempts(datastore);
    if (attempts != 1) {
      LOGGER.warn(
          "The Datastore client tries up to {} times by itself: what it says of a commit may be"
              + " about a repeat of it. Give it ServiceOptions.getNoRetrySettings().",
          attempts == 0 ? "several" : attempts);
    }
    return open(datastore, kind, () -> {});
  }

  /** How often the client tries by itself; 0 for as often as it can. */
  static int attempts(Datastore datastore) {
    return datastore.getOptions().getRetrySettings().getMaxAttempts();
  }

  static DatastoreDriver open(Datastore datastore, String kind, Runnable onClose) {
    return new DatastoreDriver(datastore, kind, onClose);
  }

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  // ---- items

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    ReadOption[] options =
        consistency == Consistency.STRONG
            ? new ReadOption[0]
            : new ReadOption[] {ReadOption.eventualConsistency()};
    return known(() -> Optional.ofNullable(datastore.get(entities.key(key), options)))
        .map(entity -> entities.item(key, entity));
  }

  @Override
  public WriteResult write(Write write) {
    return transactions.write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token != null) {
      throw PROFILE.lacks(Capability.TOKEN_BATCH);
    }
    return transactions.writeAll(writes);
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return transactions.getAll(keys);
  }

  /** A call without an effect. */
  private static <T> T known(Supplier<T> call) {
    try {
      return call.get();
    } catch (DatastoreException e) {
      throw Failures.of(e, Outcome.NOT_APPLIED);
    }
  }

  private final class Begun implements Transactions.Transaction {
    private final Transaction transaction = datastore.newTransaction();

    @Override
    public List<Optional<Item>> get(List<Key> keys) {
      List<@Nullable Entity> found =
          known(() ->
              transaction.fetch(
                  keys.stream().map(entities::key).toArray(com.google.cloud.datastore.Key[]::new)));
      List<Optional<Item>> items = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        Key key = keys.get(i);
        items.add(Optional.ofNullable(found.get(i)).map(each -> entities.item(key, each)));
      }
      return items;
    }

    @Override
    public void put(Item item) {
      transaction.put(entities.entity(item));
    }

    @Override
    public void delete(Key key) {
      transaction.delete(entities.key(key));
    }

    @Override
    public void commit() {
      DatastoreDriver.commit(transaction);
    }

    @Override
    public void close() {
      giveUp(transaction);
    }
  }

  private static void commit(Transaction transaction) {
    try {
      transaction.commit();
    } catch (DatastoreException e) {
      throw Failures.of(e, Outcome.UNKNOWN);
    }
  }

  private static void giveUp(Transaction transaction) {
    if (transaction.isActive()) {
      try {
        transaction.rollback();
      } catch (DatastoreException e) {
        LOGGER.debug("a transaction that was given up ends by itself", e);
      }
    }
  }

  // ---- many items

  @Override
  public Page scan(Scan scan) {
    EntityQuery query =
        Query.newEntityQueryBuilder()
            .setKind(kind)
            .setFilter(
                CompositeFilter.and(
                    PropertyFilter.ge(Entities.PLACE, scan.fromPlace()),
                    PropertyFilter.lt(Entities.PLACE, scan.untilPlace())))
            .setOrderBy(
                scan.descending() ? OrderBy.desc(Entities.PLACE) : OrderBy.asc(Entities.PLACE))
            .setLimit(scan.itemsMax() + 1) // one more tells where the next page begins
            .build();
    List<Item> items = new ArrayList<>();
    known(() -> {
      QueryResults<Entity> results = datastore.run(query);
      results.forEachRemaining(entity -> {
        Key key = Key.at(scan.partition(), entity.getString(Entities.PLACE));
        items.add(entities.item(key, entity));
      });
      return items;
    });
    return Page.of(scan, items);
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    EntityQuery query =
        Query.newEntityQueryBuilder()
            .setKind(kind)
            .setFilter(PropertyFilter.le(Entities.EXPIRY, before.toEpochMilli()))
            .setLimit(itemsMax)
            .build();
    List<com.google.cloud.datastore.Key> found = new ArrayList<>();
    known(() -> {
      datastore.run(query).forEachRemaining(entity -> found.add(entity.getKey()));
      return found;
    });
    int removed = 0;
    for (com.google.cloud.datastore.Key key : found) {
      removed += removeIfExpired(key, before) ? 1 : 0;
    }
    return removed;
  }

  /** It may have been written again since it was found. */
  private boolean removeIfExpired(com.google.cloud.datastore.Key key, Instant before) {
    Transaction transaction = known(datastore::newTransaction);
    try {
      Optional<Entity> found = known(() -> Optional.ofNullable(transaction.get(key)));
      boolean isExpired =
          found.isPresent()
              && found.get().contains(Entities.EXPIRY)
              && found.get().getLong(Entities.EXPIRY) <= before.toEpochMilli();
      if (isExpired) {
        transaction.delete(key);
        commit(transaction);
      }
      return isExpired;
    } finally {
      giveUp(transaction);
    }
  }

  @Override
  public void close() {
    onClose.run();
  }
}
