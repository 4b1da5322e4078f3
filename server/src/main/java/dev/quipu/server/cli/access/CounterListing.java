package dev.quipu.server.cli.access;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Lists counters page by page: one is read while the action takes the previous one. */
public final class CounterListing {
  private final Counters counters;
  private final String prefix;

  /** Creates a listing of the counters whose names start with this. */
  public CounterListing(Access access, String prefix) {
    this.counters = access.counters();
    this.prefix = prefix;
  }

  /**
   * Passes all counters to the action, ordered by name. At most two pages are in memory.
   *
   * @param limit maximum number of counters
   * @throws QuipuException if a page cannot be read; the action has taken those before
   */
  public void forEachPage(long limit, Consumer<List<CounterPage.Entry>> action) {
    try (ExecutorService reader = Executors.newVirtualThreadPerTaskExecutor()) {
      long left = limit;
      Future<CounterPage> next = read(reader, "", left);
      while (next != null) {
        CounterPage page = await(next);
        left -= page.counters().size();
        String after = page.resumeAfter().orElse(null);
        next = after == null ? null : read(reader, after, left);
        action.accept(page.counters());
      }
    }
  }

  private @Nullable Future<CounterPage> read(ExecutorService reader, String after, long left) {
    int size = (int) Math.min(left, Limits.PAGE_COUNTERS_MAX);
    return size <= 0 ? null : reader.submit(() -> counters.list(prefix, after, size));
  }

  private static CounterPage await(Future<CounterPage> page) {
    try {
      return page.get(); // a call has a deadline of its own
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException why) {
        throw why;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotAppliedException(Reason.UNAVAILABLE, "interrupted", e);
    }
  }
}
