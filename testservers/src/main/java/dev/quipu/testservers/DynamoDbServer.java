package dev.quipu.testservers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * DynamoDB Local, in a process of its own. It is licensed to owners of an AWS account and never
 * shipped: it is there only after a build with the profile {@code dynamodb-local}.
 */
public final class DynamoDbServer implements AutoCloseable {
  private final int port = ServerProcess.freePort();
  private final ServerProcess process;

  private DynamoDbServer(String classPath) {
    this.process =
        ServerProcess.start(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath,
                "software.amazon.dynamodb.services.local.main.ServerRunner",
                "-inMemory",
                "-sharedDb",
                "-disableTelemetry",
                "-port",
                Integer.toString(port)),
            Map.of("DDB_LOCAL_TELEMETRY", "0"),
            port);
  }

  /**
   * Starts one.
   *
   * @return empty if it was not built; in CI that is an error
   */
  public static Optional<DynamoDbServer> start() {
    Optional<String> classPath = classPath(Path.of("").toAbsolutePath());
    if (classPath.isEmpty() && "true".equals(System.getenv("CI"))) {
      throw new IllegalStateException("no DynamoDB Local here: build with -Pdynamodb-local");
    }
    return classPath.map(DynamoDbServer::new);
  }

  /** What the module stores/dynamodb-local found, from any module's directory. */
  private static Optional<String> classPath(Path from) {
    for (Path each = from; each != null; each = each.getParent()) {
      Path file = each.resolve("stores/dynamodb-local/target/classpath");
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

  /** Where it listens. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  @Override
  public void close() {
    process.close();
  }
}
