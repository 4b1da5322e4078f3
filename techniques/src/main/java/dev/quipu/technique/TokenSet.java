package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.TechniqueSpec.Cost;
import dev.quipu.time.Randomness;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Counts each request exactly once, in one item, up to a fixed number of requests. Thread-safe.
 *
 * <pre>{@code
 * TOKEN SET
 *
 * Problem. Each request must count exactly once, on a store that cannot write two items atomically.
 *
 * Stored. One item holds the number, a set with the id of every request, and for each id a string
 * that describes the request. The set has a fixed number of slots.
 *
 * Protocol.
 *   1. In one atomic step, if the set does not contain the id and has a free slot, and the number
 *      stays within its bounds: add to the number, add the id to the set, and store the description
 *      of the request.
 *   2. If the set contains the id, examine the description.
 *      a. It describes the same request: the request was applied before. The add is replayed.
 *      b. It describes a different request: the result is a conflict, and nothing changes.
 *      c. It is a cancellation: the request is rejected permanently.
 *   3. If there is no free slot, the add fails: the counter is full. Reads still work.
 *   4. If the number would leave its bounds, the request is rejected, and takes no slot.
 *   5. If the outcome is unknown, go to 1 with the same id. If the add was applied, step 2a
 *      follows.
 *   To cancel a request, add its id to the set, described as a cancellation, if the set does not
 *   contain the id. A cancellation takes a slot too.
 *
 * Why it is correct. The number and the set of ids change atomically, and an id is never removed.
 *
 * Crash table.
 *   | crash            | stored             | a repeat                |
 *   | before 1 is sent | nothing            | counts exactly once     |
 *   | request 1 lost   | nothing            | counts exactly once     |
 *   | reply to 1 lost  | the add and its id | 2a: counts exactly once |
 *
 * Cost. An add takes one round trip and one write, and needs no other item. But the item grows by
 * about 120 bytes per request, and on stores that write whole items, or charge by their size, each
 * add costs as much as the whole item: with 1,000 slots, up to 120 KB. The technique suits counters
 * with a known, small number of requests, such as seats, votes of a committee, or players of a
 * game.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 7.
 * }</pre>
 */
public final class TokenSet extends OneItem implements AddPart.Shardable {
  /** The requirements, guarantees and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "token-set",
          "Number and request ids are one item; a repeat finds its id. Slots are limited.",
          "an add repeated under its id counts exactly once; the repeat is replayed",
          Set.of(Capability.STRONG_READ),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.IDEMPOTENT,
              Guarantee.BOUNDED,
              Guarantee.LINEARIZABLE_READ),
          new Cost(1, 1, 0),
          new Cost(1, 0, 0),
          "Implement resource counters with Amazon DynamoDB, method 7");

  /** Maximum number of slots of a counter. */
  public static final int SLOTS_MAX = 2_000;

  /** Default number of slots of a counter. */
  public static final int SLOTS = 1_000;

  private static final String REQUESTS = "requests";
  private static final String REQUEST = "request/";
  private static final String CANCELED = "cancel";
  private static final OptionalLong NO_VALUE = OptionalLong.empty();

  private final int slots;

  /**
   * Creates the technique with {@link #SLOTS} slots per counter.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public TokenSet(Store store) {
    this(store, Randomness.secure());
  }

  /** Creates the technique with the given source of randomness. */
  public TokenSet(Store store, RandomGenerator random) {
    this(store, random, SLOTS);
  }

  /**
   * Creates the technique with a fixed number of slots per counter; each request takes one
   * permanently.
   *
   * @param slots 1 to {@link #SLOTS_MAX}
   * @throws IllegalArgumentException if {@code slots} is out of range, or the store lacks a
   *     capability that {@link #SPEC} requires
   */
  public TokenSet(Store store, RandomGenerator random, int slots) {
    super(SPEC, store, random);
    if (slots < 1 || slots > SLOTS_MAX) {
      throw new IllegalArgumentException(
          "slots is %d; it must be from 1 to %d".formatted(slots, SLOTS_MAX));
    }
    this.slots = slots;
  }

