package dev.quipu.engine;

import dev.quipu.time.Clock;
import java.util.concurrent.TimeUnit;

/*
 * Two times, neither of which ever goes back while the engine runs.
 *
 * The wall time says when counters expire. It is that of the machine; when the machine's clock jumps
 * while the engine runs, the wall time follows at 7/8 to 9/8 of its speed.
 *
 * The age time says how old request ids are, and is kept in the log. It goes on from where the log
 * ends. A machine whose clock was wrong at one start must not make the engine forget its ids: so a
 * start moves the age time by what the machine says has passed, but by no more than an eighth of the
 * window; if it is then behind the wall time, it catches up at 9/8 of its speed. A clock that is set
 * back does not move it at all.
 */

/** Tells the engine's times. Not thread-safe. */
final class EngineClock {
  private static final int SLEW = 8;

  private final Clock clock;
  private long nanos;
  private long wallNanos;
  private long ageNanos;

  /**
   * Starts to count.
   *
   * @param ageMillis where the log ends; 0 for a new directory
   * @param leapMillis longest time that may have passed since then
   */
  EngineClock(Clock clock, long ageMillis, long leapMillis) {
    this.clock = clock;
    this.nanos = clock.nanoTime();
    long wallMillis = clock.epochMillis();
    this.wallNanos = TimeUnit.MILLISECONDS.toNanos(wallMillis);
    long leap = Math.clamp(wallMillis - ageMillis, 0, leapMillis);
    this.ageNanos = TimeUnit.MILLISECONDS.toNanos(ageMillis == 0 ? wallMillis : ageMillis + leap);
  }

  /** Reads the machine's clocks. */
  void tick() {
    long now = clock.nanoTime();
    long elapsed = now - nanos;
    nanos = now;
    long slew = elapsed / SLEW;
    wallNanos += elapsed;
    long error = TimeUnit.MILLISECONDS.toNanos(clock.epochMillis()) - wallNanos;
    wallNanos += Math.clamp(error, -slew, slew);
    ageNanos += elapsed;
    ageNanos += Math.clamp(wallNanos - ageNanos, 0, slew);
  }

  /** Returns the wall time, in milliseconds since 1970. */
  long wallMillis() {
    return TimeUnit.NANOSECONDS.toMillis(wallNanos);
  }

  /** Returns the age time, in milliseconds. */
  long ageMillis() {
    return TimeUnit.NANOSECONDS.toMillis(ageNanos);
  }
}
