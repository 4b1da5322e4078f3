package dev.quipu.server.resp.command;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** All commands of the Redis port. */
public final class RespCommands {
  private static final Map<String, RespCommand> BY_NAME = byName();
  private static final List<RespCommand> ALL =
      BY_NAME.values().stream().sorted(Comparator.comparing(RespCommand::name)).toList();

  private RespCommands() {}

  private static Map<String, RespCommand> byName() {
    List<RespCommand> all = new ArrayList<>(CounterCommands.all());
    all.addAll(HoldCommands.all());
    all.addAll(HashCommands.all());
    all.addAll(RankingCommands.all());
    all.addAll(SketchCommands.all());
    all.addAll(KeyCommands.all());
    all.addAll(EngineCommands.all());
    all.addAll(SessionCommands.all());
    all.addAll(Transactions.all());
    Map<String, RespCommand> byName = new HashMap<>();
    all.forEach(each -> byName.put(each.name(), each));
    return byName;
  }

  /** Returns all commands, ordered by name. */
  public static List<RespCommand> all() {
    return ALL;
  }

  /** Returns the command of this name, ignoring case. */
  public static Optional<RespCommand> find(String name) {
    RespCommand found = BY_NAME.get(name);
    return Optional.ofNullable(found == null ? BY_NAME.get(name.toLowerCase(Locale.ROOT)) : found);
  }
}
