package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Guarantee;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.TechniqueSpec.Cost;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Counts each request exactly once, however often it is repeated. Thread-safe.
 *
 * <pre>{@code
 * TRANSACTION WITH A MARKER ITEM
 *
 * Problem. After a lost reply it is unknown whether an add was applied; and a queue may deliver the
 * same add twice.
 *
 * Stored. The partition of the counter holds its number and one marker per request, which describes
 * the request, and may have attributes, such as those of an order. Both are in one partition, so
 * that transactions within a partition suffice. On a store with transactions over all items, each
 * marker may be in a partition of its own instead, of the same table or of another one, so that the
 * partition of a hot counter takes one write per add instead of two.
 *
 * Protocol.
 *   1. In one transaction, store the marker if it does not exist, and add to the number if the
 *      number stays within its bounds.
 *   2. If the marker exists, examine it.
 *      a. It describes the same request: the request was applied before. The add is replayed.
 *      b. It describes a different request: the result is a conflict, and nothing changes.
 *      c. It is a cancellation: the request is rejected permanently.
 *   3. If the number would leave its bounds, the request is rejected. No marker is stored, so the
 *      same request may be applied later.
 *   4. If the outcome is unknown, go to 1 with the same marker. If the transaction was applied,
 *      step 2a follows; the marker holds a random id of this call, which distinguishes the call's
 *      own lost write from that of an earlier call.
 *   To cancel a request, store a marker that is a cancellation, if no marker exists.
 *
 * Why it is correct. The number and the markers change atomically, so the number is always the sum
 * of the amounts in the markers, and each request has at most one marker.
 *
 * Crash table.
 *   | crash            | stored            | a repeat                |
 *   | before 1 is sent | nothing           | counts exactly once     |
 *   | request 1 lost   | nothing           | counts exactly once     |
 *   | reply to 1 lost  | number and marker | 2a: counts exactly once |
 *   A rejection that follows an unknown outcome is itself unknown, since the delayed request may
 *   still arrive and be applied. Cancel the request to be sure that it never applies.
 *
 * On a store that returns the items after a batch, the result includes the value right after the
 * add, unless a lost reply was resolved by the marker.
 *
 * Cost. An add takes one round trip and two writes. It leaves one item, which is kept forever or
 * until it expires. A repeat after its marker has expired counts again.
 *
 * Sources. "Implement resource counters with Amazon DynamoDB", method 5; "Implementing accurate
 * counters in DynamoDB using Python".
 * }</pre>
 */
public final class MarkerItem extends OneItem implements AddPart.Shardable, Attributed {
  /**
   * The requirements, guarantees and costs, if markers are kept forever. With {@link
   * Capability#BATCH_RETURNS} it also guarantees {@link Guarantee#ADD_AND_GET}.
   */
  public static final TechniqueSpec SPEC = spec(Guarantee.IDEMPOTENT);

  private static final TechniqueSpec SPEC_EXPIRING = spec(Guarantee.IDEMPOTENT_WITHIN_WINDOW);
  private static final String MARKER = "request/";

  /** The placement of each marker in a partition of its own. */
  public static final String OWN_PARTITION = "partition";

  /** The placement of markers in another table, whose name follows; on DynamoDB. */
  public static final String TABLE = "table:";

  private final Markers markers;
  private final Optional<Duration> keep;
  private final TechniqueSpec spec;

  /**
   * Creates the technique with markers that are kept forever.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public MarkerItem(Store store) {
    this(store, Randomness.secure());
  }

  /** Creates the technique with the given source of randomness. */
  public MarkerItem(Store store, RandomGenerator random) {
    this(store, random, Optional.empty());
  }

  /**
   * Creates the technique with markers that are kept for {@code keep}.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public MarkerItem(Store store, Duration keep) {
    this(store, Randomness.secure(), Optional.of(keep));
  }

  /** Creates the technique; markers are kept forever if {@code keep} is empty. */
  public MarkerItem(Store store, RandomGenerator random, Optional<Duration> keep) {
    this(store, random, keep, Optional.empty());
  }

