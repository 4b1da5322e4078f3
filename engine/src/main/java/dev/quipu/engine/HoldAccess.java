package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.Limits;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionResult;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.log.HoldRecord;
import dev.quipu.engine.log.TransactionRecord;
import dev.quipu.engine.log.TransactionRecord.Kind;
import dev.quipu.engine.state.HoldTable;
import dev.quipu.engine.state.OpenHold;
import dev.quipu.engine.state.TransactionIds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Holds while an {@link Operation} runs; see {@link Holds}. All changes of one call are in one
 * frame of the log, whose time decides about expiry. Checks everything first: an exception means
 * that nothing has changed.
 *
 * <p>A counter that is removed, expires or becomes a text takes with it what holds reserve on it:
 * they have no effect on a later counter of that name.
 */
public final class HoldAccess {
  /** How long an expired hold waits whose return would exceed 64 bits. */
  private static final long POSTPONED_MILLIS = 60_000;

  private final CounterAccess access;
  private final TransactionAccess transactions;
  private final dev.quipu.engine.state.State state;
  private final Group group;

  /** Creates the access of an operation. */
  public HoldAccess(CounterAccess access) {
    this.access = access;
    this.transactions = new TransactionAccess(access);
    this.state = access.state;
    this.group = access.group;
  }

  /** Returns an upper bound of the log bytes that {@link #place} writes. */
  public static int bytesMax(HoldRequest request) {
    int names = TransactionAccess.namesLength(request.adds());
    return TransactionAccess.bytesMax(request.adds())
        + HoldRecord.bytesMax(request.adds().size(), names);
  }

  /** Returns an upper bound of the log bytes that ending or extending a hold writes. */
  public int bytesMax(RequestId id) {
    HoldRecord open = openHold(id);
    if (open != null) {
      return bytesMax(open);
    }
    long[] marker = transactions.marker(id);
    TransactionRecord ended = marker == null ? null : transactions.recordOf(marker);
    if (ended == null) {
      return 0;
    }
    int parts = ended.parts().size();
    int names =
        ended.parts().stream().mapToInt(part -> state.nameOf(part.ordinal()).length()).sum();
    return CounterAccess.bytesMax(parts, names) + TransactionRecord.bytesMax(parts);
  }

  private int bytesMax(HoldRecord open) {
    return isDue(open)
        ? 2 * endBytesMax(open) // it expires, and is settled late
        : endBytesMax(open) + HoldRecord.bytesMax(open.parts().size(), open.namesLength());
  }

  private static int endBytesMax(HoldRecord open) {
    int parts = open.parts().size();
    return CounterAccess.bytesMax(parts, open.namesLength()) + TransactionRecord.bytesMax(parts);
  }

  /** Places a hold; see {@link Holds#place}. */
  public HoldResult place(HoldRequest request) {
    RequestId id = request.id();
    HoldRecord open = openHold(id);
    if (open != null) {
      return isSame(open, request)
          ? new HoldResult.Done(reading(open), true)
          : new HoldResult.Conflict();
    }
    long[] marker = transactions.marker(id);
    if (marker != null) {
      return repeated(marker, request);
    }
    int[] ordinals = new int[request.adds().size()];
    List<Add> adds = transactions.inUnits(request.adds(), ordinals);
    TransactionResult.Rejected rejected = transactions.firstRejected(adds, ordinals);
    if (rejected != null) {
      return rejected(rejected);
    }
    for (int i = 0; i < ordinals.length; i++) {
      Add add = adds.get(i);
      long held = access.isAlive(ordinals[i]) ? state.holds.held(ordinals[i]) : 0;
      if (Rejection.of(held, add.delta(), Bounds.none()) != null) {
        int scale = access.scale(ordinals[i], add.counter());
        return new HoldResult.Rejected(
            add.counter(), Rejection.OVERFLOW, access.get(add.counter()), scale);
      }
    }
    state.requireMemory(HoldTable.memoryBytes(adds.size()));
    transactions.requireRoom(adds, ordinals);
    List<HoldRecord.Part> parts = new ArrayList<>(adds.size());
    for (int i = 0; i < ordinals.length; i++) {
      Add add = adds.get(i);
      int ordinal = transactions.apply(ordinals[i], add.counter(), add.delta());
      parts.add(HoldRecord.Part.of(add, ordinal, state.counters.scale(ordinal)));
    }
    HoldRecord hold =
        new HoldRecord(
            id.high(),
            id.low(),
            contents(request, adds),
            access.nowMillis() + request.ttl().toMillis(),
            HoldRecord.policies(request),
            List.copyOf(parts));
    store(hold);
    state.endChange();
    return new HoldResult.Done(HoldReadings.open(hold), false);
  }

  private static HoldResult rejected(TransactionResult.Rejected why) {
    return new HoldResult.Rejected(why.counter(), why.why(), why.valueIfKnown(), why.scale());
  }

