package dev.quipu.testkit;

import dev.quipu.layer.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs clients concurrently. */
public final class ConcurrentClients {
  /** Retries for a store without atomic adds, with many clients on one item. */
  public static final RetryPolicy RETRIES =
      new RetryPolicy(100, Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofDays(1));

  private ConcurrentClients() {}

  /** The work of a client. */
  public interface Client<T> {
    /** Runs the client with this number, from 0. */
    T run(int number) throws Exception;
  }

  /** Runs this number of clients concurrently and returns their results, in their order. */
  public static <T> List<T> run(int clients, Client<T> client) throws Exception {
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
