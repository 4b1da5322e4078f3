package dev.quipu.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The class paths of servers in Java, which modules of their own write down. */
final class ClassPaths {
  /** Option of a JVM that lives for seconds: most of its time would go into compiling itself. */
  static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1";

  private ClassPaths() {}

  /**
   * What a module found, from any module's directory; empty if it was not built.
   *
   * @param module its directory
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

  /** The Java that runs this. */
  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }
}
