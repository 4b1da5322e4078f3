package dev.quipu.server.http.route;

import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/** What a total has grown by since midnight UTC, or since the start. Thread-safe. */
final class Today {
  private final DoubleSupplier total;
  private long day = Long.MIN_VALUE; // since 1970; guarded by this
  private double before; // midnight; guarded by this

  /** Creates it for a total that is 0 at the start. */
  Today(DoubleSupplier total) {
    this.total = total;
  }

  /** Notes the total if a day has begun; called every few seconds. */
  synchronized void tick(long epochMillis) {
    long now = TimeUnit.MILLISECONDS.toDays(epochMillis);
    if (now > day) { // a clock that is set back does not end a day
      before = day == Long.MIN_VALUE ? 0 : total.getAsDouble();
      day = now;
    }
  }

  synchronized double growth() {
    return total.getAsDouble() - before;
  }
}
