package dev.quipu.engine.log;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.HoldRequest;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * An open hold as it is stored.
 *
 * @param high the upper 64 bits of its id
 * @param low the lower 64 bits
 * @param contents distinguishes a repeat from another request under the same id
 * @param expiresMillis when it expires, in milliseconds since 1970
 * @param policies {@link #LATE_APPLY}, {@link #EXCESS_ALLOW}, or both
 * @param parts what it reserves, in the order of the request
 */
public record HoldRecord(
    long high, long low, long contents, long expiresMillis, int policies, List<Part> parts) {
  /** A settlement after the expiry is applied. */
  public static final int LATE_APPLY = 1;

  /** A settlement may exceed what was reserved. */
  public static final int EXCESS_ALLOW = 2;

  /**
   * What a hold reserves on one counter.
   *
   * @param ordinal that of the counter, by which its removal is recorded; the name may have another
   *     one by then
   * @param scale the scale of the counter when the hold was placed, in whose units the amounts are
   * @param isVoid whether the counter was removed since: nothing is reserved on it any more
   */
  public record Part(
      String counter,
      int ordinal,
      long delta,
      long floor,
      long ceiling,
      int scale,
      boolean isVoid) {
    /** Returns what an add in units of its counter reserves. */
    public static Part of(Add add, int ordinal, int scale) {
      Bounds bounds = add.bounds();
      return new Part(
          add.counter(), ordinal, add.delta(), bounds.floor(), bounds.ceiling(), scale, false);
    }

    /** Returns the same part, which reserves nothing any more. */
    public Part voided() {
      return new Part(counter, ordinal, delta, floor, ceiling, scale, true);
    }
  }

  /** Returns the policies of a request. */
  public static int policies(HoldRequest request) {
    return (request.late() == HoldRequest.Late.APPLY ? LATE_APPLY : 0)
        | (request.excess() == HoldRequest.Excess.ALLOW ? EXCESS_ALLOW : 0);
  }

  /** Returns the same hold with another expiry. */
  public HoldRecord expiring(long atMillis) {
    return new HoldRecord(high, low, contents, atMillis, policies, parts);
  }

  /** Returns the same hold, of which a settlement after the expiry is rejected. */
  public HoldRecord withoutLateSettlement() {
    return new HoldRecord(high, low, contents, expiresMillis, policies & ~LATE_APPLY, parts);
  }

  /** Returns how the hold is remembered after it has ended. */
  public TransactionRecord ended(
      TransactionRecord.Kind kind, List<TransactionRecord.Part> remembered) {
    return new TransactionRecord(high, low, kind, policies, contents, expiresMillis, remembered);
  }

  /** Returns whether the hold has a policy. */
  public boolean has(int policy) {
    return (policies & policy) != 0;
  }

  /** Returns the total length of the names of its counters, in chars. */
  public int namesLength() {
    int length = 0;
    for (Part part : parts) {
      length += part.counter.length();
    }
    return length;
  }

  /**
   * Returns an upper bound of the bytes that {@link #write} writes.
   *
   * @param namesLength total length of the names of its counters, in chars
   */
  public static int bytesMax(int parts, int namesLength) {
    return 64 + 48 * parts + 3 * namesLength;
  }

  void write(ByteBuffer out) {
    out.put((byte) policies).putLong(high).putLong(low).putLong(contents);
    Records.signed(out, expiresMillis);
    Records.unsigned(out, parts.size());
    for (Part part : parts) {
      Records.text(out, part.counter);
      Records.unsigned(out, part.ordinal);
      out.put((byte) (part.scale << 1 | (part.isVoid ? 1 : 0)));
      Records.signed(out, part.delta);
      Records.signed(out, part.floor);
      Records.signed(out, part.ceiling);
    }
  }

  static HoldRecord read(ByteBuffer in) {
    int policies = in.get();
    long high = in.getLong();
    long low = in.getLong();
    long contents = in.getLong();
    long expiresMillis = Records.signed(in);
    List<Part> parts = new ArrayList<>();
    for (long i = Records.unsigned(in); i > 0; i--) {
      String counter = Records.text(in);
      int ordinal = (int) Records.unsigned(in);
      int flags = in.get();
      parts.add(
          new Part(
              counter,
              ordinal,
              Records.signed(in),
              Records.signed(in),
              Records.signed(in),
              flags >> 1,
              (flags & 1) != 0));
    }
    return new HoldRecord(high, low, contents, expiresMillis, policies, List.copyOf(parts));
  }
}
