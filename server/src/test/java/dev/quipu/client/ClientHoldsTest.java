package dev.quipu.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Hold;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.Transactions;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Durability;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions and holds by a client of a server on the engine. */
final class ClientHoldsTest {
  private static final long SEED = Long.getLong("seed", System.nanoTime());
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final int CALLS = 2_000;
  private static final int CALLS_MAX = 40_000;

  /** The ids in use change slowly, so that each has all states. */
  private static final int IDS = 12;

  private static final int CALLS_PER_ID = 10;

  @TempDir Path directory;
  private final List<AutoCloseable> closing = new ArrayList<>();
  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final List<Engine> engines = new ArrayList<>();
  private Quipu local;
  private FaultProxy proxy;

  @SuppressWarnings("NullAway.Init") // JUnit calls start before each test
  ClientHoldsTest() {}

  @BeforeEach
  void start() throws Exception {
    local = closed(open("served"));
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    HttpServer server =
        closed(HttpServer.start(options, Services.of(local, "engine"), Clock.system()));
    proxy =
        closed(
            FaultProxy.start(
                new HttpProtocol(), server.address().getPort(), Duration.ofSeconds(3), write -> 1));
  }

  private Quipu open(String name) {
    EngineOptions options =
        EngineOptions.defaults().withDurability(Durability.NONE).withClock(clock);
    Engine engine = Engine.open(directory.resolve(name), options);
    engines.add(engine);
    return Quipu.on(Backends.backend(engine));
  }

