package dev.quipu.bench.ports.subject;

/**
 * Processor time in seconds; NaN if unknown.
 *
 * @param all of it
 * @param kernel the part in the kernel: network, files and waiting for both
 */
public record Cpu(double all, double kernel) {
  static final Cpu UNKNOWN = new Cpu(Double.NaN, Double.NaN);

  Cpu since(Cpu before) {
    return new Cpu(all - before.all, kernel - before.kernel);
  }

  Cpu per(double parts) {
    return new Cpu(all / parts, kernel / parts);
  }

  /** In per cent. */
  public double kernelShare() {
    return all == 0 ? Double.NaN : 100 * kernel / all;
  }
}
