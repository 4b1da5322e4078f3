package dev.quipu.appengine;

import com.google.apphosting.api.ApiProxy;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * Serializes calls to App Engine's stubs: on concurrent calls, they apply half of a transaction
 * over several groups. Transactions still interleave. Optionally, it adds latency, loses replies to
 * commits, and crashes callers.
 */
final class OneAtATime implements ApiProxy.Delegate<ApiProxy.Environment> {
  private final ApiProxy.Delegate<ApiProxy.Environment> stubs;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Integer> calls = new HashMap<>();
  private Map<String, Duration> latencies = Map.of();
  private RandomGenerator random = Randomness.secure();
  private double lostShare;
  private double deadShare;
  private int lost;

  /** Thrown when the caller's process crashes during a call. */
  static final class Death extends Error {
    private static final long serialVersionUID = 1;
  }

  OneAtATime(ApiProxy.Delegate<ApiProxy.Environment> stubs) {
    this.stubs = stubs;
  }

  /** Sets the rates of commits that lose their reply after execution, and of calls that crash. */
  void fail(double commitsLost, double callersDead, RandomGenerator random) {
    lock.lock();
    try {
      lostShare = commitsLost;
      deadShare = callersDead;
      this.random = random;
    } finally {
      lock.unlock();
    }
  }

  /** Sets the latency of calls of these methods, which overlap. */
  void take(Map<String, Duration> times) {
    latencies = Map.copyOf(times);
  }

  /** Returns the number of lost replies. */
  int lost() {
    lock.lock();
    try {
      return lost;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of calls of a method. */
  int calls(String method) {
    lock.lock();
    try {
      return calls.getOrDefault(method, 0);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of calls of each method. */
  Map<String, Integer> calls() {
    lock.lock();
    try {
      return Map.copyOf(calls);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public byte[] makeSyncCall(
      ApiProxy.Environment environment, String service, String method, byte[] request) {
    pause(latencies.getOrDefault(method, Duration.ZERO));
    lock.lock();
    try {
      calls.merge(method, 1, Integer::sum);
      boolean isDead = random.nextDouble() < deadShare;
      if (isDead && random.nextBoolean()) {
        throw new Death();
      }
      byte[] reply = stubs.makeSyncCall(environment, service, method, request);
      if (isDead) {
        throw new Death();
      }
      if (method.equals("Commit") && random.nextDouble() < lostShare) {
        lost++;
        throw new ApiProxy.RPCFailedException(service, method);
      }
      return reply;
    } finally {
      lock.unlock();
    }
  }

  private static void pause(Duration time) {
    try {
      Clock.system().sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
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