  private <T extends AutoCloseable> T closed(T resource) {
    closing.addFirst(resource);
    return resource;
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : closing) {
      each.close();
    }
  }

  private Quipu client(Duration timeout) {
    return closed(
        Quipu.builder()
            .server(URI.create("http://127.0.0.1:" + proxy.port()))
            .timeout(timeout)
            .build());
  }

  /** Random calls have the results that the same calls have on an engine in this process. */
  @Test
  void everyResultIsThatOfTheEngine() {
    RandomGenerator random = Randomness.seeded(SEED);
    Quipu client = client(LONG);
    Quipu direct = closed(open("direct"));
    Set<String> kinds = new TreeSet<>();
    Set<String> all =
        Set.of(
            "Applied",
            "Applied replayed",
            "Rejected",
            "Rejected CANCELED",
            "Conflict",
            "Outcome",
            "OPEN",
            "OPEN replayed",
            "SETTLED",
            "SETTLED replayed",
            "SETTLED late",
            "RELEASED",
            "RELEASED replayed",
            "EXPIRED replayed",
            "Exceeded",
            "Closed",
            "NotFound",
            "IllegalArgumentException",
            "NotAppliedException");
    // Some results are rare: a few seeds need more calls.
    for (int i = 0; i < CALLS || (i < CALLS_MAX && !kinds.containsAll(all)); i++) {
      if (random.nextInt(20) == 0) {
        clock.advance(Duration.ofSeconds(random.nextInt(20)));
        engines.forEach(Engine::sweep); // on one, the periodic sweep might not have run yet
      }
      BiFunction<Transactions, Holds, Object> call = call(i, random);
      Object expected = result(call, direct);
      Object actual = result(call, client);
      int number = i;
      assertEquals(expected, actual, () -> "seed %d, call %d".formatted(SEED, number));
      kinds.add(kind(expected));
    }
    Set<String> missing = new TreeSet<>(all);
    missing.removeAll(kinds);
    assertEquals(Set.of(), missing, () -> "seed " + SEED + ": results that did not occur");
  }

  private static Object result(BiFunction<Transactions, Holds, Object> call, Quipu quipu) {
    try {
      return call.apply(quipu.part(Transactions.class), quipu.part(Holds.class));
    } catch (IllegalArgumentException | NotAppliedException e) {
      return e.getClass(); // the latter by a cancellation of a hold
    }
  }

  private static String kind(Object result) {
    return switch (result) {
      case TransactionResult.Applied applied ->
          applied.isReplayed() ? "Applied replayed" : "Applied";
      case TransactionResult.Rejected rejected ->
          rejected.counter().isEmpty() ? "Rejected CANCELED" : "Rejected";
      case HoldResult.Done done ->
          done.hold().state()
              + (done.hold().isLate() ? " late" : done.isReplayed() ? " replayed" : "");
      case TransactionOutcome outcome -> "Outcome";
      case Class<?> thrown -> thrown.getSimpleName();
      default -> result.getClass().getSimpleName();
    };
  }

  private static BiFunction<Transactions, Holds, Object> call(int call, RandomGenerator random) {
    int number = call / CALLS_PER_ID + random.nextInt(IDS);
    RequestId id = RequestId.of("é " + number);
    // mostly the same contents for the same id, so that calls are repeated
    RandomGenerator contents = random.nextInt(5) == 0 ? random : Randomness.seeded(number);
    List<Add> adds = adds(contents);
    long delta = random.nextInt(-6, 3);
    String counter = counter(random);
    return switch (random.nextInt(14)) {
      case 0, 1 -> (transactions, holds) -> transactions.commit(id, adds);
      case 2 -> (transactions, holds) -> transactions.outcome(id);
      case 3 ->
          random.nextInt(3) > 0
              ? (transactions, holds) -> transactions.outcome(id)
              : (transactions, holds) -> transactions.cancel(id);
      case 4, 5, 6, 7 -> {
        HoldRequest request =
            new HoldRequest(
                id,
                adds,
                Duration.ofSeconds(contents.nextInt(1, 60)),
                contents.nextBoolean() ? Late.REJECT : Late.APPLY,
                contents.nextBoolean() ? Excess.REJECT : Excess.ALLOW);
        yield (transactions, holds) -> holds.place(request);
      }
      case 8 -> (transactions, holds) -> holds.settle(id, Settlement.each(delta));
      case 9 -> {
        Map<String, Long> deltas = new HashMap<>();
        adds.forEach(add -> deltas.put(add.counter(), add.delta()));
        yield (transactions, holds) -> holds.settle(id, Settlement.of(deltas));
      }
      case 10 -> (transactions, holds) -> holds.release(id);
      case 11 -> (transactions, holds) -> holds.extend(id, MINUTE);
      case 12 -> (transactions, holds) -> holds.find(id);
      default -> {
        int limit = random.nextInt(1, 20);
        yield (transactions, holds) ->
            List.of(holds.balance(counter), holds.list(counter, null, limit));
      }
    };
  }

  private static String counter(RandomGenerator random) {
    return "budget/ü " + random.nextInt(3);
  }

  private static List<Add> adds(RandomGenerator random) {
    Map<String, Add> adds = new HashMap<>();
    for (int i = random.nextInt(1, 3); i > 0; i--) {
      String name = counter(random);
      long delta = random.nextInt(2) == 0 ? -1 - random.nextInt(4) : 1 + random.nextInt(4);
      Bounds bounds =
          random.nextInt(3) == 0 ? Bounds.none() : Bounds.between(-5, 20 + random.nextInt(3));
      adds.put(name, new Add(name, delta, bounds, null));
    }
    return List.copyOf(adds.values());
  }

  private static final List<WireFault> FAULTS =
      List.of(WireFault.REPLY_DROPPED, WireFault.CONNECTION_RESET, WireFault.DUPLICATE);

  private long stock() {
    return local.counter("stock").read().orElseThrow().value();
  }

  @Test
  void aCallWhoseReplyIsLostIsRepeatedAndCountsOnce() {
    assertTrue(local.counter("stock").add(100).isApplied());
    Quipu quipu = client(LONG);
    Holds holds = quipu.part(Holds.class);
    long expected = 100;
    for (WireFault fault : FAULTS) {
      boolean isReplayed = fault == WireFault.REPLY_DROPPED;
      proxy.use(FaultPlan.of(fault));
      TransactionResult.Applied moved =
          quipu
              .transaction(RequestId.of("move " + fault))
              .add("stock", -5, Bounds.atLeast(0))
              .add("sold", 5)
              .commit()
              .orElseThrow();
      assertEquals(isReplayed, moved.isReplayed(), fault::name);
      expected -= 5;
      assertEquals(expected, stock());

      proxy.use(FaultPlan.of(fault));
      RequestId id = RequestId.of("hold " + fault);
      List<Add> adds = List.of(new Add("stock", -7, Bounds.atLeast(0), null));
      HoldResult.Done placed = holds.place(new HoldRequest(id, adds, MINUTE)).orElseThrow();
      assertEquals(isReplayed, placed.isReplayed(), fault::name);
      assertEquals(expected - 7, stock());

      proxy.use(FaultPlan.of(fault));
      assertEquals(HoldReading.State.OPEN, holds.extend(id, MINUTE).orElseThrow().hold().state());
      proxy.use(FaultPlan.of(fault));
      HoldResult.Done settled = holds.settle(id, Settlement.each(-2)).orElseThrow();
      assertEquals(isReplayed, settled.isReplayed(), fault::name);
      expected -= 2;
      assertEquals(expected, stock());

      RequestId other = RequestId.of("released " + fault);
      assertInstanceOf(HoldResult.Done.class, holds.place(new HoldRequest(other, adds, MINUTE)));
      proxy.use(FaultPlan.of(fault));
      assertEquals(isReplayed, holds.release(other).orElseThrow().isReplayed(), fault::name);
      assertEquals(expected, stock());
      proxy.use(FaultPlan.of(fault));
      TransactionOutcome canceled =
          quipu.part(Transactions.class).cancel(RequestId.of("never " + fault));
      assertEquals(new TransactionOutcome.Canceled(), canceled);
      assertEquals(6, proxy.ledger().fired(fault), fault::name);
    }
  }

  @Test
  void aCallWithoutAReplyIsUnknownAndResolvedByARepeat() {
    assertTrue(local.counter("stock").add(10).isApplied());
    Quipu quipu = client(Duration.ofMillis(1_500));
    Holds holds = quipu.part(Holds.class);
    HoldRequest request =
        new HoldRequest(
            RequestId.of("h"), List.of(new Add("stock", -7, Bounds.atLeast(0), null)), MINUTE);
    assertInstanceOf(HoldResult.NotFound.class, holds.release(RequestId.of("connects")));
    proxy.use(any -> Optional.of(WireFault.HANG));
    assertThrows(
        OutcomeUnknownException.class,
        () -> {
          var unused = holds.place(request);
        });
    proxy.use(FaultPlan.none());
    assertTrue(holds.place(request).orElseThrow().isReplayed());
    assertEquals(3, stock());
  }

  @Test
  void aHoldThatIsClosedUnsettledIsReleased() throws Exception {
    assertTrue(local.counter("stock").add(10).isApplied());
    Quipu quipu = client(LONG);
    try (Hold hold =
        quipu.hold(RequestId.of("a")).add("stock", -4, Bounds.atLeast(0)).place(MINUTE)) {
      assertEquals(6, stock());
      assertEquals(hold.placed(), quipu.part(Holds.class).find(hold.id()).orElseThrow());
    }
    assertEquals(10, stock());
  }

  @Test
  void pagesOfTheServerAreJoined() {
    Quipu quipu = client(LONG);
    Holds holds = quipu.part(Holds.class);
    String longName = "n".repeat(500);
    List<Add> adds = new ArrayList<>(List.of(new Add("stock", 1, null)));
    for (int i = 1; i < Transactions.COUNTERS_MAX; i++) {
      adds.add(new Add(i + longName, 1, null));
    }
    for (int i = 0; i < 50; i++) {
      assertInstanceOf(
          HoldResult.Done.class, holds.place(new HoldRequest(RequestId.of("h" + i), adds, MINUTE)));
    }
    List<HoldReading> all = holds.list("stock", null, 50);
    assertEquals(local.part(Holds.class).list("stock", null, 50), all);
    assertEquals(50, all.size());
    assertEquals(all.subList(20, 30), holds.list("stock", all.get(19).id(), 10));
  }
}
