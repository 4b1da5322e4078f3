package dev.quipu.datastore;

import com.google.cloud.datastore.Datastore;
import com.google.cloud.datastore.DatastoreException;
import com.google.cloud.datastore.Entity;
import com.google.cloud.datastore.EntityQuery;
import com.google.cloud.datastore.Query;
import com.google.cloud.datastore.ReadOption;
import com.google.cloud.datastore.StructuredQuery.CompositeFilter;
import com.google.cloud.datastore.StructuredQuery.OrderBy;
import com.google.cloud.datastore.StructuredQuery.PropertyFilter;
import com.google.cloud.datastore.Transaction;
import dev.quipu.Outcome;
import dev.quipu.entity.EntityDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProfile.WriteGroup;
import dev.quipu.store.StoreUri;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Driver for Google Cloud Datastore (Firestore in Datastore mode), on the entities of one kind.
 *
 * <p><b>Stored.</b> One root entity per item, named by {@link Key#place}; {@link EntityDriver}
 * lists the properties.
 *
 * <p><b>Protocol.</b> Each write is a transaction of three round trips: begin, lookup, commit. The
 * driver evaluates conditions on the entities that it read. If transactions conflict, the store
 * aborts one of them, which the driver retries. Adds to one number that arrive during another add
 * are combined into one transaction, with the markers of their requests, if any.
 *
 * <p><b>Entity groups.</b> Each item is its own group. Google states a sustained rate of about one
 * write per second per entity; bursts above that meet contention. Writers of different items do not
 * conflict.
 *
 * <p><b>Atomic.</b> Batches of up to 100 items. <b>Limits.</b> 1,000,000 bytes of fields in an
 * item. <b>Durable</b>; reads and scans return acknowledged writes.
 *
 * <p><b>After a timeout, a dropped connection or an INTERNAL, UNAVAILABLE or UNKNOWN error</b> of a
 * commit the outcome is unknown. ABORTED means that nothing was written. The client that {@link
 * DatastoreProvider} opens never retries. When the driver gives up, it rolls the transaction back,
 * so that a delayed commit fails.
 *
 * @see <a href="https://cloud.google.com/datastore/docs/concepts/transactions">transactions</a>
 */
public final class DatastoreDriver extends EntityDriver<com.google.cloud.datastore.Key> {
  static final StoreProfile PROFILE =
      new StoreProfile(
          "datastore",
          EnumSet.of(
              Capability.STRONG_READ,
              Capability.NATIVE_UPDATE,
              Capability.ATOMIC_BATCH,
              Capability.BATCH_RETURNS,
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
  private final Runnable onClose;

  private DatastoreDriver(
      Datastore datastore, String kind, Optional<Duration> waitMax, Runnable onClose) {
    super(PROFILE, "Datastore", waitMax);
    this.datastore = datastore;
    this.kind = kind;
    this.entities = new Entities(() -> datastore.newKeyFactory().setKind(kind));
    this.onClose = onClose;
  }

  /**
   * Opens a driver on the entities of one kind. An add waits up to {@link StoreUri#TIMEOUT} for
   * other adds to its item.
   *
   * @param datastore the caller closes it; its retries should be off
   */
  public static DatastoreDriver of(Datastore datastore, String kind) {
    int attempts = attempts(datastore);
    if (attempts != 1) {
      LOGGER.warn(
          "The Datastore client makes up to {} attempts: its error for a commit may be that of a"
              + " retry. Set ServiceOptions.getNoRetrySettings()",
          attempts == 0 ? "several" : attempts);
    }
    return open(datastore, kind, Optional.of(StoreUri.TIMEOUT), () -> {});
  }

  /** Returns the number of attempts of the client; 0 for unlimited. */
  static int attempts(Datastore datastore) {
    return datastore.getOptions().getRetrySettings().getMaxAttempts();
  }

  /**
   * Opens a driver.
   *
   * @param waitMax longest wait of an add for others to the item; empty to combine none
   */
  static DatastoreDriver open(
      Datastore datastore, String kind, Optional<Duration> waitMax, Runnable onClose) {
    return new DatastoreDriver(datastore, kind, waitMax, onClose);
  }

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
  public List<Optional<Item>> getEach(List<Key> keys) {
    return items(keys, names -> known(() -> datastore.fetch(names)));
  }

  private List<Optional<Item>> items(
      List<Key> keys, Function<com.google.cloud.datastore.Key[], List<@Nullable Entity>> fetch) {
    List<@Nullable Entity> found =
        fetch.apply(
            keys.stream().map(entities::key).toArray(com.google.cloud.datastore.Key[]::new));
    List<Optional<Item>> items = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      Key key = keys.get(i);
      items.add(Optional.ofNullable(found.get(i)).map(each -> entities.item(key, each)));
    }
    return items;
  }

  @Override
  protected RuntimeException failure(RuntimeException e, Outcome lost) {
    return e instanceof DatastoreException failed ? Failures.of(failed, lost) : e;
  }

  @Override
  protected EntityTransaction begin() {
    return new Begun(datastore.newTransaction());
  }

  private final class Begun extends EntityTransaction {
    private final Transaction transaction;

    Begun(Transaction transaction) {
      this.transaction = transaction;
    }

    @Override
    public List<Optional<Item>> get(List<Key> keys) {
      return items(keys, names -> known(() -> transaction.fetch(names)));
    }

    @Override
    public void put(Item item) {
      transaction.put(entities.entity(item));
    }

    @Override
    public void delete(Key key) {
      deleteEntity(entities.key(key));
    }

    @Override
    protected void deleteEntity(com.google.cloud.datastore.Key key) {
      transaction.delete(key);
    }

    @Override
    protected @Nullable Long expiryMillis(com.google.cloud.datastore.Key key) {
      Entity found = transaction.get(key);
      return found == null ? null : Entities.expiryMillis(found);
    }

    @Override
    protected void send() {
      transaction.commit();
    }

    @Override
    protected boolean isActive() {
      return transaction.isActive();
    }

    @Override
    protected void rollback() {
      transaction.rollback();
    }
  }

  @Override
  protected List<Item> query(Scan scan, int limit) {
    EntityQuery query =
        Query.newEntityQueryBuilder()
            .setKind(kind)
            .setFilter(
                CompositeFilter.and(
                    PropertyFilter.ge(PLACE, scan.fromPlace()),
                    PropertyFilter.lt(PLACE, scan.untilPlace())))
            .setOrderBy(scan.descending() ? OrderBy.desc(PLACE) : OrderBy.asc(PLACE))
            .setLimit(limit)
            .build();
    List<Item> items = new ArrayList<>();
    datastore
        .run(query)
        .forEachRemaining(entity -> {
          Key key = Key.at(scan.partition(), entity.getString(PLACE));
          items.add(entities.item(key, entity));
        });
    return items;
  }

  @Override
  protected List<com.google.cloud.datastore.Key> expired(Instant before, int limit) {
    EntityQuery query =
        Query.newEntityQueryBuilder()
            .setKind(kind)
            .setFilter(PropertyFilter.le(EXPIRY, before.toEpochMilli()))
            .setLimit(limit)
            .build();
    List<com.google.cloud.datastore.Key> found = new ArrayList<>();
    datastore.run(query).forEachRemaining(entity -> found.add(entity.getKey()));
    return found;
  }

  @Override
  public void close() {
    onClose.run();
  }
}
