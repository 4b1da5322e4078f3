package dev.quipu.server.memcache;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All commands of the memcached port. */
final class MemcacheCommands {
  private static final Map<String, MemcacheCommand> BY_NAME = byName();
  private static final List<MemcacheCommand> ALL =
      BY_NAME.values().stream().sorted(Comparator.comparing(MemcacheCommand::name)).toList();

  private MemcacheCommands() {}

  private static Map<String, MemcacheCommand> byName() {
    List<MemcacheCommand> all = new ArrayList<>(TextCommands.all());
    all.addAll(MetaCommands.all());
    all.addAll(ServerCommands.all());
    all.add(
        MemcacheCommand.of("quit", "")
            .summary("Closes the connection.")
            .runs((counters, request, out) -> {}));
    Map<String, MemcacheCommand> byName = new HashMap<>();
    all.forEach(each -> byName.put(each.name(), each));
    return byName;
  }

  /** Returns all commands, ordered by name. */
  static List<MemcacheCommand> all() {
    return ALL;
  }

  /** Returns the command of this name; null if there is none. */
  static @Nullable MemcacheCommand find(String name) {
    return BY_NAME.get(name);
  }
}
