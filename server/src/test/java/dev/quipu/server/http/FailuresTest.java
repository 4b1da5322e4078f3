package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.http.route.Services;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.time.Clock;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Exceptions that say "invalid" or "unsupported" are believed only before the store was called. */
final class FailuresTest {
  /** A store that applies writes, and then throws. */
  private record Broken(MemoryDriver memory, Consumer<StoreDriver> failure) implements StoreDriver {
    @Override
    public StoreProfile profile() {
      return memory.profile();
    }

    @Override
    public Optional<Item> get(Key key, Consistency consistency) {
      return memory.get(key, consistency);
    }

    @Override
    public WriteResult write(Write write) {
      WriteResult result = memory.write(write);
      failure.accept(this);
      return result;
    }

    @Override
    public void close() {
      memory.close();
    }
  }

  /** Returns the reply to an add on a store that fails in this way after a write. */
  private static Client.Reply add(Consumer<StoreDriver> failure) throws Exception {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (Quipu quipu = Backends.on(new Broken(new MemoryDriver(), failure));
        HttpServer server =
            HttpServer.start(options, Services.of(quipu, "broken:"), Clock.system())) {
      Client client = new Client(server.address());
      assertEquals(400, client.add("a", "{\"delta\":0.5}").status());
      assertEquals(400, client.add("%01", "{\"delta\":1}").status());
      return client.add("a", "{\"delta\":1}", "Idempotency-Key", "one");
    }
  }

  @Test
  void anIllegalArgumentWithinTheStoreIsInternal() throws Exception {
    List<Consumer<StoreDriver>> internal =
        List.of(
            store -> new Scan("p", "", Optional.empty(), false, 0, Consistency.STRONG),
            store -> Base64.getDecoder().decode("%"),
            store -> List.of().iterator().remove());
    for (Consumer<StoreDriver> each : internal) {
      Client.Reply reply = add(each);
      assertEquals(500, reply.status(), reply.body());
      assertEquals("unknown", reply.text("outcome"));
    }
  }

  @Test
  void anUnsupportedOperationAfterAWriteIsUnknown() throws Exception {
    Client.Reply reply = add(store -> store.addTokens(new Key("p", "s"), "f", Set.of("t")));
    assertEquals(503, reply.status(), reply.body());
    assertEquals("unknown", reply.text("outcome"));
    assertTrue(reply.text("detail").contains("lacks"), reply.body());
  }
}