  @Override
  public TechniqueSpec spec() {
    return SPEC;
  }

  @Override
  public AddResult add(Add add, AddPart part) {
    RequestId given = add.id();
    RequestId id = given == null ? RequestId.random(random) : given;
    if (part.isWhole()) {
      items.enlist(add.counter());
    }
    String call = Long.toHexString(random.nextLong());
    String text = add.delta() + " " + add.boundsMark() + " " + call;
    Write write =
        new Write.Update(
            part.value(),
            List.of(
                part.change(),
                new Change.AddToken(REQUESTS, id.bits()),
                new Change.Put(REQUEST + id.bits(), new Field.Text(text))),
            Condition.all(
                new Condition.Lacks(REQUESTS, id.bits()),
                new Condition.FewerThan(REQUESTS, slots),
                part.condition()));
    return IdempotentRetry.answer(
        store, "request " + id, () -> answer(add, id, text, part, part.write(store, write)));
  }

  private AddResult answer(Add add, RequestId id, String text, AddPart part, WriteResult result) {
    return switch (result) {
      case WriteResult.Applied applied ->
          new AddResult.Applied(add.delta(), part.valueAfter(applied));
      case WriteResult.ConditionFailed failed when !failed.key().equals(part.value()) ->
          part.rejected(add, failed.found());
      case WriteResult.ConditionFailed failed -> {
        Optional<String> stored = failed.found().flatMap(item -> item.text(REQUEST + id.bits()));
        if (stored.isPresent()) {
          yield known(add, text, stored.get());
        }
        if (failed.found().filter(item -> item.tokens(REQUESTS).size() >= slots).isPresent()) {
          throw full(add.counter());
        }
        yield part.rejected(add, failed.found());
      }
    };
  }

  private static AddResult known(Add add, String text, String stored) {
    if (stored.equals(CANCELED)) {
      return new AddResult.Rejected(Rejection.CANCELED);
    }
    if (stored.equals(text)) {
      return new AddResult.Applied(add.delta(), NO_VALUE); // of this call, whose reply was lost
    }
    boolean same = stored.startsWith(add.delta() + " " + add.boundsMark() + " ");
    return same
        ? new AddResult.Replayed(add.delta(), NO_VALUE)
        : new AddResult.Conflict(added(stored));
  }

  private static long added(String stored) {
    return Long.parseLong(stored.substring(0, stored.indexOf(' ')));
  }

  private QuipuException full(String counter) {
    return new NotAppliedException(
        Reason.FULL, "counter %s has used its %d slots".formatted(counter, slots));
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return outcome(store.get(CounterItems.valueKey(counter)), id);
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Key key = CounterItems.valueKey(counter);
    Write cancel =
        new Write.Update(
            key,
            List.of(
                new Change.AddToken(REQUESTS, id.bits()),
                new Change.Put(REQUEST + id.bits(), new Field.Text(CANCELED))),
            Condition.all(
                new Condition.Lacks(REQUESTS, id.bits()),
                new Condition.FewerThan(REQUESTS, slots)));
    return switch (store.write(cancel)) {
      case WriteResult.Applied applied -> new RequestOutcome.Canceled();
      case WriteResult.ConditionFailed failed -> {
        RequestOutcome known = outcome(failed.found(), id);
        if (known instanceof RequestOutcome.NotSeen) {
          throw full(counter);
        }
        yield known;
      }
    };
  }

  private static RequestOutcome outcome(Optional<Item> item, RequestId id) {
    Optional<String> stored = item.flatMap(each -> each.text(REQUEST + id.bits()));
    if (stored.isEmpty()) {
      return new RequestOutcome.NotSeen();
    }
    return stored.get().equals(CANCELED)
        ? new RequestOutcome.Canceled()
        : new RequestOutcome.Applied(added(stored.get()), NO_VALUE);
  }
}
