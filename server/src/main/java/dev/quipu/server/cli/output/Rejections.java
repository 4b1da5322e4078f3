package dev.quipu.server.cli.output;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Decimal;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Prints why a request was rejected.
 *
 * @param id that of the request
 */
public record Rejections(Output output, RequestId id) {
  /** Prints the rejection of a single add, and returns the exit code. */
  public int print(Add add, AddResult.Rejected rejected) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", add.counter());
    members.put("rejected", word(rejected.why()));
    return print(members, add.counter(), Optional.of(add), rejected);
  }

  /**
   * Prints the rejection of several adds, and returns the exit code.
   *
   * @param adds none if only the server knows them
   * @param counter the first that was rejected; empty if the request was canceled
   */
  public int print(List<Add> adds, String counter, AddResult.Rejected rejected) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("rejected", word(rejected.why()));
    if (!counter.isEmpty()) {
      members.put("counter", counter);
    }
    Optional<Add> add = adds.stream().filter(each -> each.counter().equals(counter)).findFirst();
    return print(members, counter, add, rejected);
  }

  private int print(
      Map<String, Object> members, String counter, Optional<Add> add, AddResult.Rejected rejected) {
    String why = word(rejected.why());
    if (rejected.why() == Rejection.CANCELED) {
      members.put("id", id.text());
      output.print("rejected (canceled): request %s was canceled".formatted(id), members);
      return ExitCode.REJECTED;
    }
    StringBuilder text = new StringBuilder("rejected (%s): %s".formatted(why, counter));
    OptionalLong value = rejected.valueIfKnown();
    if (value.isPresent()) { // otherwise the scale is unknown, too
      String shown = Decimal.text(value.getAsLong(), rejected.scale());
      members.put("value", shown);
      text.append(" is ").append(shown);
      Optional<String> limit = add.flatMap(each -> limit(each.at(rejected.scale()), rejected));
      limit.ifPresent(each -> members.put("limit", each));
      limit.ifPresent(each -> text.append("; the ").append(why).append(" is ").append(each));
    }
    output.print(text.toString(), members);
    return ExitCode.REJECTED;
  }

  /** Returns the bound of the add that was reached; that of all counters is unknown here. */
  private static Optional<String> limit(Add add, AddResult.Rejected rejected) {
    long limit =
        switch (rejected.why()) {
          case FLOOR -> add.bounds().floor();
          case CEILING -> add.bounds().ceiling();
          default -> Long.MIN_VALUE;
        };
    return limit == Long.MIN_VALUE || limit == Long.MAX_VALUE
        ? Optional.empty()
        : Optional.of(Decimal.text(limit, rejected.scale()));
  }

  /** Prints that the id of a hold was used for something else, and returns the exit code. */
  public int conflict(String why) {
    output.print(
        "rejected (conflict): request id %s: %s".formatted(id, why),
        Output.members("rejected", "conflict", "id", id.text()));
    return ExitCode.REJECTED;
  }

  /** Prints that the id was used for something else, and returns the exit code. */
  public int conflict(Map<String, Object> members) {
    members.put("rejected", "conflict");
    members.put("id", id.text());
    output.print(
        "rejected (conflict): the request id %s was used for a different request".formatted(id),
        members);
    return ExitCode.REJECTED;
  }

  private static String word(Rejection why) {
    return why.name().toLowerCase(Locale.ROOT);
  }
}
