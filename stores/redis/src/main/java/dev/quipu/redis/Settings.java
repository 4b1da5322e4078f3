package dev.quipu.redis;

import dev.quipu.QuipuException;
import dev.quipu.store.StoreDriver.Finding;
import dev.quipu.store.Survival;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Inspects the settings of the masters that endanger writes, by {@code CONFIG GET} where that is
 * allowed; {@code INFO} has some of them.
 */
final class Settings {
  private static final String UNKNOWN = "unknown";
  private static final List<String> ASKED =
      List.of(
          "appendonly",
          "appendfsync",
          "no-appendfsync-on-rewrite",
          "maxmemory",
          "maxmemory-policy");

  private final RedisConnection link;
  private final Survival accepted;

  /**
   * Creates an inspector; it reads nothing yet.
   *
   * @param accepted the least that the user accepts that acknowledged writes survive
   */
  Settings(RedisConnection link, Survival accepted) {
    this.link = link;
    this.accepted = accepted;
  }

  /** Returns the distinct findings of all masters. */
  List<Finding> inspect() {
    List<String> infos;
    try {
      infos = link.onEachMaster(commands -> commands.info());
    } catch (QuipuException e) {
      if (!Failures.isRejection(e)) {
        throw e;
      }
      String remedy = "allow the user INFO and CONFIG GET";
      return List.of(Finding.losesWrites(accepted, Survival.NONE, "appendonly=unknown", remedy));
    }
    List<Map<String, String>> configs = configs();
    List<Finding> found = new ArrayList<>();
    for (int i = 0; i < infos.size(); i++) {
      Map<String, String> info = parsed(infos.get(i));
      Map<String, String> config = configs.size() == infos.size() ? configs.get(i) : Map.of();
      inspect(info, config, found);
    }
    return found.stream().distinct().toList();
  }

  private List<Map<String, String>> configs() {
    try {
      return link.onEachMaster(commands -> commands.configGet(ASKED.toArray(String[]::new)));
    } catch (QuipuException e) {
      if (!Failures.isRejection(e)) {
        throw e; // what is not answered is not hidden
      }
      return eachByItself();
    }
  }

  /** Reads each setting separately: before Redis 7, a call accepts one pattern. */
  private List<Map<String, String>> eachByItself() {
    List<Map<String, String>> all = new ArrayList<>();
    try {
      for (String name : ASKED) {
        List<Map<String, String>> one = link.onEachMaster(commands -> commands.configGet(name));
        for (int i = 0; i < one.size(); i++) {
          if (all.size() == i) {
            all.add(new TreeMap<>());
          }
          all.get(i).putAll(one.get(i));
        }
      }
      return all;
    } catch (QuipuException e) {
      if (!Failures.isRejection(e)) {
        throw e;
      }
      return List.of();
    }
  }

  private static Map<String, String> parsed(String info) {
    Map<String, String> values = new TreeMap<>();
    info.lines()
        .map(line -> line.split(":", 2))
        .filter(parts -> parts.length == 2)
        .forEach(parts -> values.put(parts[0], parts[1]));
    return values;
  }

  private void inspect(Map<String, String> info, Map<String, String> config, List<Finding> found) {
    String isLogged = info.getOrDefault("aof_enabled", "0").equals("1") ? "yes" : "no";
    losing(found, Survival.NONE, "appendonly", config.getOrDefault("appendonly", isLogged), "yes");
    if (isLogged.equals("yes")) {
      String sync = config.getOrDefault("appendfsync", UNKNOWN);
      // With "everysec", Redis replies before it writes to its log if a sync takes long: for up to
      // two seconds. With "no" it always writes first.
      Survival survives = sync.equals("no") ? Survival.PROCESS : Survival.NONE;
      losing(found, survives, "appendfsync", sync, "always");
      losing(
          found,
          Survival.PROCESS,
          "no-appendfsync-on-rewrite",
          config.getOrDefault("no-appendfsync-on-rewrite", "no"),
          "no");
    }
    String maxMemory = config.getOrDefault("maxmemory", info.getOrDefault("maxmemory", UNKNOWN));
    if (!maxMemory.equals("0")) {
      String policy = info.getOrDefault("maxmemory_policy", UNKNOWN);
      losing(
          found,
          Survival.NONE,
          "maxmemory-policy",
          config.getOrDefault("maxmemory-policy", policy),
          "noeviction");
    }
    if (info.getOrDefault("role", "master").equals("slave")) {
      found.add(Finding.rejectsWrites("role=slave", "use the master in the store's URI"));
    }
    if (info.getOrDefault("aof_last_write_status", "ok").equals("err")) {
      found.add(
          Finding.rejectsWrites(
              "aof_last_write_status=err", "check the disk and the log of Redis"));
    }
  }

  private void losing(
      List<Finding> found, Survival survives, String name, String value, String safe) {
    if (!value.equals(safe)) {
      String setting = name + "=" + value;
      String remedy =
          value.equals(UNKNOWN)
              ? "allow the user CONFIG GET; the setting must be '%s'".formatted(safe)
              : "set " + name + " " + safe;
      found.add(Finding.losesWrites(accepted, survives, setting, remedy));
    }
  }
}
