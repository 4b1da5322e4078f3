package dev.quipu.bench.ports;

/** What is asked of an add. */
enum Kind {
  PLAIN("plain"),
  BOUNDED("bounded"),
  ONCE("exactly once");

  private final String shown;

  Kind(String shown) {
    this.shown = shown;
  }

  @Override
  public String toString() {
    return shown;
  }
}
