package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.testservers.DynamoDbServer;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** One server for all tests, a table for each. */
final class Tables {
  private static final Optional<DynamoDbServer> SERVER = DynamoDbServer.start();
  private static final AtomicInteger TABLES = new AtomicInteger();

  private Tables() {}

  static DynamoDbServer server() {
    assumeTrue(SERVER.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    return SERVER.orElseThrow();
  }

  static String newUri(URI endpoint, Duration timeout) {
    return "dynamodb://key:secret@us-east-1/table%d?endpoint=%s&timeoutMillis=%d"
        .formatted(TABLES.incrementAndGet(), endpoint, timeout.toMillis());
  }
}
