package dev.quipu.server.cli.serve;

import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.OnlineSessions;
import dev.quipu.presence.Presence;
import dev.quipu.presence.SessionTokens;
import dev.quipu.presence.Window;
import dev.quipu.sketches.OnlineApproximate;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for presence. */
final class OnlineOptions {
  private static final String KEY = "QUIPU_SESSION_KEY"; // in the environment

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

  @Option(
      names = "--session-key-file",
      paramLabel = "FILE",
      description =
          "With ring: sessions may keep the time of their last counted hit, signed with the key in"
              + " this file, of 32 bytes or more (or env QUIPU_SESSION_KEY).")
  private @Nullable Path keyFile;

  /**
   * Checks the options of a variant that is given, before the store is opened.
   *
   * @throws IllegalArgumentException as {@link #on}
   */
  void check() {
    if (variant != null) {
      on(new Store(new MemoryDriver(), Clock.system())); // supports all variants
    }
  }

  /**
   * Returns the selected variant on this store.
   *
   * @throws IllegalArgumentException if the key cannot be read, is too short, or is not for a ring
   */
  Presence on(Store store) {
    boolean ordered = store.profile().has(Capability.ORDERED_SCAN);
    Variant chosen = variant != null ? variant : ordered ? Variant.exact : Variant.ring;
    if (keyFile != null && chosen != Variant.ring) {
      throw new IllegalArgumentException(
          "--session-key-file needs --online ring; the technique is " + chosen);
    }
    return switch (chosen) {
      case exact -> new OnlineExact(store, window);
      case ring -> {
        Window buckets = new Window(window, resolution);
        Optional<SessionTokens> tokens = tokens();
        yield tokens.isPresent()
            ? new OnlineSessions(store, buckets, tokens.get())
            : new OnlineRing(store, buckets);
      }
      case approximate -> new OnlineApproximate(store, new Window(window, resolution));
    };
  }

  private Optional<SessionTokens> tokens() {
    Path file = keyFile;
    try {
      return Optional.ofNullable(file == null ? System.getenv(KEY) : Files.readString(file))
          .map(text -> new SessionTokens(text.strip().getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read the session key in " + file, e);
    }
  }
}
