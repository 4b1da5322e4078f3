package dev.quipu.server.cli.serve;

import dev.quipu.layer.Store;
import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Window;
import dev.quipu.sketches.OnlineApproximate;
import dev.quipu.store.StoreProfile.Capability;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for presence. */
final class OnlineOptions {
  /** The variants, as on the command line. */
  enum Variant {
    exact,
    ring,
    approximate
  }

  @Option(
      names = "--online",
      paramLabel = "HOW",
      description =
          "Technique for presence (/v1/presence): ${COMPLETION-CANDIDATES} (default: exact if the"
              + " store"
              + " has ordered scans, else ring).")
  private @Nullable Variant variant;

  @Option(
      names = "--online-window",
      paramLabel = "TIME",
      description = "Count clients seen within this time as online (default 5m).")
  private Duration window = Window.DEFAULT.length();

  @Option(
      names = "--online-resolution",
      paramLabel = "TIME",
      description =
          "With ring and approximate: length of a bucket of the window (default"
              + " 1m). If it equals the window, the ring has two keys.")
  private Duration resolution = Window.DEFAULT.resolution();

  /** Returns the selected variant on this store. */
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
