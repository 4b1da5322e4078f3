package dev.quipu.technique;

import dev.quipu.Reading;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What one item of a {@link VersionTree} says: a pure function of the values that were seen,
 * whatever the order in which they came, and however often.
 *
 * @param root the latest root
 * @param nodes the values of branches that are not folded, by branch and number
 * @param goneValues texts of values that the root stands for
 * @param goneRoots texts of roots that a later one stands for
 */
public record VersionTrees(
    Root root, List<VersionNode> nodes, Set<String> goneValues, Set<String> goneRoots) {
  private static final Comparator<VersionNode> ORDER =
      Comparator.<VersionNode>comparingLong(node -> node.branch().startMillis())
          .thenComparing(node -> node.branch().process())
          .thenComparingLong(VersionNode::number);

  /**
   * What was folded.
   *
   * @param horizonMillis all branches that began until then are in it; -1 for none
   * @param count what they added
   * @param storedMillis when it was stored
   */
  public record Root(long horizonMillis, long count, long storedMillis) {
    private static final Pattern TEXT = Pattern.compile("root (\\d+) count (-?\\d+) at (\\d+)");

    static final Root NONE = new Root(-1, 0, -1);

    /** How it is stored. */
    public String text() {
      return "root %d count %d at %d".formatted(horizonMillis, count, storedMillis);
    }

    static Optional<Root> parse(String text) {
      Matcher parts = TEXT.matcher(text);
      return parts.matches()
          ? Optional.of(
              new Root(
                  Long.parseLong(parts.group(1)),
                  Long.parseLong(parts.group(2)),
                  Long.parseLong(parts.group(3))))
          : Optional.empty();
    }
  }

  /**
   * Resolves what was seen.
   *
   * @param texts of values
   * @param roots of roots
   */
  public static VersionTrees of(Collection<String> texts, Collection<String> roots) {
    Set<String> goneRoots = new HashSet<>();
    Root root = Root.NONE;
    for (String text : roots) {
      Root each = Root.parse(text).orElse(Root.NONE);
      if (each.horizonMillis > root.horizonMillis) {
        root = each;
      }
      if (Root.parse(text).isPresent()) {
        goneRoots.add(text);
      }
    }
    goneRoots.remove(root.text());
    Set<String> goneValues = new HashSet<>();
    List<VersionNode> nodes = new ArrayList<>();
    for (String text : new HashSet<>(texts)) {
      Optional<VersionNode> node = VersionNode.parse(text);
      if (node.isPresent() && node.get().branch().startMillis() > root.horizonMillis) {
        nodes.add(node.get());
      } else if (node.isPresent()) {
        goneValues.add(text);
      }
    }
    nodes.sort(ORDER);
    return new VersionTrees(
        root, List.copyOf(nodes), Set.copyOf(goneValues), Set.copyOf(goneRoots));
  }

  /** The last value of each branch: what it has added is in it. */
  public List<VersionNode> tips() {
    Map<VersionNode.Branch, VersionNode> tips = new HashMap<>();
    nodes.forEach(node -> tips.put(node.branch(), node)); // in order of number
    return tips.values().stream().sorted(ORDER).toList();
  }

  /** The count. */
  public long value(String counter) {
    return reading(counter, Long.MAX_VALUE).value();
  }

  /**
   * The count, and what it may have been when branches that changed since a moment were elsewhere.
   *
   * @param settledMillis what branches did until then, every reader sees by now
   */
  public Reading reading(String counter, long settledMillis) {
    long value = root.count;
    long low = root.count;
    long high = root.count;
    for (VersionNode tip : tips()) {
      boolean isSettled = tip.millis() <= settledMillis;
      value = CounterItems.plus(counter, value, tip.own());
      low = CounterItems.plus(counter, low, isSettled ? tip.own() : tip.least());
      high = CounterItems.plus(counter, high, isSettled ? tip.own() : tip.most());
    }
    return new Reading(value, low, high);
  }

  /** Values that a later one of the same branch stands for, but for the last {@code trail}. */
  public Set<String> superseded(int trail) {
    Map<VersionNode.Branch, List<VersionNode>> branches = new HashMap<>();
    for (VersionNode node : nodes) {
      branches.computeIfAbsent(node.branch(), branch -> new ArrayList<>()).add(node);
    }
    Set<String> found = new HashSet<>();
    for (List<VersionNode> branch : branches.values()) {
      for (VersionNode node : branch.subList(0, Math.max(0, branch.size() - 1 - trail))) {
        found.add(node.text());
      }
    }
    return found;
  }

  /**
   * How many texts pruning would take out or fold.
   *
   * @param horizonMillis branches that began until then may be folded
   */
  public long prunable(int trail, long horizonMillis) {
    long old = tips().stream().filter(tip -> tip.branch().startMillis() <= horizonMillis).count();
    return goneValues.size() + goneRoots.size() + superseded(trail).size() + old;
  }

  /** A root of all branches that began until then; empty if that is none but those of this one. */
  public Optional<Root> folded(String counter, long horizonMillis, long nowMillis) {
    long count = root.count;
    boolean any = false;
    for (VersionNode tip : tips()) {
      if (tip.branch().startMillis() <= horizonMillis) {
        count = CounterItems.plus(counter, count, tip.own());
        any = true;
      }
    }
    return any ? Optional.of(new Root(horizonMillis, count, nowMillis)) : Optional.empty();
  }
}
