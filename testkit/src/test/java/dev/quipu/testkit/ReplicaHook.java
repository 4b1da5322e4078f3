package dev.quipu.testkit;

import dev.quipu.layer.ForwardingDriver;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Code that runs once during the calls of a process to one replica, at the first match. */
final class ReplicaHook {
  private enum When {
    BEFORE_WRITE,
    AFTER_WRITE,
    AFTER_GET,
    AFTER_SCAN
  }

  private final String replica;
  private final When when;
  private final String what;
  private final Runnable event;
  private int calls;
  private boolean isArmed = true;

  private ReplicaHook(String replica, When when, String what, int calls, Runnable event) {
    this.replica = replica;
    this.when = when;
    this.what = what;
    this.calls = calls;
    this.event = event;
  }

  /**
   * Runs before the first write of a key with this sort prefix; an exception replaces the reply.
   */
  static ReplicaHook beforeWrite(String replica, String sort, Runnable event) {
    return new ReplicaHook(replica, When.BEFORE_WRITE, sort, 1, event);
  }

  /**
   * Runs after the first write, which need not have been applied; an exception replaces the reply.
   */
  static ReplicaHook afterWrite(String replica, String sort, Runnable event) {
    return new ReplicaHook(replica, When.AFTER_WRITE, sort, 1, event);
  }

  /** Runs after the first read of a key with this sort prefix. */
  static ReplicaHook afterGet(String replica, String sort, Runnable event) {
    return new ReplicaHook(replica, When.AFTER_GET, sort, 1, event);
  }

  /** Runs after a scan of a partition with this suffix, counted from 1. */
  static ReplicaHook afterScan(String replica, String partition, int number, Runnable event) {
    return new ReplicaHook(replica, When.AFTER_SCAN, partition, number, event);
  }

  /** Enables the hook from now on. */
  void arm() {
    isArmed = true;
  }

  /** Disables the hook until {@link #arm}. */
  ReplicaHook disarmed() {
    isArmed = false;
    return this;
  }

  boolean hasHappened() {
    return calls == 0;
  }

  private void note(When now, boolean isIt) {
    if (isArmed && now == when && isIt && calls > 0) {
      calls--;
      if (calls == 0) {
        event.run();
      }
    }
  }

  StoreDriver hook(String seen, StoreDriver driver) {
    return seen.equals(replica) ? new HookedDriver(driver) : driver;
  }

  private final class HookedDriver extends ForwardingDriver {
    private final StoreDriver driver;

    HookedDriver(StoreDriver driver) {
      this.driver = driver;
    }

    @Override
    protected StoreDriver driver() {
      return driver;
    }

    private boolean isIt(List<Write> writes) {
      return writes.stream().anyMatch(write -> write.key().sort().startsWith(what));
    }

    @Override
    public WriteResult write(Write write) {
      note(When.BEFORE_WRITE, isIt(List.of(write)));
      WriteResult result = driver.write(write);
      note(When.AFTER_WRITE, isIt(List.of(write)));
      return result;
    }

    @Override
    public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
      note(When.BEFORE_WRITE, isIt(writes));
      WriteResult result = BatchDriver.of(driver).writeAll(writes, token);
      note(When.AFTER_WRITE, isIt(writes));
      return result;
    }

    @Override
    public Optional<Item> get(Key key, Consistency consistency) {
      Optional<Item> found = driver.get(key, consistency);
      note(When.AFTER_GET, key.sort().startsWith(what));
      return found;
    }

    @Override
    public Page scan(Scan scan) {
      Page page = ScanDriver.of(driver).scan(scan);
      note(When.AFTER_SCAN, scan.partition().endsWith(what));
      return page;
    }
  }
}
