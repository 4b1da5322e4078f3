package dev.quipu.client;

import dev.quipu.Bounds;
import dev.quipu.Guarantee;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * How a server counts.
 *
 * @param givesIds whether a client may create request ids: not without memory of ids, and not in
 *     one of several regions, where an id names its region
 */
record ServerInfo(String technique, Set<Guarantee> guarantees, Bounds bounds, boolean givesIds) {
  static final String PATH = "/v1/technique";

  /** Returns the information in a response; nothing is known of a server without the route. */
  static ServerInfo of(Reply reply) {
    if (reply.status() == 404) {
      return new ServerInfo("unknown", Set.of(), Bounds.none(), false);
    }
    JsonNode node = reply.ok();
    Set<Guarantee> guarantees = EnumSet.noneOf(Guarantee.class);
    for (JsonNode each : node.path("guarantees")) {
      for (Guarantee guarantee : Guarantee.values()) {
        if (word(guarantee).equals(each.asString(""))) {
          guarantees.add(guarantee);
        }
      }
    }
    Bounds bounds =
        new Bounds(
            Reply.number(node, "floor").orElse(Long.MIN_VALUE),
            Reply.number(node, "ceiling").orElse(Long.MAX_VALUE));
    boolean isRegional = node.path("regional").asBoolean(false);
    boolean remembersIds =
        guarantees.contains(Guarantee.IDEMPOTENT)
            || guarantees.contains(Guarantee.IDEMPOTENT_WITHIN_WINDOW);
    return new ServerInfo(
        node.path("technique").asString("unknown"),
        Set.copyOf(guarantees),
        bounds,
        remembersIds && !isRegional);
  }

  private static String word(Guarantee guarantee) {
    return guarantee.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
