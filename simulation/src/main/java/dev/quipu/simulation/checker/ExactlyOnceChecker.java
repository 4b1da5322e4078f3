package dev.quipu.simulation.checker;

import dev.quipu.simulation.history.Operation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Checks that each request counts exactly once, however often it was repeated:
 *
 * <ul>
 *   <li>the final value is the sum over requests that were reported as applied, and over some of
 *       those with unknown outcome;
 *   <li>at most one call of a request returns "applied"; all return the same value;
 *   <li>no call returns "rejected" after another returned "applied".
 * </ul>
 */
public final class ExactlyOnceChecker implements Checker {
  /** Creates a checker. */
  public ExactlyOnceChecker() {}

  /** What is known about one request. */
  private static final class Request {
    long delta;
    int applied;
    int replayed;
    int unknown;
    long firstDone = Operation.NEVER;
    final List<OptionalLong> values = new ArrayList<>();
    final List<Operation> rejected = new ArrayList<>();

    boolean isDone() {
      return applied + replayed > 0;
    }
  }

  @Override
  public Verdict check(List<Operation> operations, long finalValue) {
    Map<String, Request> requests = new LinkedHashMap<>();
    for (Operation operation : operations) {
      if (operation.kind() == Operation.Kind.ADD) {
        note(requests.computeIfAbsent(operation.request(), id -> new Request()), operation);
      }
    }
    long sure = 0;
    List<Long> unknown = new ArrayList<>();
    for (Map.Entry<String, Request> each : requests.entrySet()) {
      Request request = each.getValue();
      String broken = broken(request);
      if (broken != null) {
        return new Verdict.Broken("request " + each.getKey() + " " + broken);
      }
      if (request.isDone()) {
        sure += request.delta;
      } else if (request.unknown > 0) {
        unknown.add(request.delta);
      }
    }
    if (SubsetSums.contains(unknown, finalValue - sure)) {
      return new Verdict.Kept();
    }
    return new Verdict.Broken(
        "final value is %d; applied requests sum to %d, a drift of %d, which no choice of the unknown %s explains"
            .formatted(finalValue, sure, finalValue - sure, unknown));
  }

  private static void note(Request request, Operation operation) {
    request.delta = operation.delta();
    switch (operation.end()) {
      case OK -> request.applied++;
      case REPLAYED -> request.replayed++;
      case UNKNOWN -> request.unknown++;
      case REJECTED -> request.rejected.add(operation);
      case FAILED -> {}
    }
    if (operation.end() == Operation.End.OK || operation.end() == Operation.End.REPLAYED) {
      request.firstDone = Math.min(request.firstDone, operation.returned());
      if (operation.value().isPresent()) {
        request.values.add(operation.value());
      }
    }
  }

  private static @Nullable String broken(Request request) {
    if (request.applied > 1) {
      return "was reported as applied " + request.applied + " times";
    }
    if (request.applied == 0 && request.replayed > 0 && request.unknown == 0) {
      return "was reported as replayed, but no earlier call can have applied it";
    }
    if (request.values.stream().distinct().count() > 1) {
      return "returned different values: " + request.values;
    }
    for (Operation rejected : request.rejected) {
      if (rejected.invoked() > request.firstDone) {
        return "was rejected after it had been applied";
      }
    }
    return null;
  }
}
