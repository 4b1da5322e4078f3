package dev.quipu;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs tasks on virtual threads, a limited number at the same time. */
final class Parallel {
  private static final int THREADS_MAX = 16;

  private Parallel() {}

  /**
   * Runs all tasks, and returns when all have ended.
   *
   * @throws IllegalStateException if one ended in an exception
   */
  static void run(List<? extends Runnable> tasks) {
    Queue<Runnable> waiting = new ConcurrentLinkedQueue<>(tasks);
    int threads = Math.min(THREADS_MAX, tasks.size());
    if (threads <= 1) {
      work(waiting);
      return;
    }
    List<Future<?>> running = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < threads; i++) {
        running.add(executor.submit(() -> work(waiting)));
      }
    }
    for (Future<?> each : running) {
      try {
        each.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("a call ended in an error", e.getCause());
      } catch (InterruptedException e) {
        throw new IllegalStateException("all of them have ended", e);
      }
    }
  }

  private static void work(Queue<Runnable> waiting) {
    for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
      task.run();
    }
  }
}
