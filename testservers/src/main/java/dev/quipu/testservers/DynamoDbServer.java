package dev.quipu.testservers;

import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProvider;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * DynamoDB Local, in a separate process. It is licensed to owners of an AWS account and never
 * shipped: only a build with the profile {@code dynamodb-local} fetches it.
 */
public final class DynamoDbServer implements AutoCloseable {
  private static final Duration FIRST_REPLY_MAX = Duration.ofMinutes(1);

  private final int port = ServerProcess.freePort();
  private final ServerProcess process;

  private DynamoDbServer(String classPath) {
    this.process =
        ServerProcess.start(
            List.of(
                ClassPaths.java(),
                "-Xmx512m",
                ClassPaths.SHORT_LIVED,
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
   * Starts a server.
   *
   * @return empty if it was not built; in CI that is an error
   */
  public static Optional<DynamoDbServer> start() {
    Optional<String> classPath = ClassPaths.of("stores/dynamodb-local");
    if (classPath.isEmpty() && "true".equals(System.getenv("CI"))) {
      throw new IllegalStateException("DynamoDB Local is missing: build with -Pdynamodb-local");
    }
    Optional<DynamoDbServer> server = classPath.map(DynamoDbServer::new);
    server.ifPresent(DynamoDbServer::warmUp);
    return server;
  }

  /** Its first replies take longer than the timeout of a driver, if the machine is busy. */
  private void warmUp() {
    String uri =
        "dynamodb://key:secret@us-east-1/warmup?endpoint=%s&timeoutMillis=%d"
            .formatted(endpoint(), FIRST_REPLY_MAX.toMillis());
    try (StoreDriver driver = StoreProvider.open(uri)) {
      driver.get(new Key("p", "s"), Consistency.STRONG);
    }
  }

  /** Returns its endpoint. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  @Override
  public void close() {
    process.close();
  }
}