  private void store(HoldRecord hold) {
    state.holds.put(hold);
    group.hold(hold);
  }

  /**
   * Returns a hash of all but the counters and deltas.
   *
   * @param adds those of the request, in units of their counters
   */
  private static long contents(HoldRequest request, List<Add> adds) {
    long mark = TransactionAccess.boundsMark(adds);
    return (mark * 0x9E3779B97F4A7C15L + request.ttl().toMillis()) * 31
        + HoldRecord.policies(request);
  }

  private static boolean isSame(HoldRecord hold, HoldRequest request) {
    List<HoldRecord.Part> parts = hold.parts();
    List<Add> adds =
        TransactionAccess.converted(
            request.adds(), parts.stream().map(HoldRecord.Part::scale).toList());
    boolean isSame = adds != null && hold.contents() == contents(request, adds);
    for (int i = 0; isSame && i < parts.size(); i++) {
      Add add = Objects.requireNonNull(adds).get(i);
      isSame = parts.get(i).counter().equals(add.counter()) && parts.get(i).delta() == add.delta();
    }
    return isSame;
  }

  private HoldResult repeated(long[] marker, HoldRequest request) {
    if (TransactionIds.isCanceled(marker)) {
      return new HoldResult.Rejected("", Rejection.CANCELED, OptionalLong.empty());
    }
    TransactionRecord ended = transactions.recordOf(marker);
    return ended != null
            && ended.kind() != Kind.TRANSACTION
            && transactions.isSame(ended, request.adds(), adds -> contents(request, adds))
        ? new HoldResult.Done(reading(ended), true)
        : new HoldResult.Conflict();
  }

  /** Keeps what was used; see {@link Holds#settle}. */
  public HoldResult settle(RequestId id, Settlement settlement) {
    HoldRecord open = openHold(id);
    if (open != null) {
      long[] kept = settlement.deltasFor(reading(open)); // throws before anything changes
      HoldRecord still = stillOpen(open);
      if (still != null) {
        return settleOpen(still, kept);
      }
    }
    TransactionRecord ended = ended(id);
    if (ended == null) {
      return new HoldResult.NotFound();
    }
    long[] kept = settlement.deltasFor(reading(ended));
    return switch (ended.kind()) {
      case SETTLED, SETTLED_LATE -> settledAgain(ended, kept);
      case EXPIRED ->
          ended.hasBounds() ? settleLate(ended, kept) : new HoldResult.Closed(reading(ended));
      case RELEASED, TRANSACTION -> new HoldResult.Closed(reading(ended));
    };
  }

  private HoldResult settledAgain(TransactionRecord ended, long[] kept) {
    long[] before = ended.parts().stream().mapToLong(TransactionRecord.Part::kept).toArray();
    return Arrays.equals(before, kept)
        ? new HoldResult.Done(reading(ended), true)
        : new HoldResult.Closed(reading(ended));
  }

  private HoldResult settleOpen(HoldRecord hold, long[] kept) {
    for (int i = 0; i < kept.length; i++) {
      HoldRecord.Part part = hold.parts().get(i);
      if (Settlement.exceeds(kept[i], part.delta()) && !hold.has(HoldRecord.EXCESS_ALLOW)) {
        return new HoldResult.Exceeded(part.counter(), part.delta(), part.scale());
      }
    }
    return ended(hold, Kind.SETTLED, kept);
  }

  /** Ends an open hold, unless its rest cannot be returned, or a bound rejects its excess. */
  private HoldResult ended(HoldRecord open, Kind kind, long[] kept) {
    int[] ordinals = effective(open);
    HoldResult.Rejected rejected = firstRejected(open, ordinals, kept);
    return rejected == null
        ? new HoldResult.Done(reading(end(open, ordinals, kind, kept)), false)
        : rejected;
  }

  /** Returns the counters on which an open hold still reserves something; -1 for the others. */
  private int[] effective(HoldRecord open) {
    int[] ordinals = new int[open.parts().size()];
    for (int i = 0; i < ordinals.length; i++) {
      HoldRecord.Part part = open.parts().get(i);
      int ordinal = part.isVoid() ? -1 : state.counters.find(part.counter());
      ordinals[i] = ordinal == part.ordinal() && access.isAlive(ordinal) ? ordinal : -1;
    }
    return ordinals;
  }

  /** Returns the first part whose rest cannot be returned, or whose excess a bound rejects. */
  private HoldResult.@Nullable Rejected firstRejected(
      HoldRecord open, int[] ordinals, long[] kept) {
    for (int i = 0; i < kept.length; i++) {
      HoldRecord.Part part = open.parts().get(i);
      if (ordinals[i] >= 0) {
        long value = state.counters.value(ordinals[i]);
        Rejection why = rejection(value, part, kept[i]);
        if (why != null) {
          return new HoldResult.Rejected(part.counter(), why, OptionalLong.of(value), part.scale());
        }
      }
    }
    return null;
  }

