package dev.quipu.spring;

import org.jspecify.annotations.Nullable;

/** Thrown when {@code quipu.*} properties do not lead to counters; see its failure analysis. */
public final class QuipuConfigurationException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String remedy;

  QuipuConfigurationException(String message, String remedy, @Nullable Throwable cause) {
    super(message, cause);
    this.remedy = remedy;
  }

  /** Returns what to do. */
  public String remedy() {
    return remedy;
  }
}
