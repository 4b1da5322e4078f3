package dev.quipu.server.http.route;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Decimal;
import dev.quipu.Rejection;
import dev.quipu.server.http.message.Problem;

/** The problems of adds that were rejected. */
final class Rejections {
  private Rejections() {}

  /**
   * Returns the problem of a rejection; the caller names the counter.
   *
   * @param what is rejected, for the message: an amount, for example
   * @param bounds those of the add, in units of the counter; none if they are unknown
   */
  static Problem problem(String what, Bounds bounds, AddResult.Rejected rejected) {
    String detail =
        rejected.valueIfKnown().isPresent()
            ? "%s cannot be added to %s"
                .formatted(
                    what, Decimal.text(rejected.valueIfKnown().getAsLong(), rejected.scale()))
            : "%s cannot be added".formatted(what);
    Problem problem =
        switch (rejected.why()) {
          case FLOOR, CEILING -> reached(bounds, rejected, detail);
          case HELD_ELSEWHERE ->
              new Problem(
                      409,
                      "held-elsewhere",
                      "Held by other regions",
                      detail
                          + " now; regions that do not respond may hold the amount: "
                          + String.join(", ", rejected.heldBy()))
                  .with("heldBy", rejected.heldBy());
          case OVERFLOW ->
              new Problem(
                  409,
                  "overflow",
                  "64-bit overflow",
                  detail + ": the value would not fit into 64 bits");
          case CANCELED ->
              new Problem(
                  409,
                  "request-canceled",
                  "Request canceled",
                  "the request was not applied and never will be");
        };
    rejected
        .valueIfKnown()
        .ifPresent(value -> problem.with("value", Decimal.text(value, rejected.scale())));
    return problem;
  }

  private static Problem reached(Bounds bounds, AddResult.Rejected rejected, String detail) {
    boolean floor = rejected.why() == Rejection.FLOOR;
    String name = floor ? "floor" : "ceiling";
    String bound = Decimal.text(floor ? bounds.floor() : bounds.ceiling(), rejected.scale());
    Problem reached =
        new Problem(
                409,
                "bound-reached",
                "Bound reached",
                bounds.isNone() ? detail : "%s: the %s is %s".formatted(detail, name, bound))
            .with("bound", name);
    return bounds.isNone() ? reached : reached.with("limit", bound);
  }
}
