package org.example;

import java.io.IOException;
import java.net.URI;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** A loop in four threads tries to spend $6.00 of a key that has $1.00 for each day. */
final class Runaway {
  private static final int THREADS = 4;
  private static final long TOKENS_MAX = 1_000;
  private static final long WANTED = 6_000_000;
  private static final long LIMIT = 1_000_000;

  private Runaway() {}

  /** The argument is the address of the server. */
  public static void main(String[] args) throws Exception {
    LocalDate day = LocalDate.ofInstant(Instant.now(), ZoneOffset.UTC);
    List<Budget> budgets = Budget.of("red", "loop", day, 100 * LIMIT, LIMIT);
    AtomicLong wanted = new AtomicLong();
    AtomicLong rejected = new AtomicLong();
    try (Model model = new Model(true);
        ModelClient client = new ModelClient(model.uri());
        Guard guard = new HoldGuard(URI.create(args[0]))) {
      Gateway gateway = new Gateway(guard, client);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        threads.add(
            Thread.ofVirtual()
                .start(() -> {
                  while (wanted.getAndAdd(TOKENS_MAX * Model.TOKEN_PRICE) < WANTED) {
                    if (!complete(gateway, guard, budgets)) {
                      rejected.incrementAndGet();
                    }
                  }
                }));
      }
      for (Thread each : threads) {
        each.join();
      }
      System.out.printf("%d calls answered, %d rejected%n", model.callCount(), rejected.get());
      System.out.println("billed by the model: $" + Budget.dollars(model.invoice()));
      System.out.println(
          "counted for the key: $" + Budget.dollars(guard.spent(budgets.getFirst())));
    }
  }

  /** Makes a call; if less is left than it may cost, it has fewer tokens. */
  private static boolean complete(Gateway gateway, Guard guard, List<Budget> budgets) {
    try {
      if (gateway.complete(newId(), budgets, TOKENS_MAX) >= 0) {
        return true;
      }
      Budget least = budgets.getFirst();
      long tokens = (least.limit() - guard.spent(least)) / Model.TOKEN_PRICE;
      return tokens > 0 && gateway.complete(newId(), budgets, tokens) >= 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static String newId() {
    return UUID.randomUUID().toString().replace("-", "");
  }
}
