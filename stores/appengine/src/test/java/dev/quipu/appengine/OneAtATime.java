package dev.quipu.appengine;

import com.google.apphosting.api.ApiProxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * Calls App Engine's stubs for one caller after the other: on calls at once, they apply half of a
 * transaction over several groups. Transactions interleave as before. Loses replies to commits, if
 * it is told to.
 */
final class OneAtATime implements ApiProxy.Delegate<ApiProxy.Environment> {
  private final ApiProxy.Delegate<ApiProxy.Environment> stubs;
  private final ReentrantLock lock = new ReentrantLock();
  private final RandomGenerator random;
  private final double share;
  private final AtomicInteger lost = new AtomicInteger();

  /**
   * Calls these stubs.
   *
   * @param share how many of the commits lose their reply after they were done, 0 to 1
   */
  OneAtATime(ApiProxy.Delegate<ApiProxy.Environment> stubs, double share, RandomGenerator random) {
    this.stubs = stubs;
    this.share = share;
    this.random = random;
  }

  /** How many replies were lost so far. */
  int lost() {
    return lost.get();
  }

  @Override
  public byte[] makeSyncCall(
      ApiProxy.Environment environment, String service, String method, byte[] request) {
    lock.lock();
    try {
      byte[] reply = stubs.makeSyncCall(environment, service, method, request);
      if (method.equals("Commit") && random.nextDouble() < share) {
        lost.incrementAndGet();
        throw new ApiProxy.RPCFailedException(service, method);
      }
      return reply;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Future<byte[]> makeAsyncCall(
      ApiProxy.Environment environment,
      String service,
      String method,
      byte[] request,
      ApiProxy.ApiConfig config) {
    try {
      return CompletableFuture.completedFuture(makeSyncCall(environment, service, method, request));
    } catch (ApiProxy.ApiProxyException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public void log(ApiProxy.Environment environment, ApiProxy.LogRecord entry) {
    stubs.log(environment, entry);
  }

  @Override
  public void flushLogs(ApiProxy.Environment environment) {
    stubs.flushLogs(environment);
  }

  @Override
  public List<Thread> getRequestThreads(ApiProxy.Environment environment) {
    return stubs.getRequestThreads(environment);
  }
}
