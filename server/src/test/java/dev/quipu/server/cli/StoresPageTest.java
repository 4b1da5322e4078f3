package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.engine.Engine;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.server.cli.store.StoreCommands;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.testkit.store.StoreContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The page of stores equals the profiles of the drivers; {@code ./dev docs} writes it. */
final class StoresPageTest {
  private static final Path PAGE = Path.of("../docs/reference/stores.md");
  private static final String HEAD =
      """
      # Stores

      What each store can do in one atomic step, and so which techniques work there. How to use
      them: [Counting on your store](../guides/stores.md). Made by `./dev docs`.

      `durable` of PostgreSQL and Redis is looked up when a driver opens: the table shows them set
      up for it. Redis Cluster is as Redis, but a batch
      reaches one partition there.
      """;

  @Test
  void thePageIsCurrent() throws IOException {
    String page = page();
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(PAGE, page);
    }
    assertEquals(page, Files.readString(PAGE), "docs/reference/stores.md is old: run ./dev docs");
  }

  private String page() {
    List<StoreProfile> profiles = profiles();
    StringBuilder page = new StringBuilder(HEAD);
    page.append("\n| |");
    profiles.forEach(profile -> page.append(' ').append(profile.name()).append(" |"));
    page.append("\n|---|").append("---|".repeat(profiles.size())).append('\n');
    for (Capability capability : Capability.values()) {
      row(page, word(capability), profiles, profile -> profile.has(capability) ? "yes" : "-");
    }
    row(page, "a batch reaches", profiles, profile -> reach(profile.atomicity()));
    row(page, "writes in a batch", profiles, profile -> Integer.toString(profile.batchItemsMax()));
    row(
        page,
        "bytes in a write",
        profiles,
        profile -> String.format(Locale.ROOT, "%,d", profile.itemBytesMax()));
    row(page, "written one after the other", profiles, StoresPageTest::group);
    for (TechniqueSpec spec : Techniques.ALL) {
      row(page, "`" + spec.name() + "`", profiles, profile -> spec.worksOn(profile) ? "yes" : "-");
    }
    page.append(
        "\n## URIs\n\nEvery one takes `timeoutMillis=5000`, the wait for one answer.\n\n```text\n");
    for (StoreProvider provider : StoreCommands.providers()) {
      page.append(provider.usage()).append('\n');
    }
    page.append("```\n");
    page.append("\n## What the contract skips\n\n");
    for (StoreProfile profile : profiles) {
      List<String> skips = StoreContract.skips(profile);
      String list =
          skips.isEmpty()
              ? "nothing"
              : skips.stream().map(test -> "`" + test + "`").collect(Collectors.joining(", "));
      page.append("- ").append(profile.name()).append(": ").append(list).append(".\n");
    }
    return page.toString();
  }

  private List<StoreProfile> profiles() {
    List<StoreProfile> profiles = new ArrayList<>();
    profiles.add(new MemoryDriver().profile());
    profiles.add(Engine.storeProfile());
    StoreCommands.providers().forEach(provider -> profiles.add(provider.fullProfile()));
    return profiles;
  }

  private static void row(
      StringBuilder page,
      String name,
      List<StoreProfile> profiles,
      Function<StoreProfile, String> cell) {
    page.append("| ").append(name).append(" |");
    profiles.forEach(profile -> page.append(' ').append(cell.apply(profile)).append(" |"));
    page.append('\n');
  }

  private static String reach(Atomicity atomicity) {
    return switch (atomicity) {
      case ITEM -> "one item";
      case PARTITION -> "a partition";
      case STORE -> "all items";
    };
  }

  private static String group(StoreProfile profile) {
    return profile
        .writeGroup()
        .map(group -> "%s, %d a second".formatted(reach(group.scope()), group.writesPerSecond()))
        .orElse("-");
  }

  private static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
