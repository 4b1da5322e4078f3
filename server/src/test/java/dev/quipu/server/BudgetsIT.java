package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.resp.RawClient;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.RedisProtocol;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Budgets that four processes reserve and settle on both ports, while every twentieth reply is
 * lost, callers are canceled, and the server and the clients are killed in turn. What was spent
 * equals the files of the clients, nothing stays reserved, no value is below its floor, and no
 * rejection is wrong. With {@code -Dbudgets.cycles=N}, a round has that many cycles; with {@code
 * -Dsoak.seconds=N}, rounds follow each other for that time, with a kill every two seconds.
 */
final class BudgetsIT {
  private static final int PROCESSES = 4;
  private static final int CLIENTS = 32;
  private static final int CYCLES = Integer.getInteger("budgets.cycles", Soak.size(3_200, 64_000));
  private static final int WRONG_CYCLES = 120;
  private static final int KILLS = 4; // of a round in CI
  private static final double LOST = 0.05;
  private static final long SEED = Long.getLong("seed", 20_261_128L);
  private static final Duration KILL_EVERY = Duration.ofSeconds(2);
  private static final int CYCLES_BETWEEN_KILLS = 500; // processes take time to start
  private static final Duration READ_EVERY = Duration.ofMillis(5);
  private static final Pattern NUMBER = Pattern.compile("\"(value|held)\":\"?(-?\\d+)");

  /** Budget of a counter that a single hold never exhausts. */
  private static final long ENOUGH = 3_000;

  /** Budget of a counter that is less than what {@link #WRONG_CYCLES} spend. */
  private static final long TOO_LITTLE = 60;

  /** Less than any hold that a client must not leave open. */
  private static final long LEFT_MAX = 500;

  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong least = new AtomicLong(Long.MAX_VALUE);
  private volatile boolean isOver;

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  BudgetsIT() {}

  /** The server, and its ports with faults. */
  private static final class Front implements AutoCloseable {
    private final Path out;
    private final Path data;
    private QuipuProcess server;
    private final FaultProxy http;
    private final FaultProxy redis;

    Front(Path directory) throws IOException {
      this.out = directory.resolve("out");
      this.data = directory.resolve("data");
      this.server = QuipuProcess.serve(out, "--data", data.toString(), "--resp", "0");
      this.http = proxy(new HttpProtocol(), server.uri().getPort());
      this.redis = proxy(new RedisProtocol(), server.redisPort());
    }

    private static FaultProxy proxy(Protocol protocol, int port) {
      return FaultProxy.start(protocol, port, Duration.ofSeconds(1), write -> 1);
    }

    void loseReplies(long seed) {
      http.use(FaultPlan.atRandom(seed, LOST, WireFault.REPLY_DROPPED, write -> true));
      redis.use(FaultPlan.atRandom(seed + 1, LOST, WireFault.REPLY_DROPPED, write -> true));
    }

    long lost() {
      return http.ledger().fired(WireFault.REPLY_DROPPED)
          + redis.ledger().fired(WireFault.REPLY_DROPPED);
    }

    void killAndRestart() throws IOException {
      int httpPort = server.uri().getPort();
      int redisPort = server.redisPort();
      server.close();
      // or a connection of the proxy to the port of the dead server could get that port itself
      http.reject();
      redis.reject();
      server =
          QuipuProcess.serveAt(
              httpPort, out, "--data", data.toString(), "--resp", Integer.toString(redisPort));
      http.accept();
      redis.accept();
    }

    /** Returns the value of a counter, or what is held of it. */
    long read(String counter, String member) throws IOException, InterruptedException {
      Matcher found = NUMBER.matcher(server.send("/v1/counters/" + counter, "").body());
      while (found.find()) {
        if (found.group(1).equals(member)) {
          return Long.parseLong(found.group(2));
        }
      }
      return 0;
    }

    @Override
    public void close() {
      http.close();
      redis.close();
      server.close();
    }
  }

  @Test
  void whatWasSpentEqualsTheFilesOfTheClients() throws Exception {
    Soak.Rounds rounds = Soak.rounds(1);
    long begin = Clock.system().nanoTime();
    long cycles = 0;
    try (Front front = new Front(directory)) {
      Thread reader = Thread.ofPlatform().start(() -> readAll(front, "round-"));
      while (rounds.next()) {
        String run = "round-" + rounds.begun();
        front.loseReplies(SEED + 2L * rounds.begun());
        BudgetLedger ledger = run(front, run);
        cycles += ledger.figure("cycles");
        System.out.printf(
            "BudgetsIT: %d cycles, %d/s; %s, %d replies lost%n",
            cycles,
            cycles * 1_000_000_000L / (Clock.system().nanoTime() - begin),
            ledger,
            front.lost());
        for (String each : List.of("settled", "returned", "abandoned", "rejected", "too late")) {
          assertTrue(ledger.figure(each) > 0, "nothing was " + each + ", so this run is void");
        }
      }
      isOver = true;
      reader.join();
      assertTrue(front.lost() > 0, "no reply was lost, so this run is void");
    }
    assertTrue(least.get() >= 0, "a value was " + least.get());
  }

