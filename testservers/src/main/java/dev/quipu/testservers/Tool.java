package dev.quipu.testservers;

import java.io.File;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds installed programs; {@code ./dev deps} installs them. */
public final class Tool {
  private static final List<String> ALSO = List.of("/usr/bin", "/usr/local/bin");

  private Tool() {}

  /**
   * Returns the path of a program.
   *
   * @return empty if it is not installed; in CI that is an error
   */
  public static Optional<String> find(String name) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    Optional<String> found =
        Stream.concat(Stream.of(path.split(Pattern.quote(File.pathSeparator), -1)), ALSO.stream())
            .map(directory -> new File(directory, name))
            .filter(file -> file.isFile() && file.canExecute())
            .map(File::getAbsolutePath)
            .findFirst();
    if (found.isEmpty() && "true".equals(System.getenv("CI"))) {
      throw new IllegalStateException(name + " is missing: ./dev deps installs it");
    }
    return found;
  }
}
