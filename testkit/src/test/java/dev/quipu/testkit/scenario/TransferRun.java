package dev.quipu.testkit.scenario;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.MarkerItem;
import dev.quipu.transaction.StoredTransactions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One seed of transfers between accounts: the sum is the same after each write to the store. */
final class TransferRun {
  private static final List<String> ACCOUNTS = List.of("a", "b", "c", "d");
  private static final long EACH = 12;
  private static final int OPERATIONS = 200;
  private static final Bounds NOT_NEGATIVE = Bounds.atLeast(0);

  private final HoldLedger ledger = new HoldLedger();
  private final MemoryDriver memory = new MemoryDriver();
  private final World world;
  private final List<Transfer> transfers = new ArrayList<>();
  private int operations;

  private TransferRun(long seed) {
    world =
        new World(
            seed,
            LinkFaults.ALL.repeating(0.01),
            Duration.ofMinutes(2),
            (driver, time) -> watched());
    ledger.record(memory, world.scheduler::nowNanos);
  }

  private static final class Transfer {
    final RequestId id;
    final List<Add> adds;
    int appliedFirst;
    boolean isCanceled;
    @Nullable List<TransactionResult.Added> answer;

    Transfer(RequestId id, List<Add> adds) {
      this.id = id;
      this.adds = adds;
    }
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(long seed) {
    TransferRun run = new TransferRun(seed);
    return run.world.checked(run::run);
  }

  private InterceptingDriver watched() {
    return new InterceptingDriver(
        ledger.over(memory),
        new InterceptingDriver.Interceptor() {
          @Override
          public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
            WriteResult result = call.get();
            long sum = ACCOUNTS.stream().mapToLong(ledger::value).sum();
            world.check(sum == EACH * ACCOUNTS.size(), "the sum is %d after %s", sum, writes);
            return result;
          }
        });
  }

  private void run() {
    for (String account : ACCOUNTS) {
      memory.write(
          new Write.Update(
              new Key("counter/" + account, "value"),
              List.of(new Change.Add(Item.VALUE, EACH)),
              Condition.always()));
      ledger.watch(account);
    }
    for (int i = 0; i < 3; i++) {
      StoredTransactions[] own = new StoredTransactions[1];
      Store[] on = new Store[1];
      world.process(
          3,
          store -> {
            own[0] = open(store);
            on[0] = store;
          },
          () -> client(own[0], on[0]));
    }
    world.run();
    world.calmly(store -> settle(open(store)));
  }

  private StoredTransactions open(Store store) {
    return new StoredTransactions(new MarkerItem(store, world.random), store, world.random);
  }

  private void client(StoredTransactions transactions, Store store) {
    while (operations++ < OPERATIONS && world.violations.isEmpty()) {
      int kind = world.random.nextInt(100);
      Transfer transfer =
          kind < 50 || transfers.isEmpty()
              ? newTransfer()
              : transfers.get(world.random.nextInt(transfers.size()));
      World.quietly(() -> {
        if (kind < 80) {
          commit(transactions, transfer);
        } else if (kind < 90) {
          outcome(transfer, transactions.cancel(transfer.id), true);
        } else {
          boolean wasKnown = transfer.answer != null || transfer.isCanceled;
          outcome(transfer, transactions.outcome(transfer.id), wasKnown);
        }
      });
      LockRun.sleep(store.clock(), world.scheduler.upTo(Duration.ofSeconds(1)));
    }
  }

  private Transfer newTransfer() {
    int from = world.random.nextInt(ACCOUNTS.size());
    int to = (from + 1 + world.random.nextInt(ACCOUNTS.size() - 1)) % ACCOUNTS.size();
    long amount = 1L + world.random.nextInt(8);
    Transfer transfer =
        new Transfer(
            RequestId.of("transfer-" + transfers.size()),
            List.of(
                new Add(ACCOUNTS.get(from), -amount, NOT_NEGATIVE, null),
                new Add(ACCOUNTS.get(to), amount, Bounds.none(), null)));
    transfers.add(transfer);
    return transfer;
  }

  private void commit(StoredTransactions transactions, Transfer transfer) {
    long start = world.scheduler.nowNanos();
    switch (transactions.commit(transfer.id, transfer.adds)) {
      case TransactionResult.Applied applied -> {
        applied(transfer, applied.adds());
        if (!applied.isReplayed()) {
          world.check(++transfer.appliedFirst == 1, "%s was applied twice", transfer.id);
        }
      }
      case TransactionResult.Rejected rejected when rejected.counter().isEmpty() -> {
        world.check(transfer.answer == null, "%s was applied, and canceled", transfer.id);
        transfer.isCanceled = true;
      }
      case TransactionResult.Rejected rejected -> {
        long amount = -transfer.adds.getFirst().delta();
        world.check(
            ledger.lowestSince(rejected.counter(), start) < amount,
            "%s was rejected, and there was enough",
            transfer.id);
      }
      case TransactionResult.Conflict conflict -> world.violation("%s: conflict", transfer.id);
    }
  }

  private void applied(Transfer transfer, List<TransactionResult.Added> adds) {
    world.check(!transfer.isCanceled, "%s was canceled, and applied", transfer.id);
    world.check(
        transfer.answer == null || transfer.answer.equals(adds),
        "%s was answered %s, and %s",
        transfer.id,
        String.valueOf(transfer.answer),
        adds);
    transfer.answer = adds;
  }

  private void outcome(Transfer transfer, TransactionOutcome outcome, boolean wasKnown) {
    switch (outcome) {
      case TransactionOutcome.Applied applied -> applied(transfer, applied.adds());
      case TransactionOutcome.Canceled canceled -> {
        world.check(transfer.answer == null, "%s was applied, and canceled", transfer.id);
        transfer.isCanceled = true;
      }
      case TransactionOutcome.NotSeen missing ->
          world.check(!wasKnown, "%s is not seen", transfer.id);
      case TransactionOutcome.Held hold -> world.violation("%s is %s", transfer.id, hold);
    }
  }

  private void settle(StoredTransactions transactions) {
    Map<String, Long> expected = new HashMap<>();
    for (Transfer each : transfers) {
      outcome(each, transactions.cancel(each.id), true);
      if (each.answer != null) {
        for (TransactionResult.Added added : each.answer) {
          expected.merge(added.counter(), added.added(), Long::sum);
        }
      }
    }
    for (String account : ACCOUNTS) {
      long value = EACH + expected.getOrDefault(account, 0L);
      world.check(
          ledger.value(account) == value,
          "%s is %d, and its transfers make %d",
          account,
          ledger.value(account),
          value);
    }
    world.check(ledger.lowest() >= 0, "an account was overdrawn: %d", ledger.lowest());
  }
}
