package dev.quipu.spring;

import dev.quipu.Quipu;
import java.time.Duration;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Reports whether a read is answered in time, with the store and the technique. */
final class QuipuHealthIndicator extends AbstractHealthIndicator {
  /** Deadline of the read. */
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  /** A counter that need not exist. */
  private static final String COUNTER = "health";

  private final Quipu quipu;

  QuipuHealthIndicator(Quipu quipu) {
    super("Counters did not respond");
    this.quipu = quipu;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    var unused = quipu.counter(COUNTER).withTimeout(TIMEOUT).read(); // an exception reports DOWN
    QuipuPlace place = QuipuPlace.of(quipu);
    builder.up().withDetail("store", place.store()).withDetail("technique", place.technique());
  }
}
