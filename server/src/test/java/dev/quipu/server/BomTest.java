package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The BOM names the versions with which the modules are tested. */
final class BomTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern MANAGED =
      Pattern.compile(
          "<groupId>([^<]*)</groupId>\\s*<artifactId>([^<]*)</artifactId>"
              + "\\s*<version>([^<]*)</version>");
  private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
  private static final Pattern ARTIFACT =
      Pattern.compile("</parent>\\s*<artifactId>(.*?)</artifactId>");

  /** Modules that are not published. */
  private static final Set<String> OURS_ONLY =
      Set.of("quipu-bom", "quipu-bench", "quipu-testservers", "quipu-elasticmq", "quipu-s3proxy");

  private final String root = read("pom.xml");
  private final String bom =
      read("bom/pom.xml")
          .replaceAll("(?s)^.*?<dependencyManagement>|</dependencyManagement>.*", "");

  private static String read(String file) {
    try {
      return Files.readString(ROOT.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void librariesHaveTheTestedVersions() {
    String tested = root.substring(0, root.indexOf("</dependencyManagement>"));
    int libraries = 0;
    Matcher managed = MANAGED.matcher(bom);
    while (managed.find()) {
      if (!managed.group(1).equals("dev.quipu")) {
        String name = managed.group(1) + ":" + managed.group(2);
        assertEquals(version(tested, name), managed.group(3), name);
        libraries++;
      }
    }
    assertTrue(libraries > 5, "libraries: " + libraries);
  }

  private String version(String tested, String name) {
    Matcher managed = MANAGED.matcher(tested);
    while (managed.find()) {
      if (name.equals(managed.group(1) + ":" + managed.group(2))) {
        String version = managed.group(3);
        if (!version.startsWith("${")) {
          return version;
        }
        String property = version.substring(2, version.length() - 1);
        int from = root.indexOf("<" + property + ">") + property.length() + 2;
        return root.substring(from, root.indexOf('<', from));
      }
    }
    return "none";
  }

  @Test
  void allPublishedModulesAreNamed() {
    Set<String> published = new TreeSet<>();
    Matcher module = MODULE.matcher(root.substring(0, root.indexOf("<profiles>")));
    while (module.find()) {
      Matcher artifact = ARTIFACT.matcher(read(module.group(1) + "/pom.xml"));
      assertTrue(artifact.find(), module.group(1));
      published.add(artifact.group(1));
    }
    published.removeAll(OURS_ONLY);
    Set<String> named = new TreeSet<>();
    Matcher managed = MANAGED.matcher(bom);
    while (managed.find()) {
      if (managed.group(1).equals("dev.quipu")) {
        named.add(managed.group(2));
      }
    }
    assertEquals(published, named);
  }
}
