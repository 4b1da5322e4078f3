package dev.quipu.engine.environment;

import dev.quipu.engine.measure.Stopwatch;

/** The environment that an engine runs in. */
public record Environment(Disk disk, Threads threads, Stopwatch stopwatch) {
  public Environment(Disk disk, Threads threads) {
    this(disk, threads, new Stopwatch());
  }

  public static Environment ofMachine() {
    return new Environment(new FileDisk(), Threads.PLATFORM);
  }
}
