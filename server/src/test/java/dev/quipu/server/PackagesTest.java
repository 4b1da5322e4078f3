package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The package structure of the tree. */
final class PackagesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final int CORE_PUBLIC_TYPES_MAX = 59; // 4 of them are the group commit for drivers
  private static final int TECHNIQUE_FILES_MAX = 20;

  @Test
  void noPackagesUseEachOther() throws IOException {
    assertEquals(Set.of(), PackageGraph.read(ROOT).cycles());
  }

  @Test
  void coreIsSmall() throws IOException {
    PackageGraph graph = PackageGraph.read(ROOT);
    int types = graph.publicTypes("core");
    assertTrue(types <= CORE_PUBLIC_TYPES_MAX, types + " public types in core");
    int files = graph.node("dev.quipu.technique").files;
    assertTrue(files <= TECHNIQUE_FILES_MAX, files + " files in technique");
  }

  @Test
  void aCycleIsFound(@TempDir Path root) throws IOException {
    Map<String, String> sources =
        new TreeMap<>(
            Map.of(
                "a", "import dev.quipu.b.B;\npublic class A {}",
                "b", "class B { dev.quipu.c.C c; }",
                "c", "/* {@link dev.quipu.d.D} */ class C { dev.quipu.a.A a; }",
                "d", "import dev.quipu.a.A;\nclass D {} // dev.quipu.d.D"));
    for (Map.Entry<String, String> each : sources.entrySet()) {
      String name = each.getKey();
      Path file = root.resolve("core/src/main/java/dev/quipu/%s/X.java".formatted(name));
      Files.createDirectories(file.getParent());
      Files.writeString(file, "package dev.quipu.%s;\n%s".formatted(name, each.getValue()));
    }
    PackageGraph graph = PackageGraph.read(root);
    assertEquals(Set.of(Set.of("dev.quipu.a", "dev.quipu.b", "dev.quipu.c")), graph.cycles());
    assertEquals(1, graph.publicTypes("core"));
  }
}
