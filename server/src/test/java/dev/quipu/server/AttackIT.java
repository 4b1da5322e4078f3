package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Attacks a server with a heap of 128 MiB: well-behaved clients are served throughout, and after a
 * kill all acknowledged adds are stored exactly once. {@code -Dattack.seconds} sets the duration,
 * {@code -Dattack.idle} the number of idle connections, {@code -Dattack.deadline} the deadline of
 * each call in seconds.
 */
final class AttackIT {
  private static final Duration TIME = Duration.ofSeconds(Integer.getInteger("attack.seconds", 2));
  private static final Duration QUIET = Duration.ofMillis(500);
  private static final Duration LOOK = Duration.ofMillis(50);

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource
  void wellBehavedClientsAreServed(Attack attack) throws Exception {
    Path data = directory.resolve("data");
    List<WellBehaved> clients = new ArrayList<>();
    String exited = "";
    try (AttackedServer server = AttackedServer.start(data)) {
      for (WellBehaved.Protocol protocol : WellBehaved.Protocol.values()) {
        clients.add(new WellBehaved(protocol, server.port(protocol)));
      }
      String said = attack(server, attack, clients);
      System.out.printf("AttackIT %s: %s%n", attack, said);
      clients.forEach(client -> System.out.printf("AttackIT %s: %s%n", attack, client));
      if (!server.process().isAlive()) {
        exited = "exited with " + server.process().exitValue() + ": " + server.log();
      }
    }
    List<String> differences = new ArrayList<>();
    long start = Clock.system().nanoTime();
    try (AttackedServer server = AttackedServer.start(data)) {
      long millis = (Clock.system().nanoTime() - start) / 1_000_000;
      System.out.printf("AttackIT %s: restarted in %d ms%n", attack, millis);
      List<String> unserved = clients.stream().flatMap(each -> each.complaints().stream()).toList();
      for (WellBehaved client : clients) {
        client.settle(server.ports().get(clients.indexOf(client)));
        differences.addAll(client.differences());
      }
      String end = exited;
      assertAll(
          () -> assertEquals("", end),
          () -> assertEquals(List.of(), unserved),
          () -> assertEquals(List.of(), differences),
          () -> clients.forEach(each -> assertTrue(each.adds() > 0, each + " was never served")));
    }
  }

  /** Attacks while the clients run, which start earlier and stop later. */
  private static String attack(AttackedServer server, Attack attack, List<WellBehaved> clients)
      throws Exception {
    AtomicBoolean stopClients = new AtomicBoolean();
    AtomicBoolean stopAttack = new AtomicBoolean();
    try (ExecutorService executor = Executors.newCachedThreadPool()) {
      List<Future<?>> running = new ArrayList<>();
      for (WellBehaved client : clients) {
        running.add(executor.submit(() -> client.run(stopClients)));
      }
      String said;
      try {
        Clock clock = Clock.system();
        Progress progress =
            new Progress("adds", () -> clients.stream().mapToInt(WellBehaved::adds).sum());
        while (clients.stream().anyMatch(each -> each.adds() < WellBehaved.COUNTERS)) {
          progress.check(); // later, there may be no memory for new counters
          clock.sleep(LOOK);
        }
        Future<String> attacking = executor.submit(() -> attack.run(server, stopAttack));
        long end = clock.nanoTime() + TIME.toNanos();
        while (clock.nanoTime() < end && server.process().isAlive() && !attacking.isDone()) {
          clock.sleep(LOOK);
        }
        stopAttack.set(true);
        said = attacking.get();
        clock.sleep(QUIET);
      } finally {
        stopClients.set(true);
      }
      for (Future<?> each : running) {
        each.get();
      }
      return said;
    }
  }
}
