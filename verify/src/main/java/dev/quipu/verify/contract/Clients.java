package dev.quipu.verify.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Many clients at the same time. */
final class Clients {
  private Clients() {}

  /** What one client of many does. */
  interface Client<T> {
    T run(int number) throws Exception;
  }

  /** Runs so many of them, and returns what each came to. */
  static <T> List<T> together(int clients, Client<T> client) throws Exception {
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<T>> calls = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        int number = i;
        calls.add(() -> client.run(number));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> each : executor.invokeAll(calls)) {
        results.add(each.get());
      }
      return results;
    }
  }
}
