package dev.quipu.server.http;

import dev.quipu.server.http.message.Body;
import dev.quipu.server.http.message.Reservation;
import dev.quipu.server.net.MemoryBudget;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The memory of the header of a request that is not complete. Confined to an event loop. */
final class HeadMemory {
  /** Memory of a partial header when decoded, for each of its bytes. */
  private static final int DECODED_FACTOR = 16;

  private static final int BEGUN_BYTES_MIN = 1 << 10;
  private static final int BEGUN_BYTES_MAX = 2 * StrictDecoder.HEAD_BYTES_MAX;

  /** Memory of a decoded header, for each character, and in addition for each field. */
  private static final int CHAR_BYTES = 2;

  private static final int FIELD_BYTES = 200;

  private final MemoryBudget budget;
  private @Nullable Reservation held;

  HeadMemory(MemoryBudget budget) {
    this.budget = budget;
  }

  /** Reserves the memory of a header of which this many bytes arrived; returns whether it could. */
  boolean tryHoldBegun(int bytes) {
    long needed = Math.clamp((long) bytes * DECODED_FACTOR, BEGUN_BYTES_MIN, BEGUN_BYTES_MAX);
    return reservation().tryGrowTo(needed);
  }

  /** Reserves the memory of a decoded header, unless it is small; returns whether it could. */
  boolean tryHold(HttpRequest request) {
    long chars = request.uri().length();
    for (Map.Entry<String, String> each : request.headers()) {
      chars += each.getKey().length() + each.getValue().length();
    }
    long needed = CHAR_BYTES * chars + (long) FIELD_BYTES * request.headers().size();
    if (needed <= Body.SMALL_BYTES_MAX) {
      release();
      return true;
    }
    Reservation reservation = reservation();
    boolean isHeld = reservation.tryGrowTo(needed);
    if (isHeld) {
      reservation.shrinkTo(needed);
    }
    return isHeld;
  }

  private Reservation reservation() {
    Reservation reservation = held;
    if (reservation == null) {
      reservation = new Reservation(budget);
      held = reservation;
    }
    return reservation;
  }

  void release() {
    if (held != null) {
      held.release();
      held = null;
    }
  }
}
