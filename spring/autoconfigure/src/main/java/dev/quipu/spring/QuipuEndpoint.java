package dev.quipu.spring;

import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.Quipu;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/** {@code /actuator/quipu}: where and how the application counts, and the value of one counter. */
@Endpoint(id = "quipu")
public final class QuipuEndpoint {
  /** Deadline of a read. */
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final Quipu quipu;

  QuipuEndpoint(Quipu quipu) {
    this.quipu = quipu;
  }

  /** Returns where and how the application counts. */
  @ReadOperation
  public Description description() {
    QuipuPlace place = QuipuPlace.of(quipu);
    return new Description(place.store(), place.technique(), place.guarantees());
  }

  /**
   * Returns the value of a counter; null, which is status 404, if it was never written.
   *
   * @param name the name, in which slashes separate the parts
   * @throws InvalidEndpointRequestException if the name is longer than 512 bytes or malformed
   */
  @ReadOperation
  public @Nullable Value value(@Selector(match = Selector.Match.ALL_REMAINING) String... name) {
    String counter = String.join("/", name);
    try {
      Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      throw new InvalidEndpointRequestException(message, message);
    }
    return quipu
        .counter(counter)
        .withTimeout(TIMEOUT)
        .read()
        .map(reading -> new Value(counter, reading.value(), reading.low(), reading.high()))
        .orElse(null);
  }

  /**
   * Where and how the application counts.
   *
   * @param store the name of the store, or "server"
   * @param technique the name of the technique
   * @param guarantees the guarantees of the technique, each with a sentence
   */
  public record Description(String store, String technique, Map<Guarantee, String> guarantees)
      implements OperationResponseBody {}

  /**
   * The value of a counter with its lower and upper bound.
   *
   * @param name the name of the counter
   */
  public record Value(String name, long value, long low, long high)
      implements OperationResponseBody {}
}
