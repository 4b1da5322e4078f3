package dev.quipu.engine.log;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * An applied transaction, or a hold that has ended, as it is remembered by its id.
 *
 * @param high the upper 64 bits of the id
 * @param low the lower 64 bits
 * @param policies of a hold: see {@link HoldRecord}
 * @param contents distinguishes a repeat from another request under the same id
 * @param expiresMillis of a hold: when it expired or would have, in milliseconds since 1970
 * @param parts one for each counter, in the order of the request
 */
public record TransactionRecord(
    long high,
    long low,
    Kind kind,
    int policies,
    long contents,
    long expiresMillis,
    List<Part> parts) {
  /** Stored beside the policies: each part has a scale. */
  private static final int SCALED = 64;

  /** What was applied, and how it ended. */
  public enum Kind {
    TRANSACTION(0),
    SETTLED(1),
    SETTLED_LATE(2),
    RELEASED(3),
    EXPIRED(4);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** Returns the number by which the kind is stored. */
    public int code() {
      return code;
    }

    /** Returns the kind with a {@link #code}. */
    public static Kind of(int code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IllegalStateException("unknown kind of transaction " + code);
    }
  }

  /**
   * One counter.
   *
   * @param ordinal of the counter
   * @param delta what was added first
   * @param kept of a transaction: the resulting value; of a hold: what it kept
   * @param floor of a hold that may be settled late; otherwise 0
   * @param ceiling the same
   * @param scale the scale of the counter at that time, in whose units the amounts are
   */
  public record Part(int ordinal, long delta, long kept, long floor, long ceiling, int scale) {}

  /** Returns whether the bounds are kept, for a late settlement. */
  public boolean hasBounds() {
    return (policies & HoldRecord.LATE_APPLY) != 0;
  }

  /** Returns whether an amount is a decimal. */
  public boolean isScaled() {
    for (Part part : parts) {
      if (part.scale != 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns an upper bound of the bytes that {@link #write} writes. */
  public static int bytesMax(int parts) {
    return 64 + 48 * parts;
  }

  void write(ByteBuffer out) {
    boolean isScaled = isScaled();
    out.put((byte) kind.code).put((byte) (policies | (isScaled ? SCALED : 0)));
    out.putLong(high).putLong(low).putLong(contents);
    Records.signed(out, expiresMillis);
    Records.unsigned(out, parts.size());
    for (Part part : parts) {
      Records.unsigned(out, part.ordinal);
      Records.signed(out, part.delta);
      Records.signed(out, part.kept);
      if (hasBounds()) {
        Records.signed(out, part.floor);
        Records.signed(out, part.ceiling);
      }
      if (isScaled) {
        out.put((byte) part.scale);
      }
    }
  }

  static TransactionRecord read(ByteBuffer in) {
    Kind kind = Kind.of(in.get());
    int flags = in.get();
    boolean isScaled = (flags & SCALED) != 0;
    int policies = flags & ~SCALED;
    boolean hasBounds = (policies & HoldRecord.LATE_APPLY) != 0;
    long high = in.getLong();
    long low = in.getLong();
    long contents = in.getLong();
    long expiresMillis = Records.signed(in);
    List<Part> parts = new ArrayList<>();
    for (long i = Records.unsigned(in); i > 0; i--) {
      parts.add(
          new Part(
              (int) Records.unsigned(in),
              Records.signed(in),
              Records.signed(in),
              hasBounds ? Records.signed(in) : 0,
              hasBounds ? Records.signed(in) : 0,
              isScaled ? in.get() : 0));
    }
    return new TransactionRecord(
        high, low, kind, policies, contents, expiresMillis, List.copyOf(parts));
  }
}
