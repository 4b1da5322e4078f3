package dev.quipu.testkit.scenario;

import dev.quipu.RequestId;

/** A request of a region, and what clients know about it. */
final class RegionRequest {
  final RequestId id;
  final int home;
  final long delta;
  boolean isSent;
  boolean isApplied; // and a client knows it
  boolean isCancelSent;
  boolean isCanceled; // and a client knows it

  RegionRequest(RequestId id, int home, long delta) {
    this.id = id;
    this.home = home;
    this.delta = delta;
  }

  @Override
  public String toString() {
    return "%s (%+d)".formatted(id.text(), delta);
  }
}
