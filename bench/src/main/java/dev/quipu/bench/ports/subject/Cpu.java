package dev.quipu.bench.ports.subject;

/**
 * Processor time in seconds; NaN if unknown.
 *
 * @param all user and kernel time
 * @param kernel time in the kernel: network and files
 */
public record Cpu(double all, double kernel) {
  static final Cpu UNKNOWN = new Cpu(Double.NaN, Double.NaN);

  Cpu since(Cpu before) {
    return new Cpu(all - before.all, kernel - before.kernel);
  }

  Cpu per(double parts) {
    return new Cpu(all / parts, kernel / parts);
  }

  /** Returns the share of kernel time in percent. */
  public double kernelShare() {
    return all == 0 ? Double.NaN : 100 * kernel / all;
  }
}
