package dev.quipu.hits;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One value of a {@link VersionTree}, as a text: what a writer made of what it knew.
 *
 * @param branch by whom, since when
 * @param number one more than that of what it was made of
 * @param millis when it was made
 * @param parent what it was made of; empty for nothing
 * @param count the count that the writer made: that of its parent, and what it added
 * @param own what its branch has added since it began
 * @param least the least that {@code own} ever was, 0 or less
 * @param most the most that {@code own} ever was, 0 or more
 */
public record VersionNode(
    Branch branch,
    long number,
    long millis,
    Optional<Version> parent,
    long count,
    long own,
    long least,
    long most) {
  private static final Pattern TEXT =
      Pattern.compile(
          "(\\d+)@(\\d+)-([0-9a-f]+) of (?:(\\d+)@(\\d+)-([0-9a-f]+)|nothing)"
              + " count (-?\\d+) own (-?\\d+) least (-?\\d+) most (-?\\d+) at (\\d+)");

  /**
   * The values that one process made one after the other.
   *
   * @param startMillis when it began
   * @param process who: chance, in hexadecimal
   */
  public record Branch(long startMillis, String process) {
    @Override
    public String toString() {
      return startMillis + "-" + process;
    }
  }

  /** What a value is called. */
  public record Version(long number, Branch branch) {
    @Override
    public String toString() {
      return number + "@" + branch;
    }
  }

  /** The first value of a branch, made of another value or of nothing. */
  public static VersionNode first(
      Branch branch, Optional<VersionNode> parent, long delta, long millis) {
    long number = parent.map(VersionNode::number).orElse(0L) + 1;
    long count;
    try {
      count = Math.addExact(parent.map(VersionNode::count).orElse(0L), delta);
    } catch (ArithmeticException e) {
      return first(branch, Optional.empty(), delta, millis);
    }
    return new VersionNode(
        branch,
        number,
        millis,
        parent.map(VersionNode::version),
        count,
        delta,
        Math.min(0, delta),
        Math.max(0, delta));
  }

  /**
   * The next value of the same branch.
   *
   * @throws ArithmeticException if its count or what it adds has more than 64 bits
   */
  public VersionNode next(long delta, long nextMillis) {
    long sum = Math.addExact(own, delta);
    return new VersionNode(
        branch,
        number + 1,
        Math.max(millis, nextMillis),
        Optional.of(version()),
        Math.addExact(count, delta),
        sum,
        Math.min(least, sum),
        Math.max(most, sum));
  }

  /** What it is called. */
  public Version version() {
    return new Version(number, branch);
  }

  /** How it is stored. */
  public String text() {
    return "%s of %s count %d own %d least %d most %d at %d"
        .formatted(
            version(),
            parent.map(Version::toString).orElse("nothing"),
            count,
            own,
            least,
            most,
            millis);
  }

  /** Reads what {@link #text} made; empty if it is something else. */
  static Optional<VersionNode> parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    Optional<Version> parent =
        Optional.ofNullable(parts.group(4))
            .map(number ->
                new Version(
                    Long.parseLong(number),
                    new Branch(Long.parseLong(parts.group(5)), parts.group(6))));
    return Optional.of(
        new VersionNode(
            new Branch(Long.parseLong(parts.group(2)), parts.group(3)),
            Long.parseLong(parts.group(1)),
            Long.parseLong(parts.group(11)),
            parent,
            Long.parseLong(parts.group(7)),
            Long.parseLong(parts.group(8)),
            Long.parseLong(parts.group(9)),
            Long.parseLong(parts.group(10))));
  }
}
