package dev.quipu.server.cli.serve;

import dev.quipu.server.cli.access.Target;
import dev.quipu.server.http.HttpOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that decide who may connect, and what needs a token. */
final class AccessFlags {
  @Option(
      names = "--allow-origin",
      split = ",",
      paramLabel = "ORIGIN",
      description =
          "Allow pages of this site to send views and embed hit badges without a token; may be"
              + " repeated; * for all sites.")
  private List<String> origins = List.of();

  @Option(
      names = "--show",
      split = ",",
      paramLabel = "PREFIX",
      description =
          "Show counters with this prefix as badges without a token; may be repeated. A server"
              + " without a token shows all.")
  private List<String> shown = List.of();

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "Require the bearer token in this file (or env QUIPU_TOKEN).")
  private @Nullable Path tokenFile;

  @Option(
      names = "--read-token-file",
      paramLabel = "FILE",
      description = "Over HTTP, accept the token in this file too, for requests that only read.")
  private @Nullable Path readTokenFile;

  @Option(names = "--insecure", description = "Allow other machines to connect without a token.")
  private boolean insecure;

  /**
   * Returns the options of the HTTP port.
   *
   * @throws IllegalArgumentException if other machines could connect without a token, or a token is
   *     too short
   */
  HttpOptions options(String bind, int port) {
    return HttpOptions.defaults()
        .at(bind, port, Target.token(tokenFile), insecure)
        .readableWith(Optional.ofNullable(readTokenFile).flatMap(Target::token))
        .forPagesOf(Set.copyOf(origins))
        .showing(Set.copyOf(shown));
  }
}
