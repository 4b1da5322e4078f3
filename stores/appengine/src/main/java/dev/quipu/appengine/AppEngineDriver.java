package dev.quipu.appengine;

import com.google.appengine.api.datastore.CommittedButStillApplyingException;
import com.google.appengine.api.datastore.DatastoreService;
import com.google.appengine.api.datastore.Entity;
import com.google.appengine.api.datastore.FetchOptions;
import com.google.appengine.api.datastore.Query;
import com.google.appengine.api.datastore.Transaction;
import com.google.appengine.api.datastore.TransactionOptions;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.Reason;
import dev.quipu.entity.EntityDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProfile.WriteGroup;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Driver for the datastore of App Engine, by its own API, in threads of App Engine.
 *
 * <p><b>Stored.</b> One entity per item, of the kind {@code Quipu}, named by {@link Key#place};
 * {@link EntityDriver} lists the properties.
 *
 * <p><b>Entity groups.</b> App Engine serializes the writes of a group and sustains one write per
 * second in it. The caller chooses the groups:
 *
 * <ul>
 *   <li>{@link #withItemsAsGroups}: each item. Writers of different items do not conflict. Queries
 *       span groups and are eventually consistent: new items may be missing.
 *   <li>{@link #withPartitionsAsGroups}: all items of a partition. Queries are within one group and
 *       strongly consistent; all writers of a partition conflict. Two indexes are needed: kind
 *       {@code Quipu}, with ancestor, by {@code at}, ascending and descending.
 * </ul>
 *
 * <p><b>Protocol.</b> Each write is a transaction: begin, get, put, commit. The driver evaluates
 * conditions on the entities that it read. If transactions conflict, the store aborts one of them,
 * which the driver retries.
 *
 * <p><b>Atomic.</b> Items of 25 groups. A read of several items reads twice, and again until
 * nothing has changed in between. <b>Limits.</b> 1,000,000 bytes of fields in an item.
 * <b>Durable</b>; a read by key returns acknowledged writes.
 *
 * <p><b>After a timeout or a failure</b> of a commit the outcome is unknown. A concurrent
 * modification means that nothing was written. The API never retries.
 *
 * @see <a href="https://cloud.google.com/appengine/docs/legacy/standard/java/datastore">guide</a>
 */
public final class AppEngineDriver extends EntityDriver<com.google.appengine.api.datastore.Key> {
  private static final Logger LOGGER = LoggerFactory.getLogger(AppEngineDriver.class);
  private static final int GROUPS_MAX = 25; // of a transaction
  private static final int LOOKS_MAX = 100;
  private static final int ITEM_BYTES_MAX = 1_000_000;
  private static final int WRITES_PER_SECOND = 1;

  private final DatastoreService datastore;
  private final Entities entities;

  private AppEngineDriver(DatastoreService datastore, Atomicity group, Capability scan) {
    super(
        new StoreProfile(
            "appengine",
            EnumSet.of(
                Capability.STRONG_READ,
                Capability.NATIVE_UPDATE,
                Capability.ATOMIC_BATCH,
                Capability.BATCH_RETURNS,
                Capability.DURABLE,
                scan),
            Atomicity.STORE,
            GROUPS_MAX,
            ITEM_BYTES_MAX,
            Optional.of(new WriteGroup(group, WRITES_PER_SECOND))));
    this.datastore = datastore;
    this.entities = new Entities(group);
  }

  /**
   * Opens a driver with each item as its own entity group: for techniques that do not scan, and for
   * sequences of records.
   *
   * @param datastore configured with the deadline of each call
   */
  public static AppEngineDriver withItemsAsGroups(DatastoreService datastore) {
    return new AppEngineDriver(datastore, Atomicity.ITEM, Capability.EVENTUAL_SCAN);
  }

  /**
   * Opens a driver with each partition as an entity group: for every technique, if one write per
   * second to a counter, a page or a series suffices.
   *
   * @param datastore configured with the deadline of each call
   */
  public static AppEngineDriver withPartitionsAsGroups(DatastoreService datastore) {
    return new AppEngineDriver(datastore, Atomicity.PARTITION, Capability.ORDERED_SCAN);
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return known(() -> get(null, List.of(key))).getFirst();
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    // A transaction would read each group at a different moment, without a check, since it writes
    // nothing. No two states of an item have the same version.
    List<Optional<Item>> last = known(() -> get(null, keys));
    for (int looks = 2; looks <= LOOKS_MAX; looks++) {
      List<Optional<Item>> found = known(() -> get(null, keys));
      if (found.equals(last)) {
        return found;
      }
      last = found;
    }
    throw new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %d attempts: %d items changed while they were read"
            .formatted(LOOKS_MAX, keys.size()));
  }

  @Override
  public List<Optional<Item>> getEach(List<Key> keys) {
    return known(() -> get(null, keys));
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

  @Override
  protected RuntimeException failure(RuntimeException e, Outcome lost) {
    return Failures.of(e, lost);
  }

  @Override
  protected EntityTransaction begin() {
    return new Begun(datastore.beginTransaction(TransactionOptions.Builder.withXG(true)));
  }

  private final class Begun extends EntityTransaction {
    private final Transaction transaction;

    Begun(Transaction transaction) {
      this.transaction = transaction;
    }

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
      deleteEntity(entities.key(key));
    }

    @Override
    protected void deleteEntity(com.google.appengine.api.datastore.Key key) {
      known(() -> {
        datastore.delete(transaction, key);
        return key;
      });
    }

    @Override
    protected @Nullable Long expiryMillis(com.google.appengine.api.datastore.Key key) {
      Entity found = datastore.get(transaction, Set.of(key)).get(key);
      return found == null ? null : (Long) found.getProperty(EXPIRY);
    }

    @Override
    protected void send() {
      try {
        transaction.commit();
      } catch (CommittedButStillApplyingException e) {
        LOGGER.debug("Transaction committed; indexes are updated later", e);
      }
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
    Query query = new Query(Entities.KIND);
    entities.root(scan.partition()).ifPresent(query::setAncestor);
    query.setFilter(
        Query.CompositeFilterOperator.and(
            Query.FilterOperator.GREATER_THAN_OR_EQUAL.of(PLACE, scan.fromPlace()),
            Query.FilterOperator.LESS_THAN.of(PLACE, scan.untilPlace())));
    query.addSort(
        PLACE, scan.descending() ? Query.SortDirection.DESCENDING : Query.SortDirection.ASCENDING);
    List<Item> items = new ArrayList<>();
    for (Entity entity : run(query, limit)) {
      String place = String.valueOf(entity.getProperty(PLACE));
      items.add(Entities.item(Key.at(scan.partition(), place), entity));
    }
    return items;
  }

  private List<Entity> run(Query query, int limit) {
    return datastore.prepare(null, query).asList(FetchOptions.Builder.withLimit(limit)).stream()
        .toList();
  }

  @Override
  protected List<com.google.appengine.api.datastore.Key> expired(Instant before, int limit) {
    Query query =
        new Query(Entities.KIND)
            .setKeysOnly()
            .setFilter(Query.FilterOperator.LESS_THAN_OR_EQUAL.of(EXPIRY, before.toEpochMilli()));
    return run(query, limit).stream().map(Entity::getKey).toList();
  }

  /** Does nothing: the service belongs to App Engine. */
  @Override
  public void close() {}
}
