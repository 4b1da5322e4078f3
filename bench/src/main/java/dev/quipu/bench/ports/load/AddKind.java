package dev.quipu.bench.ports.load;

/** Kind of an add. */
public enum AddKind {
  PLAIN("plain"),
  BOUNDED("bounded"),
  ONCE("exactly once");

  private final String shown;

  AddKind(String shown) {
    this.shown = shown;
  }

  @Override
  public String toString() {
    return shown;
  }
}