  private static @Nullable Rejection rejection(long value, HoldRecord.Part part, long kept) {
    if (part.delta() == Long.MIN_VALUE && kept == 0) { // the rest is not a long
      return value < 0 ? null : Rejection.OVERFLOW;
    }
    Bounds bounds =
        Settlement.exceeds(kept, part.delta())
            ? Bounds.between(part.floor(), part.ceiling())
            : Bounds.none(); // a rest can always be returned
    return Rejection.of(value, kept - part.delta(), bounds);
  }

  /** Ends an open hold. The caller has checked that nothing overflows. */
  private TransactionRecord end(HoldRecord open, int[] ordinals, Kind kind, long[] kept) {
    List<HoldRecord.Part> parts = open.parts();
    List<String> others = new ArrayList<>(); // whose counters were removed
    for (int i = 0; i < ordinals.length; i++) {
      if (ordinals[i] < 0) {
        others.add(parts.get(i).counter());
      }
    }
    access.requireRoom(others);
    state.beginChange();
    List<TransactionRecord.Part> ended = new ArrayList<>(parts.size());
    // What an open hold reserves ends with its counter, so nothing may be settled late either.
    HoldRecord hold = others.isEmpty() ? open : open.withoutLateSettlement();
    boolean hasBounds = hold.has(HoldRecord.LATE_APPLY);
    for (int i = 0; i < parts.size(); i++) {
      HoldRecord.Part part = parts.get(i);
      int ordinal = ordinals[i] >= 0 ? ordinals[i] : rememberedOrdinal(part.counter());
      if (ordinals[i] >= 0 && kept[i] != part.delta()) {
        var unused = transactions.apply(ordinal, part.counter(), kept[i] - part.delta());
      }
      ended.add(
          new TransactionRecord.Part(
              ordinal,
              part.delta(),
              kept[i],
              hasBounds ? part.floor() : 0,
              hasBounds ? part.ceiling() : 0,
              part.scale()));
    }
    TransactionRecord record = hold.ended(kind, List.copyOf(ended));
    transactions.remember(record);
    state.endChange();
    return record;
  }

  /** Returns the ordinal of a counter; of one that was removed, as for a canceled add. */
  private int rememberedOrdinal(String counter) {
    int ordinal = state.counters.find(counter);
    if (ordinal < 0) {
      ordinal = access.writable(ordinal, counter);
      state.counters.markIds(ordinal, state.ids.epoch());
      state.tombstones.add(ordinal);
    }
    return ordinal;
  }

  /** Adds what was used after the expiry: like an add, to the counter that has the name now. */
  private HoldResult settleLate(TransactionRecord ended, long[] kept) {
    List<Add> adds = new ArrayList<>();
    List<TransactionRecord.Part> parts = new ArrayList<>(kept.length);
    for (int i = 0; i < kept.length; i++) {
      TransactionRecord.Part part = ended.parts().get(i);
      String counter = state.nameOf(part.ordinal());
      if (Settlement.exceeds(kept[i], part.delta())
          && (ended.policies() & HoldRecord.EXCESS_ALLOW) == 0) {
        return new HoldResult.Exceeded(counter, part.delta(), part.scale());
      }
      if (counter.isEmpty()
          || access.text(counter) != null
          || !access.isAlive(part.ordinal())
          || access.scale(counter) != part.scale()) {
        // It is lost, or was removed, or is another kind of counter now.
        return new HoldResult.Closed(reading(ended));
      }
      if (kept[i] != 0) {
        adds.add(new Add(counter, kept[i], Bounds.between(part.floor(), part.ceiling()), null));
      }
      parts.add(
          new TransactionRecord.Part(
              part.ordinal(), part.delta(), kept[i], part.floor(), part.ceiling(), part.scale()));
    }
    int[] ordinals = new int[adds.size()];
    adds = transactions.inUnits(adds, ordinals);
    TransactionResult.Rejected rejected = transactions.firstRejected(adds, ordinals);
    if (rejected != null) {
      return rejected(rejected);
    }
    transactions.requireRoom(adds, ordinals);
    state.beginChange();
    for (int i = 0; i < ordinals.length; i++) {
      Add add = adds.get(i);
      var unused = transactions.apply(ordinals[i], add.counter(), add.delta());
    }
    TransactionRecord settled =
        new TransactionRecord(
            ended.high(),
            ended.low(),
            Kind.SETTLED_LATE,
            ended.policies(),
            ended.contents(),
            ended.expiresMillis(),
            List.copyOf(parts));
    transactions.remember(settled);
    state.endChange();
    return new HoldResult.Done(reading(settled), false);
  }

