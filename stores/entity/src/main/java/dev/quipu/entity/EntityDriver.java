package dev.quipu.entity;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Base of drivers that store each item as an entity in a store with transactions:
 *
 * <pre>
 * at       the key's place; scans use its built-in index
 * v        the version: new with each write
 * x        expiry in milliseconds, if any; for the expiry sweep
 * f.FIELD  a field: an integer, a string, or a list of strings; not indexed
 * </pre>
 *
 * @param <K> the client's type of keys of entities
 */
public abstract class EntityDriver<K> implements BatchDriver, ScanDriver {
  /** Property with the place of the item's key. */
  public static final String PLACE = "at";

  /** Property with the expiry, in milliseconds. */
  public static final String EXPIRY = "x";

  /** Property with the version. */
  public static final String VERSION = "v";

  private static final Logger LOGGER = LoggerFactory.getLogger(EntityDriver.class);
  private static final String FIELD = "f.";

  private final StoreProfile profile;
  private final Transactions transactions;
  private final Optional<GroupCommit> groups;

  /** Creates a driver that does not combine adds. */
  protected EntityDriver(StoreProfile profile) {
    this(profile, "", Optional.empty());
  }

  /**
   * Creates a driver.
   *
   * @param name of the store, for messages
   * @param waitMax longest wait until an add joins a group of concurrent adds to one item, which
   *     are one transaction; empty to execute each separately. In a group, one thread calls the
   *     client for the others
   */
  @SuppressWarnings("this-escape") // called only by methods of the driver
  protected EntityDriver(StoreProfile profile, String name, Optional<Duration> waitMax) {
    this.profile = profile;
    this.transactions =
        new Transactions(() -> known(this::begin), Clock.system(), Randomness.secure());
    int membersMax = profile.batchItemsMax() - 1; // and the number
    this.groups = waitMax.map(most -> new GroupCommit(name, transactions, 1, membersMax, most));
  }

  /** A transaction of the client. */
  protected abstract class EntityTransaction implements Transactions.Transaction {
    /** Creates a transaction. */
    protected EntityTransaction() {}

    /** Returns when an entity expires; null if it is not stored or does not expire. */
    protected abstract @Nullable Long expiryMillis(K key);

    /** Removes an entity on commit. */
    protected abstract void deleteEntity(K key);

    /** Commits; throws what the client throws. */
    protected abstract void send();

    /** Returns whether it was neither committed nor rolled back. */
    protected abstract boolean isActive();

    /** Rolls back; throws what the client throws. */
    protected abstract void rollback();

    @Override
    public final void commit() {
      try {
        send();
      } catch (RuntimeException e) {
        throw failure(e, Outcome.UNKNOWN);
      }
    }

    @Override
    public final void close() {
      if (isActive()) {
        try {
          rollback();
        } catch (RuntimeException e) {
          LOGGER.debug("Rollback failed; the transaction will time out", e);
        }
      }
    }
  }

  /** Begins a transaction; throws what the client throws. */
  protected abstract EntityTransaction begin();

  /**
   * Returns the exception for what the client threw.
   *
   * @param lost the outcome if it is unknown whether the call was executed
   */
  protected abstract RuntimeException failure(RuntimeException e, Outcome lost);

  /** Returns the first items of a scan; throws what the client throws. */
  protected abstract List<Item> query(Scan scan, int limit);

  /** Returns keys of entities that expired before an instant; throws what the client throws. */
  protected abstract List<K> expired(Instant before, int limit);

  /** Executes a call without an effect. */
  protected final <T> T known(Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      throw failure(e, Outcome.NOT_APPLIED);
    }
  }

  /** Returns the name of the property that holds a field. */
  public static String property(String field) {
    return FIELD + field;
  }

  /**
   * Returns the item that an entity holds.
   *
   * @param field converts a value to a field
   * @throws QuipuException if it has values that Quipu does not store
   */
  public static <V extends @Nullable Object> Item item(
      Key key,
      Map<String, V> properties,
      Function<V, Field> field,
      String version,
      @Nullable Long expiryMillis) {
    Map<String, Field> fields = new HashMap<>();
    properties.forEach((name, value) -> {
      if (name.startsWith(FIELD)) {
        fields.put(name.substring(FIELD.length()), field.apply(value));
      }
    });
    return new Item(
        key,
        fields,
        new Version(version),
        Optional.ofNullable(expiryMillis).map(Instant::ofEpochMilli));
  }

  @Override
  public final StoreProfile profile() {
    return profile;
  }

  @Override
  public final WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    if (token != null) {
      throw profile.lacks(Capability.TOKEN_BATCH);
    }
    return groups.isPresent() ? groups.get().write(writes) : transactions.writeAll(writes);
  }

  @Override
  public final Map<Measure, Long> measures() {
    return groups.map(GroupCommit::measures).orElse(Map.of());
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return transactions.getAll(keys);
  }

  @Override
  public final Page scan(Scan scan) {
    if (scan.consistency() == Consistency.STRONG && !profile.has(Capability.ORDERED_SCAN)) {
      throw profile.lacks(Capability.ORDERED_SCAN);
    }
    // One more shows where the next page begins.
    return Page.of(scan, known(() -> query(scan, scan.itemsMax() + 1)));
  }

  @Override
  public final int removeExpired(Instant before, int itemsMax) {
    int removed = 0;
    for (K key : known(() -> expired(before, itemsMax))) {
      removed += removeIfExpired(key, before) ? 1 : 0;
    }
    return removed;
  }

  /** Removes an entity unless it was rewritten since it was found. */
  private boolean removeIfExpired(K key, Instant before) {
    try (EntityTransaction transaction = known(this::begin)) {
      Long expiry = known(() -> Optional.ofNullable(transaction.expiryMillis(key))).orElse(null);
      boolean isExpired = expiry != null && expiry <= before.toEpochMilli();
      if (isExpired) {
        transaction.deleteEntity(key);
        transaction.commit();
      }
      return isExpired;
    }
  }
}