  /**
   * Gives each counter of a run a budget.
   *
   * @param most that of the last one; those before have less and run out one after another, so that
   *     some are contended at each time
   */
  private static Map<String, Long> fund(Front front, String run, long most)
      throws IOException, InterruptedException {
    Map<String, Long> budgets = new LinkedHashMap<>();
    for (int i = 0; i < BudgetCycle.COUNTERS; i++) {
      long budget = most * (BudgetCycle.COUNTERS + i) / (2L * BudgetCycle.COUNTERS - 1);
      String counter = BudgetCycle.counter(run, i);
      String body = "{\"delta\":%d}".formatted(budget);
      assertEquals(200, front.server.send("/v1/counters/" + counter + "/add", body).status());
      budgets.put(counter, budget);
    }
    return budgets;
  }

  private BudgetLedger run(Front front, String run) throws Exception {
    Map<String, Long> budgets = fund(front, run, ENOUGH + 10L * CYCLES / 3);
    long before = answered.get();
    List<ClientProcess> processes = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      processes.add(start(front, run, i));
    }
    Progress progress = new Progress("cycles of " + run, answered::get);
    int kill = 0;
    while (isMoreToKill(kill, before)) {
      awaitKill(progress, kill, before);
      if (kill % 2 == 0) {
        front.killAndRestart();
      } else {
        int victim = kill / 2 % PROCESSES;
        processes.get(victim).kill();
        processes.set(victim, start(front, run, victim));
      }
      kill++;
    }
    for (ClientProcess each : processes) {
      each.await();
    }
    BudgetLedger ledger = new BudgetLedger();
    for (int client = 0; client < CLIENTS; client++) {
      ledger.read(directory, run, client, CYCLES / CLIENTS);
      Files.delete(BudgetClient.journal(directory, run, client));
    }
    check(front, ledger, budgets);
    return ledger;
  }

  private boolean isMoreToKill(int kill, long before) {
    return Soak.size(0, 1) == 0 ? kill < KILLS : answered.get() - before < CYCLES * 3L / 4;
  }

  private void awaitKill(Progress progress, int kill, long before) throws InterruptedException {
    long answeredBefore = answered.get();
    if (Soak.size(0, 1) == 0) {
      progress.awaitAtLeast(before + CYCLES * (kill + 1L) / (KILLS + 2));
    } else {
      Clock.system().sleep(KILL_EVERY);
      progress.awaitAtLeast(answeredBefore + CYCLES_BETWEEN_KILLS);
    }
  }

  private ClientProcess start(Front front, String run, int process) throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.add(run);
    arguments.add(Integer.toString(front.http.port()));
    arguments.add(Integer.toString(front.redis.port()));
    arguments.add(directory.toString());
    arguments.add(Integer.toString(CYCLES / CLIENTS));
    for (int client = 0; client < CLIENTS; client++) {
      if (client / 2 % PROCESSES == process) { // both ports in each process
        arguments.add(Integer.toString(client));
      }
    }
    return ClientProcess.start(BudgetClient.class, arguments, line -> answered.incrementAndGet());
  }

  /** Compares the server with the files of the clients, all of which have ended. */
  private static void check(Front front, BudgetLedger ledger, Map<String, Long> budgets)
      throws Exception {
    ledger.checkAnswers(budgets);
    for (String counter : budgets.keySet()) {
      long held = front.read(counter, "held");
      assertTrue(held > -LEFT_MAX, "leaked: %d of %s are held".formatted(-held, counter));
    }
    for (Map.Entry<String, Long> each : budgets.entrySet()) {
      String counter = each.getKey();
      Progress.await(
          "holds of %s expire".formatted(counter), () -> front.read(counter, "held") == 0);
      long value = front.read(counter, "value");
      assertEquals(ledger.spent(counter), each.getValue() - value, "spent of " + counter);
      assertTrue(value >= 0, "overspent: %s is %d".formatted(counter, value));
    }
  }

  /** Reads the counters of all rounds until the test is over. */
  private void readAll(Front front, String prefix) {
    while (!isOver) {
      try (RawClient client = new RawClient(front.redis.port())) {
        for (int i = 0; !isOver; i++) {
          long round = answered.get() / CYCLES + 1;
          String answer =
              client.ask("GET " + BudgetCycle.counter(prefix + round, i % BudgetCycle.COUNTERS));
          if (answer.startsWith("$") && !answer.startsWith("$-1")) {
            long value = Long.parseLong(answer.split("\r\n", -1)[1]);
            least.accumulateAndGet(value, Math::min);
          }
          Clock.system().sleep(READ_EVERY);
        }
      } catch (IOException e) {
        // the server was killed: read from its successor
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** A server that is wrong once is noticed: this test can fail. */
  @Test
  void aServerThatIsWrongOnceIsNoticed() throws Exception {
    try (Front front = new Front(directory)) {
      for (BudgetCheat cheat : BudgetCheat.values()) {
        String run = cheat.name();
        long budget = cheat == BudgetCheat.FLOOR_IGNORED ? TOO_LITTLE : ENOUGH;
        Map<String, Long> budgets = fund(front, run, budget);
        try (FaultProxy proxy = Front.proxy(cheat.protocol(), front.server.uri().getPort())) {
          BudgetClient.run(run, 0, proxy.port(), directory, WRONG_CYCLES, cycle -> {});
        }
        BudgetLedger ledger = new BudgetLedger();
        ledger.read(directory, run, 0, WRONG_CYCLES);
        AssertionError noticed =
            assertThrows(AssertionError.class, () -> check(front, ledger, budgets), run);
        System.out.printf("BudgetsIT: %s: %s%n", run, noticed.getMessage());
      }
    }
  }
}
