package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.testservers.DynamoDbServer;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** One server for all tests, with a table per test. */
final class Tables {
  static final String NOT_BUILT = "no DynamoDB Local: build with -Pdynamodb-local";

  private static final AtomicInteger TABLES = new AtomicInteger();
  private static final Optional<DynamoDbServer> SERVER = DynamoDbServer.start();

  private Tables() {}

  static DynamoDbServer server() {
    assumeTrue(SERVER.isPresent(), NOT_BUILT);
    return SERVER.orElseThrow();
  }

  static String newUri(URI endpoint, Duration timeout) {
    return "dynamodb://key:secret@us-east-1/table%d?endpoint=%s&timeoutMillis=%d"
        .formatted(TABLES.incrementAndGet(), endpoint, timeout.toMillis());
  }
}
