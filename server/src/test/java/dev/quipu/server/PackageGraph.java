package dev.quipu.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The packages of the main code with their dependencies, read from the sources. {@code ./dev
 * packages} runs this source file.
 */
final class PackageGraph {
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
  private static final Pattern TYPE = Pattern.compile("\\b(dev\\.quipu(?:\\.[a-z]\\w*)*)\\.[A-Z]");
  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\\n]*");
  private static final Pattern PUBLIC = Pattern.compile("(?m)^public ");

  private final Map<String, Node> packages = new TreeMap<>();

  /** A package. */
  static final class Node {
    final String module;
    final Set<String> uses = new TreeSet<>();
    int files;
    int publicTypes;

    Node(String module) {
      this.module = module;
    }
  }

  private PackageGraph() {}

  /** Reads all main sources below a directory. */
  static PackageGraph read(Path root) throws IOException {
    PackageGraph graph = new PackageGraph();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        String path = root.relativize(file).toString();
        int main = path.indexOf("/src/main/java/");
        if (main > 0 && !path.contains("target/") && !path.endsWith("module-info.java")) {
          graph.add(path.substring(0, main), Files.readString(file));
        }
      }
    }
    graph.packages.values().forEach(node -> node.uses.retainAll(graph.packages.keySet()));
    return graph;
  }

  private void add(String module, String source) {
    String code = COMMENT.matcher(source).replaceAll("");
    String name =
        PACKAGE
            .matcher(code)
            .results()
            .findFirst()
            .map(found -> found.group(1))
            .orElseThrow(() -> new IllegalArgumentException("a source without a package"));
    Node node = packages.computeIfAbsent(name, none -> new Node(module));
    node.files++;
    node.publicTypes += PUBLIC.matcher(code).find() ? 1 : 0;
    TYPE.matcher(code).results().map(found -> found.group(1)).forEach(node.uses::add);
    node.uses.remove(name);
  }

  /** Returns the public top-level types of a module. */
  int publicTypes(String module) {
    return packages.values().stream()
        .filter(node -> node.module.equals(module))
        .mapToInt(node -> node.publicTypes)
        .sum();
  }

  /** Returns the groups of packages that use each other, directly or not. */
  Set<Set<String>> cycles() {
    return packages.keySet().stream()
        .map(name ->
            reached(name).stream()
                .filter(other -> reached(other).contains(name))
                .collect(Collectors.toCollection(TreeSet::new)))
        .filter(cycle -> !cycle.isEmpty())
        .collect(Collectors.toSet());
  }

  private Set<String> reached(String name) {
    Set<String> reached = new TreeSet<>();
    List<String> next = new ArrayList<>(node(name).uses);
    while (!next.isEmpty()) {
      String one = next.removeLast();
      if (reached.add(one)) {
        next.addAll(node(one).uses);
      }
    }
    return reached;
  }

  /** Returns a package, which must exist. */
  Node node(String name) {
    return Objects.requireNonNull(packages.get(name), name);
  }

  /** Prints each package with its dependencies, and all cycles. */
  public static void main(String[] arguments) throws IOException {
    PackageGraph graph = read(Path.of(arguments.length > 0 ? arguments[0] : "."));
    graph.packages.forEach((name, node) ->
        System.out.printf(
            "%-28s %-20s %2d files, %2d public -> %s%n",
            name,
            node.module,
            node.files,
            node.publicTypes,
            String.join(" ", node.uses).replace("dev.quipu", "")));
    System.out.printf(
        "%d packages, %d public types in core, %d cycles%n",
        graph.packages.size(), graph.publicTypes("core"), graph.cycles().size());
    graph.cycles().forEach(cycle -> System.out.println("cycle: " + cycle));
  }
}
