package dev.quipu.engine;

/** What an engine runs in. */
record Environment(Disk disk, Threads threads) {
  static Environment ofMachine() {
    return new Environment(new FileDisk(), Threads.PLATFORM);
  }
}
