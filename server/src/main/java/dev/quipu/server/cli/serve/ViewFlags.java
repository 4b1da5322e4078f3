package dev.quipu.server.cli.serve;

import dev.quipu.server.cli.input.DurationConverter;
import dev.quipu.view.ViewIdentity;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say how views are counted. */
final class ViewFlags {
  @Option(
      names = "--keep",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      description =
          "Remember each view so long: a repeat within this time is caught, one after it counts"
              + " again (default: for ever).")
  private @Nullable Duration keep;

  @Option(
      names = "--identity",
      paramLabel = "RULE",
      defaultValue = "event",
      description =
          "What makes two events the same view of a page: event (time and client), client,"
              + " client-day, or hash (default ${DEFAULT-VALUE}).")
  private String identity = "event";

  @Option(
      names = "--also",
      paramLabel = "WHAT",
      split = ",",
      description =
          "Count each view for its site and for the site's day too: site, day. In the same"
              + " transaction, so the store must have one over all.")
  private List<String> also = List.of();

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
