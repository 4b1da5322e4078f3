package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.QuipuException;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.Online;
import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Window;
import dev.quipu.simulation.driver.Fault;
import dev.quipu.simulation.driver.FaultingDriver;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.store.AtomicOperations;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * Online counts on a store that loses requests and replies, with processes that are paused: many
 * seeds. Readings must hold whatever was lost; a ring that ignores unknown outcomes is detected.
 */
final class OnlineFaultTest {
  private static final int SEEDS = Soak.seeds(200);
  private static final Window WINDOW = new Window(Duration.ofSeconds(20), Duration.ofSeconds(5));

  @Test
  void theRingIsWithinItsBounds() throws Exception {
    int doubted = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, (store, random) -> new OnlineRing(store, WINDOW, random));
      run.go();
      assertEquals(List.of(), run.wrong, "seed " + seed);
      doubted += run.lost > 0 ? 1 : 0;
    }
    assertTrue(doubted > SEEDS / 2, "a hit was lost in only " + doubted + " runs");
  }

  @Test
  void theExactOneIsExact() throws Exception {
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, (store, random) -> new OnlineExact(store, WINDOW.length()));
      run.go();
      assertEquals(List.of(), run.wrong, "seed " + seed);
    }
  }

  @Test
  void aRingThatTakesALostReplyForACountIsCaught() throws Exception {
    int caught = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      Run run = new Run(seed, (store, random) -> new WithoutUncertainties(store));
      run.go();
      caught += run.wrong.isEmpty() ? 0 : 1;
    }
    assertTrue(caught > SEEDS / 4, "caught only " + caught);
  }

  /**
   * Writes the mark first, then the count; a process that finds a mark assumes that it was counted.
   */
  private record WithoutUncertainties(Store store) implements Presence {
    @Override
    public void seen(String room, String client) {
      long bucket = WINDOW.current(store.clock());
      AtomicOperations operations = store.operations();
      if (operations.add("seen" + client, "", Optional.of(WINDOW.length()))) {
        operations.add("n" + bucket, "0", Optional.empty());
        operations.incr("n" + bucket, 1);
      }
    }

    @Override
    public Online online(String room) {
      long current = WINDOW.current(store.clock());
      long sum = 0;
      long before = 0;
      for (long bucket = current - 2L * WINDOW.buckets() + 1; bucket < current; bucket++) {
        long number =
            store
                .operations()
                .get("n" + bucket)
                .map(value -> value.number().orElseThrow())
                .orElse(0L);
        sum += bucket >= current - WINDOW.buckets() ? number : 0;
        before += bucket >= current - WINDOW.buckets() ? 0 : number;
      }
      Instant until = WINDOW.start(current);
      return new Online(sum, sum, sum + before, until.minus(WINDOW.length()), until, true);
    }
  }

  /** One seed: three processes with the same clients, and a reader. */
  private static final class Run {
    final List<String> wrong = new ArrayList<>();
    int lost;
    private final VirtualTime time = new VirtualTime();
    private final RandomGenerator random;
    private final Store store;
    private final Presence presence;
    private final List<Hits.Hit> started = new ArrayList<>();
    private final List<Hits.Hit> answered = new ArrayList<>();

    Run(long seed, BiFunction<Store, RandomGenerator, Presence> made) {
      random = Randomness.seeded(seed);
      FaultingDriver driver =
          new FaultingDriver(
              new MemoryDriver(),
              random,
              0.1,
              List.of(Fault.THROTTLED, Fault.LOST_REQUEST, Fault.LOST_REPLY, Fault.DELAYED),
              () ->
                  time.sleep(Duration.ofMillis(random.nextInt(random.nextInt(20) == 0 ? 900 : 9))));
      store = new Store(driver, time, random, RetryPolicy.DEFAULT);
      presence = made.apply(store, random);
    }

    void go() throws InterruptedException {
      time.run(List.of(this::process, this::process, this::process, this::reader));
    }

    private void process() {
      for (int i = 0; i < 40; i++) {
        String client = Integer.toString(random.nextInt(12));
        Hits.Hit hit = new Hits.Hit(time.epochMillis(), client);
        started.add(hit);
        try {
          presence.seen("room", client);
          answered.add(hit);
        } catch (QuipuException e) {
          lost++;
        }
        time.sleep(Duration.ofMillis(random.nextInt(4_000)));
      }
    }

    private void reader() {
      for (int i = 0; i < 60; i++) {
        time.sleep(Duration.ofMillis(random.nextInt(2_500)));
        List<Hits.Hit> before = List.copyOf(answered);
        try {
          check(presence.online("room"), before);
        } catch (QuipuException e) {
          // no reading
        }
      }
    }

    /**
     * No session is counted that was absent, and none may be missing whose hit was acknowledged.
     */
    private void check(Online online, List<Hits.Hit> before) {
      boolean exact = presence instanceof OnlineExact;
      Duration slack = exact ? Duration.ofSeconds(8) : Duration.ZERO; // a scan and a hit take time
      long most =
          new Hits(List.copyOf(started))
              .distinct(online.from().minus(slack), online.until().plus(slack));
      long least = new Hits(before).distinct(online.from().plus(slack), online.until());
      if (online.low() > most || online.high() < least) {
        wrong.add("%s, but expected %d to %d".formatted(online, least, most));
      }
    }
  }
}
