package dev.quipu.server.cli.access;

import dev.quipu.server.cli.access.Access.Movers;
import dev.quipu.server.cli.output.Output;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A counter that changed, or a page of which the number of views did.
 *
 * @param value its present value; empty if it no longer exists
 * @param since when the change begins: a boundary, or when the first recording began
 */
public record Mover(String name, Optional<String> value, String change, String since) {
  /** Prints the change, the value and the name of each, after a note since when. */
  public static void print(Output output, Movers of, List<Mover> movers) {
    if (!output.isJson()) {
      output.note(
          movers.isEmpty() ? "no such changes since then" : "since " + movers.getFirst().since());
    }
    for (Mover each : movers) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put(of.name, each.name());
      each.value().ifPresent(value -> members.put("value", value));
      members.put("change", each.change());
      members.put("since", each.since());
      output.print(
          "%s\t%s\t%s"
              .formatted(each.change(), each.value().orElse("-"), Output.oneLine(each.name())),
          members);
    }
  }
}
