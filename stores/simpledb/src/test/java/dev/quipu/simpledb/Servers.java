package dev.quipu.simpledb;

import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.time.Clock;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Starts servers and opens stores on them. */
final class Servers {
  static final String DOMAIN = "domain";

  private Servers() {}

  /** Opens a store on a separate server, closed with it, since the number of domains is limited. */
  static StoreDriver openAlone(int domains) {
    SimpleDbServer server = SimpleDbServer.start(SimpleDbOptions.DEFAULT, Clock.system());
    SimpleDbClient client = client(server.endpoint(), Clock.system());
    List<String> names = IntStream.range(0, domains).mapToObj(i -> DOMAIN + i).toList();
    SimpleDbDriver driver =
        SimpleDbDriver.open(
            client,
            names,
            () -> {
              client.close();
              server.close();
            });
    driver.createDomains();
    return driver;
  }

  static SimpleDbClient client(URI endpoint, Clock clock) {
    SimpleDbClient.Credentials credentials =
        new SimpleDbClient.Credentials("key", "secret", Optional.empty());
    return new SimpleDbClient(endpoint, credentials, Duration.ofSeconds(5), clock);
  }

  /** Opens a store on a server by URI. */
  static StoreDriver open(SimpleDbServer server, long timeoutMillis) {
    return StoreProvider.open(
        "simpledb://key:secret@us-east-1/%s?endpoint=%s&timeoutMillis=%d"
            .formatted(DOMAIN, server.endpoint(), timeoutMillis));
  }
}
