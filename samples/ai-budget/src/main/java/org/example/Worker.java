package org.example;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A process of a gateway with eight callers, some of whom cancel. It prints a line for each call,
 * and may be killed at any time.
 */
final class Worker {
  private static final int CALLERS = 8;
  private static final int TOKENS_MAX = 1_000;
  private static final double CANCELED = 0.1;
  private static final int CANCELED_MILLIS_MAX = 40;

  /** The budgets of the key of an application, and of one that loops. */
  static List<List<Budget>> budgets(LocalDate day, String run) {
    return List.of(
        Budget.of(run, run + "-app", day, 1_000_000_000, 500_000_000),
        Budget.of(run, run + "-loop", day, 1_000_000_000, 1_000_000));
  }

  private Worker() {}

  /** Opens the guard of a server, by the scheme of its address. */
  static Guard guard(String server, Path log) {
    return server.startsWith("redis:")
        ? new ScriptGuard(server, log)
        : new HoldGuard(URI.create(server));
  }

  /** Arguments: server, model, directory of the log, day, run, name of this process, calls. */
  public static void main(String[] args) throws Exception {
    List<List<Budget>> budgets = budgets(LocalDate.parse(args[3]), args[4]);
    AtomicInteger left = new AtomicInteger(Integer.parseInt(args[6]));
    try (Guard guard = guard(args[0], Path.of(args[2]));
        ModelClient model = new ModelClient(URI.create(args[1]));
        ScheduledExecutorService cancels = Executors.newSingleThreadScheduledExecutor()) {
      for (List<Budget> each : budgets) {
        guard.recover(each, model, false);
      }
      Gateway gateway = new Gateway(guard, model);
      List<Thread> callers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        List<Budget> payer = budgets.get(i % budgets.size());
        callers.add(
            Thread.ofPlatform()
                .start(() -> {
                  for (int n = left.getAndDecrement(); n > 0; n = left.getAndDecrement()) {
                    call(gateway, cancels, args[5] + "/" + n, payer);
                  }
                }));
      }
      for (Thread each : callers) {
        each.join();
      }
    }
  }

  private static void call(
      Gateway gateway, ScheduledExecutorService cancels, String name, List<Budget> payer) {
    String id = UUID.nameUUIDFromBytes(name.getBytes()).toString().replace("-", "");
    SplittableRandom random = new SplittableRandom(name.hashCode());
    Thread caller = Thread.currentThread();
    if (random.nextDouble() < CANCELED) {
      var unused =
          cancels.schedule(
              caller::interrupt, random.nextInt(CANCELED_MILLIS_MAX), TimeUnit.MILLISECONDS);
    }
    String end;
    try {
      long cost = gateway.complete(id, payer, random.nextInt(10, TOKENS_MAX));
      end = cost < 0 ? "rejected" : "answered";
    } catch (IOException | RuntimeException e) {
      end = "failed " + e;
    }
    Thread.interrupted();
    System.out.println(end);
  }
}
