package dev.quipu.testkit.scenario;

import dev.quipu.QuipuException;
import dev.quipu.layer.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * One seed of something that several processes of several threads share; {@code T} is what each
 * process opens.
 */
abstract class SharedRun<T> {
  static final int OPERATIONS = 220;
  private static final Duration CALL_MAX = Duration.ofMinutes(12);
  private static final int LONG_SLEEPS = 8; // of 100

  final World world;
  final RandomGenerator random;
  private final Duration sleepMax;
  private final Function<Store, T> open;
  private int operations;

  /** A thread of a process. */
  record Client<T>(T own, Store store) {
    Instant now() {
      return store.now();
    }
  }

  /**
   * Creates a world.
   *
   * @param sleepMax maximum time between two operations of a thread
   * @param open opens what is shared, in a process
   */
  SharedRun(World world, Duration sleepMax, Function<Store, T> open) {
    this.world = world;
    this.random = world.random;
    this.sleepMax = sleepMax;
    this.open = open;
  }

  /** Runs it; returns the violations. */
  final List<String> run() {
    return world.checked(this::runAndSettle);
  }

  private void runAndSettle() {
    int processes = 2 + random.nextInt(2);
    for (int i = 0; i < processes; i++) {
      Client<?>[] client = new Client<?>[1];
      world.process(
          2 + random.nextInt(2), store -> client[0] = client(store), () -> work(client[0]));
    }
    world.run();
    if (world.violations.isEmpty()) {
      world.calmly(store -> settle(client(store)));
    }
  }

  private Client<T> client(Store store) {
    return new Client<>(open.apply(store), store);
  }

  @SuppressWarnings("unchecked") // client() created it
  private void work(Client<?> client) {
    while (operations < OPERATIONS && world.violations.isEmpty()) {
      operations++;
      boolean isLong = random.nextInt(100) < LONG_SLEEPS;
      sleep(client, world.scheduler.upTo(isLong ? sleepMax : sleepMax.dividedBy(100)));
      rest((Client<T>) client);
      long start = nanos();
      try {
        operation((Client<T>) client);
      } catch (QuipuException e) {
        // the outcome is unknown, and the oracle does not need it
      }
      world.check(nanos() - start <= CALL_MAX.toNanos(), "a call took %s ns", nanos() - start);
    }
  }

  final void sleep(Client<?> client, Duration time) {
    try {
      client.store.clock().sleep(time);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  final long nanos() {
    return world.scheduler.nowNanos();
  }

  /** Waits longer, if all do. */
  void rest(Client<T> client) {
    // they do not
  }

  /** Performs one operation; may fail like a store. */
  abstract void operation(Client<T> client);

  /** No more faults, and nothing in progress: all requests must reach a final state. */
  abstract void settle(Client<T> client);
}
