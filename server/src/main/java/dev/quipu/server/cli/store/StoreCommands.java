package dev.quipu.server.cli.store;

import dev.quipu.server.cli.output.ExitCode;
import dev.quipu.server.cli.output.Output;
import dev.quipu.server.cli.output.ResultCommand;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import dev.quipu.technique.Techniques;
import java.net.URI;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Commands about stores. */
public final class StoreCommands {
  private StoreCommands() {}

  /** Returns the stores on the class path, ordered by name. */
  public static List<StoreProvider> providers() {
    return StoreProvider.all().stream()
        .sorted(Comparator.comparing(provider -> provider.schemes().getFirst()))
        .toList();
  }

  @Command(
      name = "stores",
      description = "List the supported stores and the format of their URIs.",
      footer = {
        "",
        "Parameter of every URI: timeoutMillis=N, timeout of a call (default 5000).",
      })
  public static final class StoresCommand extends ResultCommand {
    @Override
    public Integer call() {
      for (StoreProvider provider : providers()) {
        StoreProfile profile = provider.fullProfile();
        List<String> capabilities =
            profile.capabilities().stream().sorted().map(StoreCommands::word).toList();
        String technique = Techniques.bestFor(profile).name();
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("store", profile.name());
        members.put("uri", provider.usage());
        members.put("technique", technique);
        members.put("capabilities", capabilities);
        output.print(
            "%s%n  %s%n  default technique %s; %s"
                .formatted(
                    profile.name(), provider.usage(), technique, String.join(", ", capabilities)),
            members);
      }
      return ExitCode.OK;
    }
  }

  private static String word(Capability capability) {
    return capability.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  @Command(
      name = "schema",
      description = {
        "Print the schema of a store, to create it without the server.",
        "No connection is made."
      },
      footer = {
        "",
        "Example:",
        "  quipu schema --store postgresql://db/app | psql app",
      })
  public static final class SchemaCommand extends ResultCommand {
    @Option(
        names = "--store",
        paramLabel = "URI",
        required = true,
        description = "The store, as for serve.")
    private String store = "";

    @Override
    public Integer call() {
      URI uri = StoreUri.parse(store);
      String schema = StoreProvider.of(uri).schema(uri);
      output.print(
          schema.stripTrailing(), Output.members("store", StoreUri.shown(uri), "schema", schema));
      return ExitCode.OK;
    }
  }
}
