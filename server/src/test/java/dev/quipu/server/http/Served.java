package dev.quipu.server.http;

import dev.quipu.Quipu;
import dev.quipu.server.http.route.Services;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A server for as long as a test uses it. */
interface Served {
  /** Uses the server. */
  void by(Client client) throws IOException;

  /** Starts a server on a backend, and closes both after their use. */
  static void on(Quipu quipu, Served use) throws IOException {
    on(quipu, services -> services, use);
  }

  /** Starts a server with other services on a backend, and closes both after their use. */
  static void on(Quipu quipu, UnaryOperator<Services> change, Served use) throws IOException {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    Services services = change.apply(Services.of(quipu, "memory:"));
    try (quipu;
        HttpServer server = HttpServer.start(options, services, Clock.system())) {
      use.by(new Client(server.address()));
    }
  }
}
