package dev.quipu.server.cli.access;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.server.cli.input.UrlConverter;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.view.ViewIdentity;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Options that select the server or the data directory of a command. */
public final class Target {
  private static final String TOKEN = "QUIPU_TOKEN"; // in the environment
  private static final int TOKEN_LENGTH_MIN = 16;
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("(\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9.-]+)(:[0-9]+)?(/.*)?");

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec command;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Open this data directory; no server may be using it.")
  private @Nullable Path data;

  @Option(
      names = "--server",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:7080",
      converter = ServerConverter.class,
      description = "Use this server (env QUIPU_SERVER; default ${DEFAULT-VALUE}).")
  private URI server = URI.create("http://127.0.0.1:7080");

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "Send the bearer token in this file (or env QUIPU_TOKEN).")
  private @Nullable Path tokenFile;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "Trust the certificates in this file, in PEM, and no others.")
  private @Nullable Path ca;

  /** Opens the target of a command that writes; creates a missing directory. */
  public Access open() {
    return open(ViewIdentity.EVENT);
  }

  private Access open(ViewIdentity identity) {
    Path directory = directory();
    return directory != null
        ? new LocalAccess(Environment.of(command).open(directory), identity, () -> {})
        : new RemoteAccess(checked(server), token(tokenFile), Optional.ofNullable(ca));
  }

  /** Opens the target of a command that reads; does not create a directory. */
  public Access openToRead() {
    return openToRead(Optional.empty());
  }

  private Access openToRead(Optional<ViewIdentity> identity) {
    Path directory = directory();
    if (directory != null && !Files.isDirectory(directory)) {
      String why = Files.exists(directory) ? " is not a directory" : " does not exist";
      throw new IllegalArgumentException(directory + why);
    }
    if (directory == null && identity.isPresent()) {
      throw new IllegalArgumentException(
          "--identity requires --data or --store; a server uses the --identity of its own");
    }
    return open(identity.orElse(ViewIdentity.EVENT));
  }

  /**
   * Opens the target of a command that reads views: also a store, beside its servers.
   *
   * @param store its URI; null for the directory or the server
   * @param identity of the views; empty for that of the server, or {@link ViewIdentity#EVENT}
   */
  public Access openToRead(@Nullable String store, Optional<ViewIdentity> identity) {
    if (store == null) {
      return openToRead(identity);
    }
    requireAlone(store);
    OpenedStore opened = OpenedStore.of(store);
    return new LocalAccess(
        Backends.on(opened.driver(), AtomicAdd::new),
        identity.orElse(ViewIdentity.EVENT),
        opened::close);
  }

  /**
   * Checks that a store is not a data directory, and that neither a directory nor a server is
   * given.
   */
  public void requireAlone(String store) {
    if (data != null || isServerGiven()) {
      throw new IllegalArgumentException("--store excludes --data and --server; remove one");
    }
    if (OpenedStore.isEngine(store)) {
      throw new IllegalArgumentException("--store is a data directory; use --data DIR");
    }
  }

  /**
   * Returns access to the counters of a store, which it closes.
   *
   * @param onClose called when they are closed
   */
  public Access on(Quipu quipu, Runnable onClose) {
    return new LocalAccess(quipu, ViewIdentity.EVENT, onClose);
  }

  private boolean isServerGiven() {
    return command.commandLine().getParseResult().hasMatchedOption("--server");
  }

  private @Nullable Path directory() {
    if (data != null && isServerGiven()) {
      throw new IllegalArgumentException("--data and --server exclude each other; remove one");
    }
    return data;
  }

  /**
   * Returns the data directory of a command that requires one.
   *
   * @param why the option that requires it
   * @param remedy what to do
   */
  public Path requireDirectory(String why, String remedy) {
    Path directory = directory();
    if (directory == null) {
      throw new IllegalArgumentException(why + " requires --data DIR; " + remedy);
    }
    return directory;
  }

  /** Returns what repeats calls with an unknown outcome. */
  public Attempts attempts() {
    return new Attempts(Environment.of(command).clock());
  }

  /** Parses the URL of a server; the message for a missing scheme states the complete URL. */
  static final class ServerConverter implements ITypeConverter<URI> {
    @Override
    public URI convert(String text) {
      if (HOST_AND_PORT.matcher(text).matches()) {
        throw new TypeConversionException(
            "'%s' has no scheme; use http://%s".formatted(text, text));
      }
      return new UrlConverter().convert(text);
    }
  }

  private static URI checked(URI server) {
    String scheme = server.getScheme();
    boolean web = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    if (!web || server.getHost() == null) {
      throw new IllegalArgumentException(
          "--server must be like http://127.0.0.1:7080, with http or https, and a host");
    }
    if (server.getRawUserInfo() != null) {
      throw new IllegalArgumentException(
          "--server has a user or password before '@', which is not used; use --token-file");
    }
    return server;
  }

  /** Returns the token of a file, or of the environment. */
  public static Optional<String> token(@Nullable Path file) {
    if (file == null) {
      return Optional.ofNullable(System.getenv(TOKEN)).map(token -> checked(token, TOKEN));
    }
    try {
      return Optional.of(checked(Files.readString(file).strip(), file.toString()));
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read the token file " + file, e);
    }
  }

  private static String checked(String token, String from) {
    if (token.length() < TOKEN_LENGTH_MIN) {
      throw new IllegalArgumentException(
          "the token in %s has %d characters; the minimum is %d"
              .formatted(from, token.length(), TOKEN_LENGTH_MIN));
    }
    if (!token.matches("[\\x21-\\x7e]+")) { // the text is a secret
      throw new IllegalArgumentException(
          "the token in %s must be one line of visible ASCII characters, without blanks"
              .formatted(from));
    }
    return token;
  }
}
