package dev.quipu.engine.commit;

import dev.quipu.engine.log.HighWater;
import dev.quipu.time.Clock;
import java.util.concurrent.TimeUnit;

/**
 * The wall and age times of an engine. Not thread-safe.
 *
 * <pre>{@code
 * Two times, neither of which goes back while the engine runs.
 *
 * The wall time decides when counters expire. It follows the machine's clock; when that clock jumps
 * while the engine runs, the wall time catches up at 7/8 to 9/8 of real speed.
 *
 * The age time measures the age of request ids. It is persisted, resumes from there at the next
 * start, and then runs at the speed of the machine's monotonic clock. A wrong clock at one start
 * must not make the engine forget its ids: so a start advances the age time by the wall time that
 * has passed since it was persisted, but by at most an eighth of the window. A clock that was set
 * back does not advance it. After a long downtime ids are remembered for longer.
 * }</pre>
 */
final class EngineClock {
  private static final int SLEW = 8;

  private final Clock clock;
  private long nanos;
  private long wallNanos;
  private long ageNanos;

  /**
   * Starts both times.
   *
   * @param ageMillis age time at the end of the log
   * @param kept the persisted mark
   * @param leapMillis maximum advance since then
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
