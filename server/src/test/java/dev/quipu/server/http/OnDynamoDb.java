package dev.quipu.server.http;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Counters;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Quipu;
import dev.quipu.Reason;
import dev.quipu.backend.Backends;
import dev.quipu.layer.Store;
import dev.quipu.server.cli.serve.CountingFlags;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import picocli.CommandLine;

/** A server with the counting options of {@code quipu serve}, on a table of DynamoDB Local. */
final class OnDynamoDb implements AutoCloseable {
  private static final AtomicInteger TABLES = new AtomicInteger();
  private static final Optional<DynamoDbServer> STORE = DynamoDbServer.start();

  private final AtomicInteger lost = new AtomicInteger();
  private final StoreDriver driver;
  private final Quipu quipu;
  private final HttpServer server;
  final CountingFlags flags;
  final Client client;

  /**
   * Starts a server.
   *
   * @param uriOptions further options of the URI of the store, each after {@code &}
   * @param options options of the command
   */
  static OnDynamoDb start(String uriOptions, String... options) throws IOException {
    assumeTrue(STORE.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
    return new OnDynamoDb(
        "dynamodb://key:secret@us-east-1/http%d?endpoint=%s&timeoutMillis=%d%s"
            .formatted(
                TABLES.incrementAndGet(),
                STORE.orElseThrow().endpoint(),
                Duration.ofMinutes(1).toMillis(),
                uriOptions),
        options);
  }

  private OnDynamoDb(String uri, String... options) throws IOException {
    flags = parse(options);
    driver = StoreProvider.open(uri);
    quipu = Backends.on(new InterceptingDriver(driver, new LostReplies()), flags::counters);
    HttpOptions http = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(http, Services.of(quipu, "test"), Clock.system());
    client = new Client(server.address());
  }

  static CountingFlags parse(String... options) {
    return CommandLine.populateCommand(new CountingFlags(), options);
  }

  /** Loses the replies to this number of the next writes of a value. */
  void loseReplies(int replies) {
    lost.set(replies);
  }

  Counters counters() {
    return quipu.counters();
  }

  String uri() {
    return "http://127.0.0.1:" + server.address().getPort();
  }

  Store store() {
    return quipu.part(Store.class);
  }

  @Override
  public void close() {
    server.close();
    quipu.close();
    driver.close();
  }

  private final class LostReplies implements InterceptingDriver.Interceptor {
    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      WriteResult result = call.get();
      boolean isValue = writes.stream().anyMatch(Write.Update.class::isInstance);
      if (isValue && lost.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new OutcomeUnknownException(Reason.UNAVAILABLE, "the reply was lost", null);
      }
      return result;
    }
  }
}
