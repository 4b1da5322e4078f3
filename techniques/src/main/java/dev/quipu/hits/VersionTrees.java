package dev.quipu.hits;

import dev.quipu.Reading;
import dev.quipu.technique.CounterItems;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What one item of a {@link VersionTree} says: a pure function of the values that were seen,
 * whatever the order in which they came, and however often.
 *
 * @param root the latest root
 * @param nodes the values of branches that are not folded, by branch and number
 * @param goneValues texts of values that the root stands for
 * @param goneRoots texts of roots that a later one stands for
 * @param seen which roots were found in the store, and when
 */
public record VersionTrees(
    Root root,
    List<VersionNode> nodes,
    Set<String> goneValues,
    Set<String> goneRoots,
    Set<Seen> seen) {
  private static final Comparator<VersionNode> ORDER =
      Comparator.<VersionNode>comparingLong(node -> node.branch().startMillis())
          .thenComparing(node -> node.branch().process())
          .thenComparingLong(VersionNode::number);

  /**
   * What was folded.
   *
   * @param horizonMillis all branches that began until then are in it; -1 for none
   * @param count what they added
   * @param madeMillis when it was made; it may be stored much later
   */
  public record Root(long horizonMillis, long count, long madeMillis) {
    private static final Pattern TEXT = Pattern.compile("root (\\d+) count (-?\\d+) at (\\d+)");

    static final Root NONE = new Root(-1, 0, -1);

    /** How it is stored. */
    public String text() {
      return "root %d count %d at %d".formatted(horizonMillis, count, madeMillis);
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
   * That a root was in the store.
   *
   * @param horizonMillis of the root
   * @param millis a moment at which it was stored already
   */
  public record Seen(long horizonMillis, long millis) {
    private static final Pattern TEXT = Pattern.compile("seen (\\d+) at (\\d+)");

    /** How it is stored. */
    public String text() {
      return "seen %d at %d".formatted(horizonMillis, millis);
    }

    static Optional<Seen> parse(String text) {
      Matcher parts = TEXT.matcher(text);
      return parts.matches()
          ? Optional.of(new Seen(Long.parseLong(parts.group(1)), Long.parseLong(parts.group(2))))
          : Optional.empty();
    }
  }

  /** As the other, if it is not known which roots were seen. */
  public static VersionTrees of(Collection<String> texts, Collection<String> roots) {
    return of(texts, roots, Set.of());
  }

  /**
   * Resolves what was seen.
   *
   * @param texts of values
   * @param roots of roots
   * @param seenTexts of which roots were in the store
   */
  public static VersionTrees of(
      Collection<String> texts, Collection<String> roots, Collection<String> seenTexts) {
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
    Set<Seen> seen = new HashSet<>();
    seenTexts.forEach(text -> Seen.parse(text).ifPresent(seen::add));
    return new VersionTrees(
        root, List.copyOf(nodes), Set.copyOf(goneValues), Set.copyOf(goneRoots), Set.copyOf(seen));
  }

  /** Whether it is noted that the latest root is stored. */
  boolean isRootSeen() {
    return seen.stream().anyMatch(each -> each.horizonMillis == root.horizonMillis);
  }

  /**
   * The horizon of the latest root that every reader knows; -1 if there is none.
   *
   * @param settledMillis what was stored until then, every reader sees by now
   */
  long knownHorizon(long settledMillis) {
    return seen.stream()
        .filter(each -> isKnown(each, settledMillis))
        .mapToLong(Seen::horizonMillis)
        .max()
        .orElse(-1);
  }

  private static boolean isKnown(Seen root, long settledMillis) {
    return root.millis <= settledMillis;
  }

  /** Those of {@link #goneValues} that a root with this horizon stands for. */
  Set<String> goneValues(long horizonMillis) {
    return filtered(
        goneValues,
        text ->
            VersionNode.parse(text)
                .filter(node -> node.branch().startMillis() <= horizonMillis)
                .isPresent());
  }

  /** Those of {@link #goneRoots} before one with this horizon. */
  Set<String> goneRoots(long horizonMillis) {
    return filtered(
        goneRoots,
        text -> Root.parse(text).filter(each -> each.horizonMillis < horizonMillis).isPresent());
  }

  /** Texts of what is noted about roots before one with this horizon. */
  Set<String> goneSeen(long horizonMillis) {
    return seen.stream()
        .filter(each -> each.horizonMillis < horizonMillis)
        .map(Seen::text)
        .collect(Collectors.toSet());
  }

  private static Set<String> filtered(Set<String> texts, Predicate<String> which) {
    return texts.stream().filter(which).collect(Collectors.toSet());
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
