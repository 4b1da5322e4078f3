package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.RequestId;
import dev.quipu.engine.environment.Threads;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Adds from several threads, and the ledger of what was acknowledged, with its position. */
final class BackupLoad implements AutoCloseable {
  private static final int THREADS = 4;
  private static final int COUNTERS = 50;

  private final Engine engine;
  private final ConcurrentLinkedQueue<Entry> ledger = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  /** An acknowledged add. */
  record Entry(String counter, RequestId id, long position) {}

  BackupLoad(Engine engine, String name) {
    this.engine = engine;
    for (int i = 0; i < THREADS; i++) {
      String prefix = name + "-" + i + "-";
      threads.add(Thread.ofPlatform().daemon().start(() -> addUntilStopped(prefix)));
    }
  }

  private void addUntilStopped(String prefix) {
    try {
      for (int i = 0; !stopped; i++) {
        RequestId id = RequestId.of(prefix + i);
        String counter = "c" + (id.hashCode() & 0x7fffffff) % COUNTERS;
        Adding adding = new Adding(new Add(counter, 1, id));
        engine.run(List.of(adding));
        if (!(adding.result instanceof AddResult.Applied)) {
          throw new AssertionError(id + ": " + adding.result);
        }
        ledger.add(new Entry(counter, id, adding.position));
      }
    } catch (Throwable e) {
      failures.add(e);
    }
  }

  int size() {
    return ledger.size();
  }

  List<Entry> entries() {
    return List.copyOf(ledger);
  }

  /** Returns the values of all counters at a position. */
  Map<String, Long> at(long position) {
    Map<String, Long> values = new HashMap<>();
    for (Entry each : ledger) {
      if (each.position <= position) {
        values.merge(each.counter, 1L, Long::sum);
      }
    }
    return values;
  }

  /** Returns the values of all counters of an engine. */
  static Map<String, Long> valuesOf(Engine engine) {
    Map<String, Long> values = new HashMap<>();
    for (int i = 0; i < COUNTERS; i++) {
      String counter = "c" + i;
      Optional<Long> value = engine.read(counter).map(reading -> reading.value());
      value.ifPresent(each -> values.put(counter, each));
    }
    return values;
  }

  @Override
  public void close() {
    stopped = true;
    threads.forEach(Threads::join);
    if (!failures.isEmpty()) {
      throw new AssertionError(failures.peek());
    }
  }

  /** An add that reports its position. */
  private static final class Adding implements Operation {
    private final Add add;
    private long position;
    private @Nullable Object result;

    Adding(Add add) {
      this.add = add;
    }

    @Override
    public int bytesMax(CounterAccess access) {
      return CounterAccess.bytesMax(1, add.counter().length());
    }

    @Override
    public void on(CounterAccess access) {
      result = access.add(add);
      position = access.position();
    }

    @Override
    public void failed(RuntimeException why) {
      result = why;
    }
  }
}
