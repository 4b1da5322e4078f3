package dev.quipu.server.cli.output;

import dev.quipu.hits.VersionNode;
import dev.quipu.hits.VersionTrees;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Renders the version trees of a counter as text or SVG. */
public final class TreePicture {
  private static final int COLUMN = 150;
  private static final int ROW = 44;
  private static final int MARGIN = 30;
  private static final Comparator<VersionNode> ORDER =
      Comparator.comparingLong(VersionNode::number).thenComparing(node -> node.branch().toString());

  private final String counter;
  private final Map<Integer, VersionTrees> trees;
  private final Map<Integer, List<VersionNode>> tops = new TreeMap<>();
  private final Set<VersionNode> tips = new HashSet<>();
  private final Map<VersionNode.Version, List<VersionNode>> children = new HashMap<>();

  /** Creates the picture of these items. */
  public TreePicture(String counter, Map<Integer, VersionTrees> trees) {
    this.counter = counter;
    this.trees = trees;
    trees.forEach(this::plant);
  }

  private void plant(int item, VersionTrees tree) {
    tips.addAll(tree.tips());
    Set<VersionNode.Version> known = new HashSet<>();
    tree.nodes().forEach(node -> known.add(node.version()));
    List<VersionNode> ofItem = new ArrayList<>();
    for (VersionNode node : tree.nodes().stream().sorted(ORDER).toList()) {
      Optional<VersionNode.Version> parent = node.parent().filter(known::contains);
      if (parent.isPresent()) {
        children.computeIfAbsent(parent.get(), ignored -> new ArrayList<>()).add(node);
      } else {
        ofItem.add(node);
      }
    }
    tops.put(item, ofItem);
  }

  /** Returns the value of the counter. */
  public long value() {
    return trees.values().stream().mapToLong(tree -> tree.value(counter)).sum();
  }

  private List<VersionNode> children(VersionNode node) {
    return children.getOrDefault(node.version(), List.of());
  }

  /** Returns what the last version of a branch adds to the value; empty for the others. */
  private String part(VersionNode node) {
    return tips.contains(node) ? "%+d".formatted(node.own()) : "";
  }

  /** Returns a line for each version, indented below its parent. */
  public String text() {
    StringBuilder text = new StringBuilder("%s = %d%n".formatted(counter, value()));
    trees.forEach((item, tree) -> {
      VersionTrees.Root root = tree.root();
      String folded = root.horizonMillis() < 0 ? "" : "%d folded, ".formatted(root.count());
      text.append(
          "item %d: %s%d branches, %d in all%n"
              .formatted(item, folded, tree.tips().size(), tree.value(counter)));
      for (VersionNode top : tops.getOrDefault(item, List.of())) {
        boolean isPruned = top.parent().isPresent();
        line(text, isPruned ? "  ... " : "  ", top);
        below(text, isPruned ? "      " : "  ", top);
      }
    });
    return text.toString().stripTrailing();
  }

  private void below(StringBuilder text, String indent, VersionNode node) {
    List<VersionNode> all = children(node);
    for (int i = 0; i < all.size(); i++) {
      boolean isLast = i == all.size() - 1;
      line(text, indent + "+- ", all.get(i));
      below(text, indent + (isLast ? "   " : "|  "), all.get(i));
    }
  }

  private void line(StringBuilder text, String indent, VersionNode node) {
    String part = part(node).isEmpty() ? "" : "  " + part(node);
    text.append("%s%d  version %s%s%n".formatted(indent, node.count(), node.version(), part));
  }

  /** Returns a self-contained SVG image. */
  public String svg() {
    StringBuilder lines = new StringBuilder();
    StringBuilder nodes = new StringBuilder();
    int rows = 0;
    int depth = 0;
    for (List<VersionNode> ofItem : tops.values()) {
      for (VersionNode top : ofItem) {
        Placed placed = place(lines, nodes, top, 0, rows);
        rows = placed.nextRow;
        depth = Math.max(depth, placed.depth);
      }
    }
    int width = 2 * MARGIN + (depth + 1) * COLUMN;
    int height = 2 * MARGIN + Math.max(1, rows) * ROW;
    return """
    <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d"
        font-family="sans-serif" font-size="13">
    <title>%3$s</title>
    <rect width="100%%" height="100%%" fill="white"/>
    <text x="%4$d" y="20" font-weight="bold">%3$s</text>
    %5$s%6$s</svg>
    """
        .formatted(
            width, height, escaped("%s = %d".formatted(counter, value())), MARGIN, lines, nodes);
  }

  private record Placed(int row, int nextRow, int depth) {}

  /** Places children to the right; a version is in the row of its first child. */
  private Placed place(
      StringBuilder lines, StringBuilder nodes, VersionNode node, int column, int firstRow) {
    int next = firstRow;
    int depth = column;
    int x = MARGIN + column * COLUMN;
    int y = MARGIN + 20 + firstRow * ROW;
    for (VersionNode child : children(node)) {
      Placed placed = place(lines, nodes, child, column + 1, next);
      lines.append(
          "<path d=\"M%d %d C%d %d %d %d %d %d\" fill=\"none\" stroke=\"#888\"/>%n"
              .formatted(
                  x + 14,
                  y,
                  x + 70,
                  y,
                  x + 70,
                  MARGIN + 20 + placed.row * ROW,
                  x + COLUMN - 14,
                  MARGIN + 20 + placed.row * ROW));
      next = placed.nextRow;
      depth = Math.max(depth, placed.depth);
    }
    nodes.append(
        """
        <g><title>%s</title><circle cx="%d" cy="%d" r="14" fill="%s" stroke="#333"/>
        <text x="%d" y="%d" text-anchor="middle" font-size="11">%d</text>
        <text x="%d" y="%d">%s</text></g>
        """
            .formatted(
                escaped("version " + node.version()),
                x,
                y,
                tips.contains(node) ? "#ffd27f" : "#e8e8e8",
                x,
                y + 4,
                node.count(),
                x + 18,
                y - 8,
                escaped(part(node))));
    return new Placed(firstRow, Math.max(next, firstRow + 1), depth);
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
