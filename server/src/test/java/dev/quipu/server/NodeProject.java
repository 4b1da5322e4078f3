package dev.quipu.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.testservers.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Scripts of {@code src/test}, with the npm packages of their {@code package.json}.
 *
 * @param directory a copy of the scripts, in which the packages are installed
 */
public record NodeProject(Path directory) {
  /** Installs the packages of a directory of {@code src/test}; the test is skipped without npm. */
  public static NodeProject install(String name) throws IOException, InterruptedException {
    Optional<String> npm = Tool.find("npm");
    assumeTrue(npm.isPresent(), "no npm on this machine: ./dev deps installs it");
    Path directory = Files.createDirectories(Path.of("target", name)).toAbsolutePath();
    try (Stream<Path> files = Files.list(Path.of("src/test", name))) {
      for (Path file : files.toList()) {
        Path to = directory.resolve(file.getFileName());
        Files.copy(file, to, StandardCopyOption.REPLACE_EXISTING);
      }
    }
    List<String> command =
        List.of(
            npm.orElseThrow(),
            "install",
            "--no-package-lock",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts");
    try (ToolProcess process = ToolProcess.start(directory, command)) {
      process.await(0);
    }
    return new NodeProject(directory);
  }

  /** Returns the Node that was installed with the packages; that of the system may be too old. */
  public String node() {
    Optional<String> node =
        Stream.of("x64", "arm64")
            .map(machine -> "node_modules/node-linux-" + machine + "/bin/node")
            .map(directory::resolve)
            .filter(Files::isExecutable)
            .map(Path::toString)
            .findFirst()
            .or(() -> Tool.find("node"));
    assumeTrue(node.isPresent(), "no node on this machine: ./dev deps installs it");
    return node.orElseThrow();
  }
}