  /**
   * Creates the technique with markers outside of the partition of the counter.
   *
   * @param placement {@link #OWN_PARTITION}, or {@link #TABLE} and the name of a table; empty for
   *     the partition of the counter. All processes on a store must have the same.
   * @throws IllegalArgumentException if the placement is another text, or the store does not
   *     support it
   */
  public MarkerItem(
      Store store, RandomGenerator random, Optional<Duration> keep, Optional<String> placement) {
    super(placement.isEmpty() ? SPEC : SPEC.over(Atomicity.STORE), store, random);
    this.markers = new Markers(store, MARKER, placement.map(MarkerItem::partitions));
    this.keep = keep;
    TechniqueSpec common = keep.isEmpty() ? SPEC : SPEC_EXPIRING;
    TechniqueSpec kept = placement.isEmpty() ? common : common.over(Atomicity.STORE);
    this.spec =
        store.profile().has(Capability.BATCH_RETURNS)
            ? kept.promisingAlso(Guarantee.ADD_AND_GET)
            : kept;
  }

  private static String partitions(String placement) {
    if (placement.equals(OWN_PARTITION)) {
      return "markers/";
    }
    if (placement.startsWith(TABLE) && placement.matches("table:[A-Za-z0-9_.-]{3,255}")) {
      return Key.inTable(placement.substring(TABLE.length()));
    }
    throw new IllegalArgumentException(
        "markers is '%s'; it must be partition, or table: and 3 to 255 letters, digits or _.-"
            .formatted(placement));
  }

  private static TechniqueSpec spec(Guarantee idempotence) {
    return new TechniqueSpec(
        "marker-item",
        "Number and marker change in one transaction; a repeat finds the marker.",
        "an add repeated under its id counts exactly once; the repeat is replayed",
        Set.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE, Capability.ATOMIC_BATCH),
        Atomicity.PARTITION,
        Set.of(Guarantee.AT_MOST_ONCE, idempotence, Guarantee.BOUNDED, Guarantee.LINEARIZABLE_READ),
        new Cost(1, 2, 1),
        new Cost(1, 0, 0),
        "Implement resource counters with Amazon DynamoDB, method 5");
  }

  @Override
  public TechniqueSpec spec() {
    return spec;
  }

  @Override
  public AddResult add(Add add, AddPart part) {
    return add(add, part, Map.of());
  }

  /** Returns how long request ids are remembered; empty for forever. */
  public Optional<Duration> retention() {
    return keep;
  }

  @Override
  public boolean keepsIdsApart() {
    return true;
  }

  /**
   * Adds exactly once, and stores the reason in the marker: the order, the customer, the message.
   *
   * @param reason 1 to {@link dev.quipu.Limits#REASON_BYTES_MAX} bytes of UTF-8; a repeat keeps the
   *     first
   */
  public AddResult add(Add add, String reason) {
    return add(add, AddPart.whole(add), Markers.why(reason));
  }

  @Override
  public AddResult add(Add add, Map<String, String> attributes) {
    return add(add, AddPart.whole(add), Markers.fields(attributes));
  }

  @Override
  public Map<String, String> attributes(String counter, RequestId id) {
    return markers.attributes(counter, id);
  }

  /** Returns the reason of a request, if it was applied and had one. */
  public Optional<String> reason(String counter, RequestId id) {
    return markers.reason(counter, id);
  }

  private AddResult add(Add add, AddPart part, Map<String, Field> more) {
    RequestId given = add.id();
    RequestId id = given == null ? RequestId.random(random) : given;
    if (part.isWhole()) {
      items.enlist(add.counter());
    }
    String call = RequestId.random(random).text();
    Write own = new Write.Update(part.value(), List.of(part.change()), part.condition());
    List<Write> batch = part.with(List.of(markers.put(add, id, call, more, expiry()), own));
    Key marker = markers.key(add.counter(), id);
    return IdempotentRetry.answer(
        store, "request " + id, () -> answer(add, part, marker, call, store.writeAll(batch, null)));
  }

  private static AddResult answer(
      Add add, AddPart part, Key markerKey, String call, WriteResult result) {
    return switch (result) {
      case WriteResult.Applied applied ->
          new AddResult.Applied(add.delta(), part.valueAfter(applied));
      case WriteResult.ConditionFailed failed when failed.key().equals(markerKey) ->
          Markers.answer(add, failed.found().orElseThrow(), call);
      case WriteResult.ConditionFailed failed -> part.rejected(add, failed.found());
    };
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    return markers.outcome(counter, id);
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    return markers.cancel(counter, id, expiry());
  }

  private Optional<Instant> expiry() {
    return keep.map(time -> store.now().plus(time));
  }
}
