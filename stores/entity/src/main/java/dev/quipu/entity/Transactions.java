package dev.quipu.entity;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The writes of a store that knows no conditions but has transactions: read, judge here by {@link
 * Write#applyTo}, put, commit. For drivers.
 *
 * <p>Where another came between, it begins again after a pause that grows, {@link #ATTEMPTS_MAX}
 * times in all.
 */
public final class Transactions {
  /** Most transactions for one call, each of which another came between. */
  public static final int ATTEMPTS_MAX = 12;

  private static final Duration PAUSE_MIN = Duration.ofMillis(5);
  private static final Duration PAUSE_MAX = Duration.ofMillis(500);

  private final Supplier<Transaction> begin;
  private final Clock clock;
  private final RandomGenerator random;
  private final FreshTokens tokens = new FreshTokens();

  /**
   * One transaction. What it read is as it was at one moment, and still so when it commits. Its
   * calls throw {@link QuipuException}: only {@link #commit} may be unknown.
   */
  public interface Transaction extends AutoCloseable {
    /** One answer for each key, in the same order. */
    List<Optional<Item>> get(List<Key> keys);

    /** Stores a whole item, once it is committed. */
    void put(Item item);

    /** Removes an item, once it is committed. */
    void delete(Key key);

    /** All or nothing. */
    void commit();

    /** Gives up what was not committed. Never throws. */
    @Override
    void close();
  }

  /** Another transaction came between, and this one had no effect. */
  public static final class Contended extends NotAppliedException {
    private static final long serialVersionUID = 1;

    /** Makes one. */
    public Contended(String message, Throwable cause) {
      super(Reason.THROTTLED, message, cause);
    }
  }

  /**
   * Writes by transactions that {@code begin} makes.
   *
   * @param clock by which it pauses: the machine's, since it is the store that needs the time
   * @param random how long it pauses
   */
  public Transactions(Supplier<Transaction> begin, Clock clock, RandomGenerator random) {
    this.begin = begin;
    this.clock = clock;
    this.random = random;
  }

  /** As {@link StoreDriver#write}. */
  public WriteResult write(Write write) {
    return writeAll(List.of(write));
  }

  /** As {@link BatchDriver#writeAll} without a token. */
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

  /** As {@link BatchDriver#getAll}. */
  public List<Optional<Item>> getAll(List<Key> keys) {
    return repeated(transaction -> {
      List<Optional<Item>> found = transaction.get(keys);
      transaction.commit(); // only now it is certain that all was of one moment
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

  /** At most twice as long after each attempt, up to a limit. */
  private void pause(int attempt) {
    long longest = Math.min(PAUSE_MAX.toNanos(), PAUSE_MIN.toNanos() << attempt);
    try {
      clock.sleep(Duration.ofNanos(random.nextLong(longest + 1)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotAppliedException(Reason.UNAVAILABLE, "interrupted between two attempts");
    }
  }
}
