package dev.quipu.engine.commit;

import dev.quipu.engine.log.HighWater;
import dev.quipu.time.Clock;
import java.util.concurrent.TimeUnit;

/*
 * Two times, neither of which ever goes back while the engine runs.
 *
 * The wall time says when counters expire. It is that of the machine; when the machine's clock
 * jumps while the engine runs, the wall time follows at 7/8 to 9/8 of its speed.
 *
 * The age time says how old request ids are. It is kept on the disk, goes on from there at the next
 * start, and then runs at the speed of the machine's monotonic clock. A machine whose clock was
 * wrong at one start must not make the engine forget its ids: so a start moves the age time by what
 * the wall clock says has passed since it was kept, but by no more than an eighth of the window. A
 * clock that was set back does not move it at all. After a long stop ids are remembered for longer.
 */

/** Keeps the engine's times. Not thread-safe. */
final class EngineClock {
  private static final int SLEW = 8;

  private final Clock clock;
  private long nanos;
  private long wallNanos;
  private long ageNanos;

  /**
   * Starts to count.
   *
   * @param ageMillis where the log ends
   * @param kept what was kept besides
   * @param leapMillis longest time that may have passed since then
   */
  EngineClock(Clock clock, long ageMillis, HighWater.Mark kept, long leapMillis) {
    this.clock = clock;
    this.nanos = clock.nanoTime();
    long wallMillis = clock.epochMillis();
    this.wallNanos = TimeUnit.MILLISECONDS.toNanos(wallMillis);
    long leap = Math.clamp(wallMillis - kept.wallMillis(), 0, leapMillis);
    this.ageNanos = TimeUnit.MILLISECONDS.toNanos(Math.max(ageMillis, kept.ageMillis() + leap));
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
