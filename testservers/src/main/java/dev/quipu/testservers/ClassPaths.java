package dev.quipu.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Reads the class paths of servers in Java, which separate modules write to files. */
final class ClassPaths {
  /** JVM option for short processes, which would spend most of their time in compilation. */
  static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1";

  private ClassPaths() {}

  /**
   * Returns the class path of a module; empty if it was not built.
   *
   * @param module directory of the module
   */
  static Optional<String> of(String module) {
    for (Path each = Path.of("").toAbsolutePath(); each != null; each = each.getParent()) {
      Path file = each.resolve(module).resolve("target/classpath");
      if (Files.exists(file)) {
        try {
          return Optional.of(Files.readString(file).strip());
        } catch (IOException e) {
          throw new UncheckedIOException("cannot read " + file, e);
        }
      }
    }
    return Optional.empty();
  }

  /** Returns the path of the current Java executable. */
  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }
}
