package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Interrupting callers at any moment affects only these callers. */
final class InterruptTest {
  private static final int CLIENTS = 4;
  private static final int ADDS = 60;

  @TempDir Path directory;

  @Test
  void anInterruptedCallerNeitherStopsTheEngineNorLosesACount() throws Exception {
    try (Engine engine =
        Engine.open(directory, EngineOptions.defaults().withLog(1 << 20, 1 << 21))) {
      List<Thread> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        clients.add(Thread.ofPlatform().start(() -> work(engine, client)));
      }
      while (clients.stream().anyMatch(Thread::isAlive)) {
        clients.forEach(Thread::interrupt);
        LockSupport.parkNanos(100_000); // otherwise hardly any call would complete
      }
      for (Thread client : clients) {
        client.join();
      }
      assertEquals(CLIENTS * ADDS, engine.read("a").orElseThrow().value());
    }
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      assertEquals(CLIENTS * ADDS, engine.read("a").orElseThrow().value());
    }
  }

  private static void work(Engine engine, int client) {
    for (int i = 0; i < ADDS; i++) {
      Add add = new Add("a", 1, RequestId.of(client + "/" + i));
      boolean definite = false;
      while (!definite) {
        try {
          AddResult result = engine.add(add);
          definite = true;
          assertTrue(result instanceof AddResult.Applied || result instanceof AddResult.Replayed);
        } catch (QuipuException e) {
          assertEquals(Outcome.UNKNOWN, e.outcome(), e.getMessage());
          Thread.interrupted(); // and repeat under the same id
        }
      }
    }
  }
}
