package dev.quipu.server.cli;

import dev.quipu.Quipu;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say what a command counts on. */
final class Target {
  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Work directly on this data directory, which no server may have open.")
  private @Nullable Path data;

  @Option(
      names = "--server",
      paramLabel = "URL",
      defaultValue = "${env:QUIPU_SERVER:-http://127.0.0.1:7080}",
      description = "Ask this server (env QUIPU_SERVER; default ${DEFAULT-VALUE}).")
  private URI server = URI.create("http://127.0.0.1:7080");

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "Show the token in this file to the server (or env QUIPU_TOKEN).")
  private @Nullable Path tokenFile;

  Access open() {
    Path directory = data;
    return directory != null
        ? new LocalAccess(Quipu.open(directory))
        : new RemoteAccess(server, token(tokenFile));
  }

  /** The token in a file, or in the environment. */
  static Optional<String> token(@Nullable Path file) {
    if (file == null) {
      return Optional.ofNullable(System.getenv("QUIPU_TOKEN"));
    }
    try {
      String token = Files.readString(file).strip();
      if (token.length() < 16) {
        throw new IllegalArgumentException(
            "the token in %s has %d characters, at least 16 are needed"
                .formatted(file, token.length()));
      }
      return Optional.of(token);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read the token file " + file, e);
    }
  }
}
