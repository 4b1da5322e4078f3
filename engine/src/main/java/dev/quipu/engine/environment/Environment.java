package dev.quipu.engine.environment;

/** The environment that an engine runs in. */
public record Environment(Disk disk, Threads threads) {
  public static Environment ofMachine() {
    return new Environment(new FileDisk(), Threads.PLATFORM);
  }
}
