package dev.quipu.engine.state;

import dev.quipu.engine.log.HoldRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An open hold in a {@link HoldTable}. Of millions of them, each takes about 150 bytes, so that it
 * is one object with its first part, and neither the name of a counter nor a key is stored again.
 */
public final class OpenHold extends HeldPart {
  private final long high;
  private final long low;
  private final long contents;
  private final long expiresMillis;
  private final byte policies;

  /** Its place in {@link ExpiryHeap}. */
  int heapIndex;

  // Of the list of HoldTable.
  @Nullable OpenHold previous;
  @Nullable OpenHold next;

  /**
   * Creates a hold, with its first part.
   *
   * @param counter the holds on the counter of that part
   */
  OpenHold(HoldRecord record, CounterHolds counter) {
    super(record.parts().getFirst(), counter);
    this.high = record.high();
    this.low = record.low();
    this.contents = record.contents();
    this.expiresMillis = record.expiresMillis();
    this.policies = (byte) record.policies();
  }

  /** Returns a hold to compare others with. */
  static OpenHold withId(long high, long low) {
    var nothing = new HoldRecord.Part("", 0, 0, Long.MIN_VALUE, Long.MAX_VALUE, 0, true);
    HoldRecord record = new HoldRecord(high, low, 0, 0, 0, List.of(nothing));
    return new OpenHold(record, new CounterHolds(nothing));
  }

  long high() {
    return high;
  }

  long low() {
    return low;
  }

  boolean hasId(long itsHigh, long itsLow) {
    return low == itsLow && high == itsHigh;
  }

  /** Compares ids, in the order of listings. */
  static int compareIds(OpenHold one, OpenHold other) {
    int order = Long.compareUnsigned(one.high, other.high);
    return order == 0 ? Long.compareUnsigned(one.low, other.low) : order;
  }

  /** Returns when the hold expires, in milliseconds since 1970. */
  public long expiresMillis() {
    return expiresMillis;
  }

  /** Returns the hold as it is to be stored. */
  public HoldRecord current() {
    List<HoldRecord.Part> parts = new ArrayList<>();
    for (HeldPart part = this; part != null; part = part.nextPart) {
      parts.add(part.part());
    }
    return new HoldRecord(high, low, contents, expiresMillis, policies, List.copyOf(parts));
  }
}
