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
 * The state of one item of a {@link VersionTree}: a pure function of the values that were seen,
 * independent of their order and of repeats.
 *
 * @param root the latest root
 * @param nodes the values of branches that are not folded, by branch and number
 * @param goneValues the stored form of values that the root includes
 * @param goneRoots the stored form of roots that a later one replaces
 * @param seen which roots were found in the store, and when
 * @param adopted the count of values that another client wrote; see {@link VersionTree#adopt}
 */
public record VersionTrees(
    Root root,
    List<VersionNode> nodes,
    Set<String> goneValues,
    Set<String> goneRoots,
    Set<Seen> seen,
    long adopted) {
  private static final Comparator<VersionNode> ORDER =
      Comparator.<VersionNode>comparingLong(node -> node.branch().startMillis())
          .thenComparing(node -> node.branch().process())
          .thenComparingLong(VersionNode::number);

  /**
   * The sum of folded branches.
   *
   * @param horizonMillis all branches that began until then are included; -1 for none
   * @param count their sum
   * @param madeMillis when it was made; it may be stored much later
   */
  public record Root(long horizonMillis, long count, long madeMillis) {
    private static final Pattern TEXT = Pattern.compile("root (\\d+) count (-?\\d+) at (\\d+)");

    static final Root NONE = new Root(-1, 0, -1);

    /** Returns its stored form. */
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
   * A note that a root was found in the store.
   *
   * @param horizonMillis of the root
   * @param millis a moment at which it was already stored
   */
  public record Seen(long horizonMillis, long millis) {
    private static final Pattern TEXT = Pattern.compile("seen (\\d+) at (\\d+)");

    /** Returns its stored form. */
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

  /** Resolves values and roots; ignores notes of roots that were found. */
  public static VersionTrees of(Collection<String> texts, Collection<String> roots) {
    return of(texts, roots, Set.of());
  }

  /**
   * Resolves the strings that were read.
   *
   * @param texts the stored form of each value
   * @param roots the stored form of each root
   * @param seenTexts the stored form of each note of a root that was found in the store
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
        root,
        List.copyOf(nodes),
        Set.copyOf(goneValues),
        Set.copyOf(goneRoots),
        Set.copyOf(seen),
        AdoptedValues.of(texts).count("tree"));
  }

  /** Returns whether it is noted that the latest root is stored. */
  boolean isRootSeen() {
    return seen.stream().anyMatch(each -> each.horizonMillis == root.horizonMillis);
  }

  /**
   * Returns the horizon of the latest root that every reader knows; -1 if there is none.
   *
   * @param settledMillis every reader sees by now the writes until then
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

  /** Returns those of {@link #goneValues} that a root with this horizon includes. */
  Set<String> goneValues(long horizonMillis) {
    return filtered(
        goneValues,
        text ->
            VersionNode.parse(text)
                .filter(node -> node.branch().startMillis() <= horizonMillis)
                .isPresent());
  }

  /** Returns those of {@link #goneRoots} before one with this horizon. */
  Set<String> goneRoots(long horizonMillis) {
    return filtered(
        goneRoots,
        text -> Root.parse(text).filter(each -> each.horizonMillis < horizonMillis).isPresent());
  }

  /** Returns the texts of notes about roots before one with this horizon. */
  Set<String> goneSeen(long horizonMillis) {
    return seen.stream()
        .filter(each -> each.horizonMillis < horizonMillis)
        .map(Seen::text)
        .collect(Collectors.toSet());
  }

  private static Set<String> filtered(Set<String> texts, Predicate<String> which) {
    return texts.stream().filter(which).collect(Collectors.toSet());
  }

  /** Returns the last value of each branch, which includes all its adds. */
  public List<VersionNode> tips() {
    Map<VersionNode.Branch, VersionNode> tips = new HashMap<>();
    nodes.forEach(node -> tips.put(node.branch(), node)); // in order of number
    return tips.values().stream().sorted(ORDER).toList();
  }

  /** Returns the count. */
  public long value(String counter) {
    return reading(counter, Long.MAX_VALUE).value();
  }

  /**
   * Returns the count, with bounds for the changes of branches since a moment.
   *
   * @param settledMillis every reader sees by now the changes of branches until then
   */
  public Reading reading(String counter, long settledMillis) {
    long value = CounterItems.plus(counter, root.count, adopted);
    long low = value;
    long high = value;
    for (VersionNode tip : tips()) {
      boolean isSettled = tip.millis() <= settledMillis;
      value = CounterItems.plus(counter, value, tip.own());
      low = CounterItems.plus(counter, low, isSettled ? tip.own() : tip.least());
      high = CounterItems.plus(counter, high, isSettled ? tip.own() : tip.most());
    }
    return new Reading(value, low, high);
  }

  /**
   * Returns values that a later one of the same branch supersedes, except for the last {@code
   * trail}.
   */
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
   * Returns the number of stored strings that pruning would remove or fold.
   *
   * @param horizonMillis branches that began until then may be folded
   */
  public long prunable(int trail, long horizonMillis) {
    long old = tips().stream().filter(tip -> tip.branch().startMillis() <= horizonMillis).count();
    return goneValues.size() + goneRoots.size() + superseded(trail).size() + old;
  }

  /**
   * Returns a root of all branches that began until then; empty if there is none beyond those of
   * the current root.
   */
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