  /** Returns everything; see {@link Holds#release}. */
  public HoldResult release(RequestId id) {
    HoldRecord still = stillOpen(openHold(id));
    if (still != null) {
      return ended(still, Kind.RELEASED, new long[still.parts().size()]);
    }
    TransactionRecord ended = ended(id);
    if (ended == null) {
      return new HoldResult.NotFound();
    }
    return ended.kind() == Kind.RELEASED
        ? new HoldResult.Done(reading(ended), true)
        : new HoldResult.Closed(reading(ended));
  }

  /** Sets the expiry to this time from now; see {@link Holds#extend}. */
  public HoldResult extend(RequestId id, Duration ttl) {
    long millis = HoldRequest.checkTtl(ttl).toMillis();
    HoldRecord still = stillOpen(openHold(id));
    if (still != null) {
      HoldRecord extended = still.expiring(access.nowMillis() + millis);
      group.requireWritable();
      state.beginChange();
      store(extended);
      state.endChange();
      return new HoldResult.Done(HoldReadings.open(extended), false);
    }
    TransactionRecord ended = ended(id);
    return ended == null ? new HoldResult.NotFound() : new HoldResult.Closed(reading(ended));
  }

  private boolean isDue(HoldRecord hold) {
    return hold.expiresMillis() <= access.nowMillis();
  }

  /** Ends a hold that is due; returns the others, and one whose expiry had to be postponed. */
  private @Nullable HoldRecord stillOpen(@Nullable HoldRecord open) {
    if (open == null || !isDue(open)) {
      return open;
    }
    return hasExpired(open) ? null : openHold(RequestId.of(open.high(), open.low()));
  }

  /** Ends a hold that is due, or postpones its expiry; returns whether it has ended. */
  private boolean hasExpired(HoldRecord open) {
    if (ended(open, Kind.EXPIRED, new long[open.parts().size()]) instanceof HoldResult.Done) {
      return true;
    }
    // The value would exceed 64 bits: tried again later, so that nothing is lost.
    group.requireWritable();
    state.beginChange();
    store(open.expiring(access.nowMillis() + POSTPONED_MILLIS));
    state.endChange();
    return false;
  }

  /** Returns an upper bound of the log bytes that {@link #expireNext} writes. */
  int expireBytesMax() {
    HoldRecord due = nextDue();
    return due == null ? 0 : endBytesMax(due);
  }

  /** Ends the hold that is due next; returns whether there was one. */
  boolean expireNext() {
    HoldRecord due = nextDue();
    if (due != null) {
      var unused = hasExpired(due);
    }
    return due != null;
  }

  private @Nullable HoldRecord nextDue() {
    OpenHold first = state.holds.first();
    return first == null || first.expiresMillis() > access.nowMillis() ? null : first.current();
  }

  /** Returns a hold; see {@link Holds#find}. */
  public Optional<HoldReading> find(RequestId id) {
    HoldRecord open = openHold(id);
    return open != null
        ? Optional.of(reading(open))
        : Optional.ofNullable(ended(id)).map(this::reading);
  }

  /** Returns the open holds on a counter; see {@link Holds#list}. */
  public List<HoldReading> list(String counter, @Nullable RequestId after, int limit) {
    Limits.checkPage(limit, Holds.PAGE_HOLDS_MAX);
    int ordinal = state.counters.find(counter);
    return access.isAlive(ordinal)
        ? state.holds.on(ordinal, after, limit).stream()
            .map(open -> reading(open.current()))
            .toList()
        : List.of();
  }

  /** Returns the balance of a counter; see {@link Holds#balance}. */
  public Optional<Holds.Balance> balance(String counter) {
    int ordinal = state.counters.find(counter);
    if (!access.isNumber(ordinal)) {
      return Optional.empty();
    }
    return Optional.of(
        Holds.Balance.of(
                state.counters.value(ordinal),
                state.holds.held(ordinal),
                state.holds.floor(ordinal),
                state.holds.ceiling(ordinal))
            .at(access.scale(ordinal, counter)));
  }

  private @Nullable HoldRecord openHold(RequestId id) {
    OpenHold open = state.holds.find(id.high(), id.low());
    return open == null ? null : open.current();
  }

  /** Returns the ended hold with an id; null if there is none. */
  private @Nullable TransactionRecord ended(RequestId id) {
    long[] marker = transactions.marker(id);
    TransactionRecord ended = marker == null ? null : transactions.recordOf(marker);
    return ended == null || ended.kind() == Kind.TRANSACTION ? null : ended;
  }

  private HoldReading reading(HoldRecord open) {
    return isDue(open) ? HoldReadings.due(open) : HoldReadings.open(open);
  }

  private HoldReading reading(TransactionRecord ended) {
    return HoldReadings.ended(ended, state);
  }
}
