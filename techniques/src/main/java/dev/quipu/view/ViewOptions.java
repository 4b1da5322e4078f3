package dev.quipu.view;

import dev.quipu.Limits;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * How views are counted.
 *
 * @param form the counting protocol
 * @param identity the rule by which two events are the same view; used by the exact form
 * @param keep how long the exact form remembers a view; empty for unlimited. Must exceed the sum of
 *     the time until the last delivery of an event, the clock difference, the delay of a write, and
 *     the longest pause of a process: a later repeat counts again
 * @param counted the counts that an event adds to, all in one transaction
 */
public record ViewOptions(
    Form form, ViewIdentity identity, Optional<Duration> keep, Set<Counted> counted) {
  /** The counting protocols, from worst to best. */
  public enum Form {
    /** Adds to an existing number. Fails on the first view of a page, and counts repeats. */
    NAIVE,
    /** Adds to an existing number or creates it. Counts repeats. */
    IF_NOT_EXISTS,
    /** Stores a marker if there is none, and adds, in one transaction. Counts each view once. */
    EXACT
  }

  /** The counts that a view adds to. */
  public enum Counted {
    /** The page of the view. Always counted. */
    URL,
    /** The site of the page: its host. */
    SITE,
    /** The site of the page, per day of the view in UTC. */
    DAY
  }

  /** Longest retention of views. */
  public static final Duration KEEP_MAX = Duration.ofDays(3_660);

  /** Exact, unlimited, by time and client, of pages only. */
  public static final ViewOptions EXACT =
      new ViewOptions(Form.EXACT, ViewIdentity.EVENT, Optional.empty(), Set.of(Counted.URL));

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException if {@code keep} is not positive, exceeds {@link #KEEP_MAX}, or
   *     is combined with another form than the exact one
   */
  public ViewOptions {
    EnumSet<Counted> all = EnumSet.of(Counted.URL);
    all.addAll(counted);
    counted = Set.copyOf(all);
    if (keep.isPresent() && (!keep.get().isPositive() || keep.get().compareTo(KEEP_MAX) > 0)) {
      throw new IllegalArgumentException(
          "keep is %s; it must be positive and at most %s"
              .formatted(Limits.text(keep.get()), Limits.text(KEEP_MAX)));
    }
    if (form != Form.EXACT && (keep.isPresent() || counted.size() > 1)) {
      throw new IllegalArgumentException(
          "keep, and counts other than the page, require the exact form");
    }
  }

  /** Returns these options with another form. */
  public ViewOptions in(Form other) {
    return new ViewOptions(other, identity, keep, counted);
  }

  /** Returns these options with another identity. */
  public ViewOptions by(ViewIdentity other) {
    return new ViewOptions(form, other, keep, counted);
  }

  /** Returns these options with a retention time. */
  public ViewOptions keeping(Duration time) {
    return new ViewOptions(form, identity, Optional.of(time), counted);
  }

  /** Returns these options with additional counts. */
  public ViewOptions counting(Counted... also) {
    return new ViewOptions(form, identity, keep, Set.of(also));
  }
}
