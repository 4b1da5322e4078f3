package dev.quipu.hits;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One value of a {@link VersionTree}, as a text: the result of one add of a writer.
 *
 * @param branch the writer, and its start
 * @param number one more than that of the parent
 * @param millis when it was made
 * @param parent the version from which it was made; empty for none
 * @param count the count as the writer knew it: that of the parent, plus its delta
 * @param own the sum that its branch has added since its start
 * @param least the minimum that {@code own} ever had, 0 or less
 * @param most the maximum that {@code own} ever had, 0 or more
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
   * The consecutive values of one process.
   *
   * @param startMillis when it began
   * @param process the random id of the process, in hexadecimal
   */
  public record Branch(long startMillis, String process) {
    @Override
    public String toString() {
      return startMillis + "-" + process;
    }
  }

  /** The name of a value. */
  public record Version(long number, Branch branch) {
    @Override
    public String toString() {
      return number + "@" + branch;
    }
  }

  /** Returns the first value of a branch, with or without a parent. */
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
   * Returns the next value of the same branch.
   *
   * @throws ArithmeticException if its count or own sum overflows 64 bits
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

  /** Returns its name. */
  public Version version() {
    return new Version(number, branch);
  }

  /** Returns its stored form. */
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

  /** Parses the result of {@link #text}; empty if it has another format. */
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
