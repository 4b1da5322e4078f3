package dev.quipu.transaction;

import dev.quipu.HoldReading;
import dev.quipu.HoldReading.State;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** What is stored under an id of the namespace that transactions and holds share. */
sealed interface Stored {
  String PARTITION = "transaction/";
  String SORT = "request";
  String KIND = "kind";
  String CONTENT = "content";
  String CALL = "call";
  String PARTS = "parts";

  /** Returns the key derived from the 128 bits of the id. */
  static Key key(RequestId id) {
    return new Key(PARTITION + id.bits(), SORT);
  }

  /** Returns the condition that the id was not used before. */
  static Condition unused() {
    return new Condition.Absent();
  }

  /** A canceled transaction: it was not applied, and never will be. */
  record Canceled() implements Stored {
    static final String NAME = "canceled";

    static Write.Put put(RequestId id, Optional<Instant> expiry) {
      return new Write.Put(key(id), Map.of(KIND, new Field.Text(NAME)), expiry, unused());
    }
  }

  /**
   * An applied transaction.
   *
   * @param content digest of the request
   * @param call distinguishes the call that applied it from its repeats
   * @param parts with the values after it
   */
  record Committed(String content, String call, List<Part> parts) implements Stored {
    static final String NAME = "transaction";

    Write.Put put(RequestId id, Optional<Instant> expiry) {
      Map<String, Field> fields =
          Map.of(
              KIND, new Field.Text(NAME),
              CONTENT, new Field.Text(content),
              CALL, new Field.Text(call),
              PARTS, new Field.Text(Part.text(parts)));
      return new Write.Put(key(id), fields, expiry, unused());
    }
  }

  /**
   * A hold.
   *
   * @param content digest of the request
   * @param call distinguishes the call that placed it from its repeats
   * @param changedBy the same, of its last change
   * @param parts with what was kept, if it is settled
   */
  record Held(
      RequestId id,
      String content,
      String call,
      String changedBy,
      State state,
      boolean isLate,
      List<Part> parts,
      long expiresMillis,
      Late late,
      Excess excess,
      Version version)
      implements Stored {
    static final String NAME = "hold";
    private static final String CHANGED_BY = "by";
    private static final String STATE = "state";
    private static final String IS_LATE = "isLate";
    private static final String EXPIRES = "expires";
    private static final String LATE = "late";
    private static final String EXCESS = "excess";
    private static final Version NEVER_STORED = new Version("");

    static Held placed(HoldRequest request, String content, String call, long expiresMillis) {
      return new Held(
          request.id(),
          content,
          call,
          call,
          State.OPEN,
          false,
          request.adds().stream().map(Part::of).toList(),
          expiresMillis,
          request.late(),
          request.excess(),
          NEVER_STORED);
    }

    private static Held of(RequestId id, Item item) {
      return new Held(
          id,
          text(item, CONTENT),
          text(item, CALL),
          text(item, CHANGED_BY),
          State.valueOf(text(item, STATE)),
          item.number(IS_LATE) != 0,
          Part.parsed(text(item, PARTS)),
          item.number(EXPIRES),
          Late.valueOf(text(item, LATE)),
          Excess.valueOf(text(item, EXCESS)),
          item.version());
    }

    /** Returns the hold after it has ended. */
    Held ended(State next, List<Part> kept, String by) {
      boolean late = state == State.EXPIRED;
      return new Held(
          id, content, call, by, next, late, kept, expiresMillis, this.late, excess, version);
    }

    /** Returns the hold with another expiry. */
    Held extended(long untilMillis, String by) {
      return new Held(
          id, content, call, by, state, isLate, parts, untilMillis, late, excess, version);
    }

    Write.Put put(Condition condition, Optional<Instant> expiry) {
      Map<String, Field> fields = new HashMap<>();
      fields.put(KIND, new Field.Text(NAME));
      fields.put(CONTENT, new Field.Text(content));
      fields.put(CALL, new Field.Text(call));
      fields.put(CHANGED_BY, new Field.Text(changedBy));
      fields.put(STATE, new Field.Text(state.name()));
      fields.put(IS_LATE, new Field.Number(isLate ? 1 : 0));
      fields.put(PARTS, new Field.Text(Part.text(parts)));
      fields.put(EXPIRES, new Field.Number(expiresMillis));
      fields.put(LATE, new Field.Text(late.name()));
      fields.put(EXCESS, new Field.Text(excess.name()));
      return new Write.Put(key(id), fields, expiry, condition);
    }

    /** Returns the condition that nothing has changed the hold: the fence of all its steps. */
    Condition unchanged() {
      return new Condition.VersionIs(version);
    }

    /** Returns whether a settlement kept exactly this. */
    boolean kept(long[] deltas) {
      return Arrays.equals(parts.stream().mapToLong(Part::result).toArray(), deltas);
    }

    boolean isOpen() {
      return state == State.OPEN;
    }

    /** Returns whether it is open, and its time to live has ended. */
    boolean isDue(Instant now) {
      return isOpen() && expiresMillis <= now.toEpochMilli();
    }

    HoldReading reading() {
      return new HoldReading(
          id,
          state,
          parts.stream()
              .map(part ->
                  new HoldReading.Part(
                      part.counter(),
                      part.delta(),
                      state == State.SETTLED
                          ? OptionalLong.of(part.result())
                          : OptionalLong.empty()))
              .toList(),
          Instant.ofEpochMilli(expiresMillis),
          isLate);
    }
  }

  /** Returns what an item holds. */
  static Stored of(RequestId id, Item item) {
    String kind = text(item, KIND);
    return switch (kind) {
      case Canceled.NAME -> new Canceled();
      case Committed.NAME ->
          new Committed(text(item, CONTENT), text(item, CALL), Part.parsed(text(item, PARTS)));
      case Held.NAME -> Held.of(id, item);
      default -> throw corrupt(item, "kind " + kind);
    };
  }

  /** Returns the hold in an item; empty if it holds something else. */
  static Optional<Held> held(RequestId id, Item item) {
    return of(id, item) instanceof Held hold ? Optional.of(hold) : Optional.empty();
  }

  private static String text(Item item, String field) {
    return item.text(field).orElseThrow(() -> corrupt(item, "no field " + field));
  }

  private static NotAppliedException corrupt(Item item, String what) {
    return new NotAppliedException(
        Reason.CORRUPT, "%s/%s has %s".formatted(item.key().partition(), item.key().sort(), what));
  }
}
