package dev.quipu.server.cli.serve;

import dev.quipu.layer.Store;
import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Window;
import dev.quipu.server.cli.input.DurationConverter;
import dev.quipu.sketches.OnlineApproximate;
import dev.quipu.store.StoreProfile.Capability;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say how online users are counted. */
final class OnlineOptions {
  /** The variants, as they are written on the command line. */
  enum Variant {
    exact,
    ring,
    approximate
  }

  @Option(
      names = "--online",
      paramLabel = "HOW",
      description =
          "Count who is online (/v1/presence): ${COMPLETION-CANDIDATES} (default: exact where the"
              + " store has order, else ring).")
  private @Nullable Variant variant;

  @Option(
      names = "--online-window",
      paramLabel = "TIME",
      defaultValue = "5m",
      converter = DurationConverter.class,
      description = "Online is who was seen within this time (default ${DEFAULT-VALUE}).")
  private Duration window = Window.DEFAULT.length();

  @Option(
      names = "--online-resolution",
      paramLabel = "TIME",
      defaultValue = "1m",
      converter = DurationConverter.class,
      description =
          "With ring and approximate: move on so often (default ${DEFAULT-VALUE}). The window"
              + " itself makes a ring of two keys.")
  private Duration resolution = Window.DEFAULT.resolution();

  /** The variant that was chosen, on this store. */
  Presence on(Store store) {
    boolean ordered = store.profile().has(Capability.ORDERED_SCAN);
    Variant chosen = variant != null ? variant : ordered ? Variant.exact : Variant.ring;
    return switch (chosen) {
      case exact -> new OnlineExact(store, window);
      case ring -> new OnlineRing(store, new Window(window, resolution));
      case approximate -> new OnlineApproximate(store, new Window(window, resolution));
    };
  }
}
