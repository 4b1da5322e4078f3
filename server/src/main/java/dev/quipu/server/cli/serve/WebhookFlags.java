package dev.quipu.server.cli.serve;

import dev.quipu.engine.Engine;
import dev.quipu.server.webhook.AllowedHosts;
import dev.quipu.server.webhook.Backoff;
import dev.quipu.server.webhook.WebhookSecret;
import dev.quipu.server.webhook.Webhooks;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** Options of webhooks, to which crossings of thresholds are sent. */
final class WebhookFlags {
  private static final String SECRET = "QUIPU_WEBHOOK_SECRET";

  @Option(
      names = "--webhook-allow",
      split = ",",
      paramLabel = "HOST",
      description =
          "Send crossings of thresholds to webhooks on this host, or HOST:PORT; engine only; may be"
              + " repeated (default: none).")
  private List<String> hosts = List.of();

  @Option(
      names = "--webhook-secret-file",
      paramLabel = "FILE",
      description =
          "Sign what is sent with the secret in this file, whsec_ and base64 (or env "
              + SECRET
              + ").")
  private @Nullable Path secretFile;

  /** Where crossings are sent, and how they are signed. */
  private record Options(AllowedHosts allowed, WebhookSecret secret) {}

  /**
   * Ensures that all options are right, before a data directory is created.
   *
   * @throws IllegalArgumentException if one is wrong or missing
   */
  void check(boolean isEngine) {
    if (options().isPresent() && !isEngine) {
      throw new IllegalArgumentException(
          "--webhook-allow needs the engine (--data, or --store engine:DIR)");
    }
  }

  /** Begins to deliver crossings; empty if no host is allowed. */
  Optional<Webhooks> start(Optional<Engine> engine, Consumer<Throwable> onError) {
    if (hosts.isEmpty() && engine.filter(on -> !on.thresholds().list().isEmpty()).isPresent()) {
      LoggerFactory.getLogger(WebhookFlags.class)
          .warn(
              "There are thresholds, and nothing is sent to their webhooks: use --webhook-allow"
                  + " and --webhook-secret-file");
    }
    return options()
        .flatMap(options ->
            engine.map(on ->
                Webhooks.start(
                    on.thresholds(),
                    options.allowed,
                    options.secret,
                    Backoff.DEFAULT,
                    Clock.system(),
                    onError)));
  }

  private Optional<Options> options() {
    if (!hosts.isEmpty()) {
      return Optional.of(new Options(AllowedHosts.of(hosts), secret()));
    }
    if (secretFile != null) {
      throw new IllegalArgumentException("--webhook-secret-file needs --webhook-allow");
    }
    return Optional.empty();
  }

  private WebhookSecret secret() {
    Path file = secretFile;
    if (file != null) {
      try {
        return WebhookSecret.parse(Files.readString(file).strip(), file.toString());
      } catch (IOException e) {
        throw new IllegalArgumentException("cannot read the webhook secret file " + file, e);
      }
    }
    return Optional.ofNullable(System.getenv(SECRET))
        .map(text -> WebhookSecret.parse(text, SECRET))
        .orElseThrow(() ->
            new IllegalArgumentException(
                "--webhook-allow needs --webhook-secret-file FILE (or env %s)".formatted(SECRET)));
  }
}
