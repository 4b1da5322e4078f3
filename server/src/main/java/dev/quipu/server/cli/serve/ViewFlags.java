package dev.quipu.server.cli.serve;

import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for views. */
final class ViewFlags {
  @Option(
      names = "--keep",
      paramLabel = "TIME",
      description =
          "Keep each view for this time: a repeat within it does not count, a later one does"
              + " (default: unlimited).")
  private @Nullable Duration keep;

  @Option(
      names = "--identity",
      paramLabel = "RULE",
      description =
          "Treat two events as the same view if they have the same: event (time and client),"
              + " client, client-day, or hash (default ${DEFAULT-VALUE}).")
  private String identity = "event";

  @Option(
      names = "--also",
      paramLabel = "WHAT",
      split = ",",
      description =
          "Also count each view for its site, or for the day of its site: site, day. The store"
              + " must support transactions.")
  private List<String> also = List.of();

  /** Returns the options. */
  ViewOptions options() {
    ViewOptions options = ViewOptions.EXACT.by(ViewIdentity.named(identity));
    if (keep != null) {
      options = options.keeping(keep);
    }
    return options.counting(
        also.stream().map(ViewFlags::counted).toArray(ViewOptions.Counted[]::new));
  }

  private static ViewOptions.Counted counted(String word) {
    return switch (word) {
      case "site" -> ViewOptions.Counted.SITE;
      case "day" -> ViewOptions.Counted.DAY;
      default ->
          throw new IllegalArgumentException(
              "--also is '%s'; it must be site, day or both"
                  .formatted(word.toLowerCase(Locale.ROOT)));
    };
  }
}
