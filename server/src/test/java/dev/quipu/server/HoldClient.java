package dev.quipu.server;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.HoldReading.State;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.Quipu;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionResult;
import dev.quipu.Transactions;
import dev.quipu.backend.Backends;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * A client that places holds and ends them, or leaves them to their expiry, and that transfers
 * between accounts, in a process that may be killed. It prints a line for each request and each
 * outcome, for {@link HoldBook}.
 *
 * @param number number of the client
 * @param cycles number of holds to place
 */
record HoldClient(int number, int cycles) {
  static final int BUDGETS = 4;
  static final int ACCOUNTS = 8;
  static final long FUNDS = 15;
  static final Bounds BOUNDS = Bounds.between(0, 2 * FUNDS);
  static final Duration TTL = Duration.ofSeconds(5);
  private static final Bounds NOT_NEGATIVE = Bounds.atLeast(0);
  private static final int AMOUNT_MAX = 6;
  private static final int TRIES_MAX = 1_000;

  static String budget(int index) {
    return "budget/" + index % BUDGETS;
  }

  static String account(int index) {
    return "account/" + index % ACCOUNTS;
  }

  /** Runs clients; arguments: store, cycles, and NUMBER:FROM of each client. */
  public static void main(String[] args) throws InterruptedException {
    try (StoreDriver driver = StoreProvider.open(args[0]);
        Quipu quipu = Backends.on(driver)) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 2; i < args.length; i++) {
        String[] parts = args[i].split(":", 2);
        HoldClient client = new HoldClient(Integer.parseInt(parts[0]), Integer.parseInt(args[1]));
        int from = Integer.parseInt(parts[1]);
        threads.add(Thread.ofVirtual().start(() -> client.run(quipu, from)));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  private void run(Quipu quipu, int from) {
    for (int cycle = from; cycle < cycles; cycle++) {
      SplittableRandom random = new SplittableRandom(1_000_003L * number + cycle);
      hold(quipu.part(Holds.class), cycle, random);
      if (random.nextInt(4) == 0) {
        transfer(quipu.part(Transactions.class), cycle, random);
      }
    }
  }

  private void print(String what, int cycle, String more) {
    String line =
        "%s %d %d %d %s\n".formatted(what, number, cycle, Clock.system().epochMillis(), more);
    System.out.print(line); // one write, so that a kill leaves complete lines
    System.out.flush();
  }

  private void hold(Holds holds, int cycle, SplittableRandom random) {
    RequestId id = id(number, cycle);
    long delta = (1L + random.nextInt(AMOUNT_MAX)) * (random.nextBoolean() ? 1 : -1);
    int first = random.nextInt(BUDGETS);
    int counters = random.nextInt(4) == 0 ? 2 : 1;
    int end = random.nextInt(10);
    long kept = delta / 2;
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < counters; i++) {
      adds.add(new Add(budget(first + i), delta, BOUNDS, null));
    }
    print("places", cycle, "%d %d %d".formatted(first, counters, delta));
    HoldResult placed = definite(() -> holds.place(new HoldRequest(id, adds, TTL)));
    if (placed instanceof HoldResult.Rejected rejected) {
      long value = rejected.valueIfKnown().orElseThrow();
      print("rejected", cycle, "%s %d".formatted(rejected.counter(), value));
      return;
    }
    boolean isReplayed = ((HoldResult.Done) placed).isReplayed();
    print("placed", cycle, isReplayed ? "replayed" : "first");
    if (end == 0) {
      return; // this caller never comes back
    }
    if (end == 1) {
      var unused = definite(() -> holds.extend(id, TTL));
    }
    boolean isSettled = end < 7;
    print("ends", cycle, isSettled ? Long.toString(kept) : "0");
    HoldResult ended =
        definite(() -> isSettled ? holds.settle(id, Settlement.each(kept)) : holds.release(id));
    State state =
        switch (ended) {
          case HoldResult.Done done -> done.hold().state();
          case HoldResult.Closed closed -> closed.hold().state();
          default -> throw new IllegalStateException(ended.toString());
        };
    print("ended", cycle, state.name());
  }

  static RequestId id(int client, int cycle) {
    return RequestId.of("hold %d of client %d".formatted(cycle, client));
  }

  private void transfer(Transactions transactions, int cycle, SplittableRandom random) {
    RequestId id = RequestId.of("transfer %d of client %d".formatted(cycle, number));
    int from = random.nextInt(ACCOUNTS);
    int to = from + 1 + random.nextInt(ACCOUNTS - 1);
    long amount = 1L + random.nextInt(AMOUNT_MAX);
    List<Add> adds =
        List.of(
            new Add(account(from), -amount, NOT_NEGATIVE, null),
            new Add(account(to), amount, Bounds.none(), null));
    TransactionResult first = definite(() -> transactions.commit(id, adds));
    if (first instanceof TransactionResult.Applied applied) {
      TransactionResult again = definite(() -> transactions.commit(id, adds));
      if (!again.equals(new TransactionResult.Applied(applied.adds(), true))) {
        throw new IllegalStateException(first + ", then " + again);
      }
    }
  }

  private static <T> T definite(Supplier<T> call) {
    for (int i = 0; i < TRIES_MAX; i++) {
      try {
        return call.get();
      } catch (QuipuException e) {
        if (!e.reason().isTemporary()) {
          throw e;
        }
      }
    }
    throw new IllegalStateException("no definite answer");
  }
}
