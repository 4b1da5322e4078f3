package dev.quipu.entity;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.store.group.Member;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Conditional writes on a store that has transactions but no conditions: read, evaluate with {@link
 * Write#applyTo}, put, commit. For drivers.
 *
 * <p>A group of adds is one transaction.
 *
 * <p>On a conflict it retries with a growing pause, up to {@link #ATTEMPTS_MAX} attempts.
 */
public final class Transactions implements GroupCommit.Table {
  /** Maximum number of attempts of one call. */
  public static final int ATTEMPTS_MAX = 12;

  private static final Duration PAUSE_MIN = Duration.ofMillis(5);
  private static final Duration PAUSE_MAX = Duration.ofMillis(500);

  private final Supplier<Transaction> begin;
  private final Clock clock;
  private final RandomGenerator random;
  private final FreshTokens tokens = new FreshTokens();

  /**
   * A transaction. Its reads are a snapshot that is still current when it commits. Its methods
   * throw {@link QuipuException}; only {@link #commit} may have an unknown outcome.
   */
  public interface Transaction extends AutoCloseable {
    /** Returns the items of these keys, in the same order. */
    List<Optional<Item>> get(List<Key> keys);

    /** Stores a whole item on commit. */
    void put(Item item);

    /** Removes an item on commit. */
    void delete(Key key);

    /** Commits all writes or none. */
    void commit();

    /** Rolls back unless committed. Never throws. */
    @Override
    void close();
  }

  /** Thrown on a conflict with another transaction; this one had no effect. */
  public static final class Contended extends NotAppliedException {
    private static final long serialVersionUID = 1;

    /** Creates an exception. */
    public Contended(String message, Throwable cause) {
      super(Reason.THROTTLED, message, cause);
    }
  }

  /**
   * Creates an executor of writes.
   *
   * @param clock of the pauses: the clock of the machine
   * @param random jitter of the pauses
   */
  public Transactions(Supplier<Transaction> begin, Clock clock, RandomGenerator random) {
    this.begin = begin;
    this.clock = clock;
    this.random = random;
  }

  /** Implements {@link BatchDriver#writeAll} without a token. */
  public WriteResult writeAll(List<Write> writes) {
    return repeated(transaction -> apply(writes, transaction));
  }

  private WriteResult apply(List<Write> writes, Transaction transaction) {
    List<Key> keys = writes.stream().map(Write::key).toList();
    List<Optional<Item>> before = transaction.get(keys);
    List<Optional<Item>> after = new ArrayList<>(writes.size());
    for (int i = 0; i < writes.size(); i++) {
      switch (writes.get(i).applyTo(before.get(i), new Version(tokens.next()))) {
        case Write.Effect.Unmet unmet -> {
          return new WriteResult.ConditionFailed(keys.get(i), before.get(i));
        }
        case Write.Effect.Now now -> after.add(now.item());
      }
    }
    for (int i = 0; i < keys.size(); i++) {
      Key key = keys.get(i);
      after.get(i).ifPresentOrElse(transaction::put, () -> transaction.delete(key));
    }
    transaction.commit();
    return new WriteResult.Applied(after.getLast());
  }

  @Override
  public boolean accepts(Member member) {
    return true;
  }

  @Override
  public WriteResult alone(List<Write> writes) {
    return writeAll(writes);
  }

  /** Executes a group in one transaction, each member after the other on what it left. */
  @Override
  public List<Optional<WriteResult>> write(Group group) {
    return repeated(transaction -> apply(group, transaction));
  }

  private List<Optional<WriteResult>> apply(Group group, Transaction transaction) {
    List<Key> keys = new ArrayList<>(List.of(group.key()));
    group.members().forEach(each -> each.markerKey().ifPresent(keys::add));
    List<Optional<Item>> before = transaction.get(keys);
    Map<Key, Optional<Item>> items = new HashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      items.put(keys.get(i), before.get(i));
    }
    Set<Key> changed = new LinkedHashSet<>();
    List<Optional<WriteResult>> results = new ArrayList<>(group.members().size());
    for (Member each : group.members()) {
      results.add(Optional.of(apply(each.writes(), items, changed)));
    }
    if (!changed.isEmpty()) {
      changed.forEach(key -> items.getOrDefault(key, Optional.empty()).ifPresent(transaction::put));
      transaction.commit();
    }
    return results;
  }

  /** Applies puts and updates to the items, if all their conditions hold. */
  private WriteResult apply(List<Write> writes, Map<Key, Optional<Item>> items, Set<Key> changed) {
    Map<Key, Optional<Item>> after = new HashMap<>();
    for (Write write : writes) {
      Optional<Item> found = items.getOrDefault(write.key(), Optional.empty());
      switch (write.applyTo(found, new Version(tokens.next()))) {
        case Write.Effect.Unmet unmet -> {
          return new WriteResult.ConditionFailed(write.key(), found);
        }
        case Write.Effect.Now now -> after.put(write.key(), now.item());
      }
    }
    items.putAll(after);
    changed.addAll(after.keySet());
    return new WriteResult.Applied(items.getOrDefault(writes.getLast().key(), Optional.empty()));
  }

  /** Implements {@link BatchDriver#getAll}. */
  public List<Optional<Item>> getAll(List<Key> keys) {
    return repeated(transaction -> {
      List<Optional<Item>> found = transaction.get(keys);
      transaction.commit(); // confirms that the reads were a snapshot
      return found;
    });
  }

  private <T> T repeated(Function<Transaction, T> call) {
    for (int attempt = 1; ; attempt++) {
      try (Transaction transaction = begin.get()) {
        return call.apply(transaction);
      } catch (Contended e) {
        if (attempt == ATTEMPTS_MAX) {
          throw e;
        }
      }
      pause(attempt);
    }
  }

  /** Pauses for a random time, whose limit doubles with each attempt. */
  private void pause(int attempt) {
    long longest = Math.min(PAUSE_MAX.toNanos(), PAUSE_MIN.toNanos() << attempt);
    try {
      clock.sleep(Duration.ofNanos(random.nextLong(longest + 1)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotAppliedException(
          Reason.UNAVAILABLE, "interrupted while waiting to retry a transaction");
    }
  }
}
