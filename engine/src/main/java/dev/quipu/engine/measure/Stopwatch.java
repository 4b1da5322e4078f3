package dev.quipu.engine.measure;

import dev.quipu.engine.measure.EngineObserver.Work;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Measures work for the observers; reads no clock if there are none. Thread-safe. */
public final class Stopwatch {
  private final List<EngineObserver> observers = new CopyOnWriteArrayList<>();

  /** Creates a stopwatch without observers. */
  public Stopwatch() {}

  /** Adds an observer. */
  public void observe(EngineObserver observer) {
    observers.add(observer);
  }

  /** Returns the time now, for {@link #end}. */
  public long start() {
    return observers.isEmpty() ? 0 : Clock.system().nanoTime();
  }

  /** Reports work that began at {@code start}; 0 if there were no observers then. */
  public void end(Work work, long size, long start) {
    if (start != 0) {
      long nanos = Clock.system().nanoTime() - start;
      for (EngineObserver each : observers) {
        each.ended(work, size, nanos);
      }
    }
  }
}
