package dev.quipu;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A request to set a counter to an exact decimal, or to fix its scale.
 *
 * @param value the value; empty to fix the scale only, of a counter that is 0 if it is missing
 * @param ifValue the value that the counter must have, where a missing one has 0; empty to set it
 *     unconditionally
 * @param scale the number of digits after the point that the counter has from now on: possible
 *     while it has no value and none of its request ids is remembered; empty to keep its scale
 */
public record SetRequest(
    String counter, Optional<Decimal> value, Optional<Decimal> ifValue, OptionalInt scale) {
  /**
   * Creates a request.
   *
   * @throws IllegalArgumentException naming the field that is missing or outside its limits
   */
  public SetRequest {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    if (value.isEmpty() && scale.isEmpty()) {
      throw new IllegalArgumentException("neither value nor scale is given; send one of them");
    }
    if (value.isEmpty() && ifValue.isPresent()) {
      throw new IllegalArgumentException("ifValue needs value; send both, or remove it");
    }
    scale.ifPresent(Decimal::checkScale);
  }
}
