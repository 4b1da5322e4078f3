package dev.quipu.client;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How the server counts, requested once by the first of many concurrent calls. */
final class SharedInfo {
  private final Supplier<ServerInfo> request;
  private final AtomicReference<@Nullable CompletableFuture<ServerInfo>> pending =
      new AtomicReference<>();
  private volatile @Nullable ServerInfo known;

  SharedInfo(Supplier<ServerInfo> request) {
    this.request = request;
  }

  /**
   * Returns the information, and requests it if it is not known.
   *
   * @throws NotAppliedException if there is none in time
   */
  ServerInfo get(long nanosLeft) {
    ServerInfo info = known;
    if (info != null) {
      return info;
    }
    CompletableFuture<ServerInfo> mine = new CompletableFuture<>();
    CompletableFuture<ServerInfo> first = pending.compareAndExchange(null, mine);
    return first == null ? requested(mine) : awaited(first, nanosLeft);
  }

  private ServerInfo requested(CompletableFuture<ServerInfo> mine) {
    try {
      ServerInfo info = request.get();
      known = info;
      mine.complete(info);
      return info;
    } finally {
      mine.completeExceptionally(
          new NotAppliedException(Reason.UNAVAILABLE, "the server does not respond"));
      pending.set(null);
    }
  }

  private static ServerInfo awaited(CompletableFuture<ServerInfo> first, long nanosLeft) {
    try {
      return first.get(Math.max(1, nanosLeft), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      Throwable cause = Objects.requireNonNull(e.getCause()); // by completeExceptionally
      throw new NotAppliedException(Reason.UNAVAILABLE, String.valueOf(cause.getMessage()), cause);
    } catch (TimeoutException e) {
      throw new NotAppliedException(
          Reason.TIMEOUT, "the server did not respond before the deadline", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotAppliedException(Reason.UNAVAILABLE, "interrupted", e);
    }
  }
}
