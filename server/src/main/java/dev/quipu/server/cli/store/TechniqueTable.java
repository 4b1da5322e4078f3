package dev.quipu.server.cli.store;

import dev.quipu.engine.Engine;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TechniqueSpec.Cost;
import dev.quipu.technique.Techniques;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** The table of techniques that the documentation shows. */
public final class TechniqueTable {
  private TechniqueTable() {}

  /** Returns a row for each technique, and one for the engine. */
  public static String markdown() {
    List<TechniqueSpec> specs = new ArrayList<>(Techniques.ALL);
    specs.add(Engine.SPEC);
    StringBuilder table = new StringBuilder();
    table.append(
        "| technique | needs | works on | guarantees | after a lost reply | cost of an add | cost of a read | source |\n");
    table.append("|---|---|---|---|---|---|---|---|\n");
    for (TechniqueSpec spec : specs) {
      table.append(
          "| `%s` | %s | %s | %s | %s | %s | %s | %s |%n"
              .formatted(
                  spec.name(),
                  names(spec.needs()),
                  String.join(", ", stores(spec)),
                  names(spec.guarantees()),
                  spec.afterLostReply(),
                  cost(spec.perAdd()),
                  cost(spec.perRead()),
                  spec.source()));
    }
    return table.toString();
  }

  /** Returns the stores that a technique works on. */
  static List<String> stores(TechniqueSpec spec) {
    if (spec.equals(Engine.SPEC)) {
      return List.of("engine");
    }
    List<StoreProfile> profiles = new ArrayList<>();
    profiles.add(new MemoryDriver().profile());
    profiles.add(Engine.storeProfile());
    StoreCommands.providers().forEach(provider -> profiles.add(provider.fullProfile()));
    return profiles.stream().filter(spec::worksOn).map(StoreProfile::name).toList();
  }

  private static String names(Set<? extends Enum<?>> set) {
    return set.isEmpty()
        ? "none"
        : set.stream()
            .sorted(Comparator.comparingInt(Enum::ordinal))
            .map(each -> each.name().toLowerCase(Locale.ROOT).replace('_', ' '))
            .collect(Collectors.joining(", "));
  }

  static String cost(Cost cost) {
    return "round trips %d, writes %d, items kept %d"
        .formatted(cost.roundTrips(), cost.writes(), cost.itemsKept());
  }
}
