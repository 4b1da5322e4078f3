package dev.quipu.view;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * How views are counted.
 *
 * @param form how exactly
 * @param identity what makes two events the same view; the exact form asks for it
 * @param keep how long the exact form remembers a view; empty for ever. Longer than until the last
 *     repeat of an event is delivered, what clocks differ by, a write is late, and a process stands
 *     still, together: a repeat after that counts again
 * @param counted what an event counts for, all in one transaction
 */
public record ViewOptions(
    Form form, ViewIdentity identity, Optional<Duration> keep, Set<Counted> counted) {
  /** The ways to count, from worst to best. */
  public enum Form {
    /** Adds to what is there. It fails on the first view of a page, and counts repeats. */
    NAIVE,
    /** Adds to what is there, or to nothing. It counts repeats. */
    IF_NOT_EXISTS,
    /** Stores a marker if there is none, and adds, in one transaction. It counts once. */
    EXACT
  }

  /** What a view counts for. */
  public enum Counted {
    /** Its page. Always counted. */
    URL,
    /** The site of its page: its host. */
    SITE,
    /** The site on the day of the view, in UTC. */
    DAY
  }

  /** Longest time for which views are remembered. */
  public static final Duration KEEP_MAX = Duration.ofDays(3_660);

  /** Exact, for ever, by time and client, of pages only. */
  public static final ViewOptions EXACT =
      new ViewOptions(Form.EXACT, ViewIdentity.EVENT, Optional.empty(), Set.of(Counted.URL));

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException if {@code keep} is not above 0 or above {@link #KEEP_MAX}, or
   *     only the exact form has it
   */
  public ViewOptions {
    EnumSet<Counted> all = EnumSet.of(Counted.URL);
    all.addAll(counted);
    counted = Set.copyOf(all);
    if (keep.isPresent() && (!keep.get().isPositive() || keep.get().compareTo(KEEP_MAX) > 0)) {
      throw new IllegalArgumentException(
          "keep is %s, the limits are above 0 and %s".formatted(keep.get(), KEEP_MAX));
    }
    if (form != Form.EXACT && (keep.isPresent() || counted.size() > 1)) {
      throw new IllegalArgumentException(
          "only the exact form keeps views, and counts for more than the page");
    }
  }

  /** The same in another form. */
  public ViewOptions in(Form other) {
    return new ViewOptions(other, identity, keep, counted);
  }

  /** The same by another identity. */
  public ViewOptions by(ViewIdentity other) {
    return new ViewOptions(form, other, keep, counted);
  }

  /** The same, remembering views so long. */
  public ViewOptions keeping(Duration time) {
    return new ViewOptions(form, identity, Optional.of(time), counted);
  }

  /** The same, counting for these too. */
  public ViewOptions counting(Counted... also) {
    return new ViewOptions(form, identity, keep, Set.of(also));
  }
}
