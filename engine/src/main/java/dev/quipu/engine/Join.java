package dev.quipu.engine;

/** Waits for the engine's own threads, which end soon after they were told to. */
final class Join {
  private Join() {}

  /** Returns when a thread has ended; an interrupt of the caller is kept for later. */
  static void uninterruptibly(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
