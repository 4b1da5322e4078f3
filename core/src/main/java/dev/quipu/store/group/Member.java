package dev.quipu.store.group;

import dev.quipu.Limits;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An add that can join a group, or a batch of a new item and such an add.
 *
 * @param writes as the caller passed them
 * @param key of the number
 * @param marker the new item, such as the marker of the request
 */
public record Member(List<Write> writes, Key key, Sum sum, Optional<Write.Put> marker) {
  /** Returns the member for these writes; empty if they cannot join a group. */
  public static Optional<Member> of(List<Write> writes) {
    Write last = writes.getLast();
    if (writes.size() > 2 || (writes.size() == 2 && !isMarker(writes.getFirst()))) {
      return Optional.empty();
    }
    Optional<Write.Put> marker =
        writes.size() == 2 && writes.getFirst() instanceof Write.Put put
            ? Optional.of(put)
            : Optional.empty();
    return Sum.of(last).map(sum -> new Member(writes, last.key(), sum, marker));
  }

  private static boolean isMarker(Write write) {
    return write instanceof Write.Put put && put.condition() instanceof Condition.Absent;
  }

  /** Returns the key of the marker. */
  public Optional<Key> markerKey() {
    return marker.map(Write::key);
  }

  /** Returns whether it has no marker, or one in this set. */
  boolean isIn(Set<Key> stored) {
    return marker.isEmpty() || stored.contains(marker.get().key());
  }

  /** Returns the size of the marker, in bytes; 0 if there is none. */
  long bytes() {
    if (marker.isEmpty()) {
      return 0;
    }
    Key place = marker.get().key();
    long bytes = Limits.utf8Length(place.sort());
    bytes += Limits.utf8Length(place.partition());
    for (Map.Entry<String, Field> field : marker.get().fields().entrySet()) { // no stream: hot path
      bytes += Limits.utf8Length(field.getKey());
      bytes +=
          switch (field.getValue()) {
            case Field.Number number -> 8;
            case Field.Text text -> Limits.utf8Length(text.value());
            case Field.Tokens tokens ->
                tokens.values().stream().mapToLong(Limits::utf8Length).sum();
          };
    }
    return bytes;
  }
}
