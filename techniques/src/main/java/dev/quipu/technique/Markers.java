package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Limits;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Items that describe the requests of a counter, for {@link MarkerItem} and {@link ItemCollection}.
 * A cancellation is one that adds nothing.
 *
 * <p>Stored: in the partition of the counter, {@code PREFIX} and the 128 bits of the id; {@code
 * added}, {@code bounds}, and {@code call}, which distinguishes a lost write of this call from one
 * of an earlier call.
 */
public final class Markers {
  public static final String ADDED = "added";
  private static final String BOUNDS = "bounds";
  public static final String CALL = "call";
  private static final String REASON = "reason";
  private static final String ATTRIBUTE = "attribute/";
  private static final OptionalLong NO_VALUE = OptionalLong.empty();

  private final Store store;
  private final String prefix;
  private final Optional<String> apart;

  public Markers(Store store, String prefix) {
    this(store, prefix, Optional.empty());
  }

  /**
   * Creates markers, each in a partition of its own.
   *
   * @param apart the start of the names of these partitions; empty for the partition of the counter
   */
  Markers(Store store, String prefix, Optional<String> apart) {
    this.store = store;
    this.prefix = prefix;
    this.apart = apart;
  }

  /**
   * Returns the key derived from the 128 bits of the id, not from its text: ids with different
   * texts may be equal.
   */
  public Key key(String counter, RequestId id) {
    return apart
        .map(start -> new Key(start + id.bits() + "/" + counter, prefix + id.bits()))
        .orElseGet(() -> new Key(CounterItems.partition(counter), prefix + id.bits()));
  }

  /**
   * Returns the write that stores the marker of an add, if there is none, with additional fields.
   */
  public Write put(
      Add add, RequestId id, String call, Map<String, Field> more, Optional<Instant> expiry) {
    return put(key(add.counter(), id), add, call, more, expiry);
  }

  /** The same, wherever the technique keeps it. */
  public static Write put(
      Key key, Add add, String call, Map<String, Field> more, Optional<Instant> expiry) {
    Map<String, Field> fields = new HashMap<>(more);
    fields.put(ADDED, new Field.Number(add.delta()));
    fields.put(BOUNDS, new Field.Number(add.boundsMark()));
    fields.put(CALL, new Field.Text(call));
    return new Write.Put(key, fields, expiry, new Condition.Absent());
  }

  /**
   * Returns the field with the reason of an add.
   *
   * @throws IllegalArgumentException if it is outside the limits
   */
  public static Map<String, Field> why(String reason) {
    Limits.checkText("reason", reason, Limits.REASON_BYTES_MAX);
    return Map.of(REASON, new Field.Text(reason));
  }

  /** Returns the fields with the attributes of an add, which are checked. */
  static Map<String, Field> fields(Map<String, String> attributes) {
    Attributed.check(attributes);
    Map<String, Field> fields = new HashMap<>();
    attributes.forEach((name, value) -> fields.put(ATTRIBUTE + name, new Field.Text(value)));
    return fields;
  }

  /** Returns the attributes of a request, ordered by name; empty if it was not applied. */
  Map<String, String> attributes(String counter, RequestId id) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return store.get(key(counter, id)).map(Markers::attributes).orElse(Map.of());
  }

  static Map<String, String> attributes(Item marker) {
    Map<String, String> attributes = new TreeMap<>();
    for (String name : marker.fields().keySet()) {
      if (name.startsWith(ATTRIBUTE)) {
        marker
            .text(name)
            .ifPresent(text -> attributes.put(name.substring(ATTRIBUTE.length()), text));
      }
    }
    return attributes;
  }

  public static Optional<String> reason(Item marker) {
    return marker.text(REASON);
  }

  public Optional<String> reason(String counter, RequestId id) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return store.get(key(counter, id)).flatMap(Markers::reason);
  }

  /** Returns an additional number field; empty if there is no marker. */
  public OptionalLong number(String counter, RequestId id, String field) {
    return store
        .get(key(counter, id))
        .map(marker -> OptionalLong.of(marker.number(field)))
        .orElse(OptionalLong.empty());
  }

  /** Returns the answer to an add under whose id a marker exists. */
  public static AddResult answer(Add add, Item marker, String call) {
    long added = marker.number(ADDED);
    if (added == 0) {
      return new AddResult.Rejected(Rejection.CANCELED);
    }
    if (added != add.delta() || marker.number(BOUNDS) != add.boundsMark()) {
      return new AddResult.Conflict(added);
    }
    return marker.text(CALL).equals(Optional.of(call))
        ? new AddResult.Applied(added, NO_VALUE)
        : new AddResult.Replayed(added, NO_VALUE);
  }

  public RequestOutcome outcome(String counter, RequestId id) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return store.get(key(counter, id)).map(Markers::outcome).orElse(new RequestOutcome.NotSeen());
  }

  public RequestOutcome cancel(String counter, RequestId id, Optional<Instant> expiry) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return cancel(store, key(counter, id), expiry);
  }

  /** Stores a cancellation, if there is no marker. */
  public static RequestOutcome cancel(Store store, Key key, Optional<Instant> expiry) {
    Write cancel =
        new Write.Put(key, Map.of(ADDED, new Field.Number(0)), expiry, new Condition.Absent());
    return switch (store.write(cancel)) {
      case WriteResult.Applied applied -> new RequestOutcome.Canceled();
      case WriteResult.ConditionFailed failed -> outcome(failed.found().orElseThrow());
    };
  }

  public static RequestOutcome outcome(Item marker) {
    long added = marker.number(ADDED);
    return added == 0 ? new RequestOutcome.Canceled() : new RequestOutcome.Applied(added, NO_VALUE);
  }
}
