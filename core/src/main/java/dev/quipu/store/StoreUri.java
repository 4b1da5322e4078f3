package dev.quipu.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A parsed store URI: {@code scheme://user:password@host:port,host:port/path?…}. Error messages
 * name the faulty part and never contain a password.
 */
public final class StoreUri {
  /** Longest allowed timeout for one answer of a store. */
  public static final Duration TIMEOUT_MAX = Duration.ofMinutes(5);

  /** Default timeout for one answer of a store. */
  public static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** Name of the parameter of {@link #durability}. */
  public static final String DURABILITY_NAME = "durability";

  /** Name of the parameter of {@link #combines}. */
  public static final String COMBINE_NAME = "combine";

  private static final Set<String> WHICH_STORE = Set.of("prefix", "table", "namespace", "database");
  private static final int PORT_MAX = 65_535;
  private static final String TIMEOUT_NAME = "timeoutMillis";
  private static final String PASSWORD_FILE_NAME = "passwordFile";
  private static final Set<String> KNOWN = Set.of(TIMEOUT_NAME, PASSWORD_FILE_NAME);

  private final String scheme;
  private final Optional<String> user;
  private final Optional<String> password;
  private final List<Host> hosts;
  private final String path;
  private final Map<String, String> parameters;

  /** The address of a server. */
  public record Host(String name, int port) {}

  /**
   * Parses a URI.
   *
   * @param defaultPort the port of hosts without one
   * @param known the allowed parameters, in addition to {@code timeoutMillis}, and to {@code
   *     passwordFile}, a file whose first line is the password
   * @throws IllegalArgumentException naming the faulty part
   */
  public StoreUri(URI uri, int defaultPort, Set<String> known) {
    this.scheme = uri.getScheme();
    requireNoCredentialsAfterHosts(uri);
    String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
    int at = authority.lastIndexOf('@');
    String[] credentials = (at < 0 ? "" : authority.substring(0, at)).split(":", 2);
    this.user = text(credentials[0]);
    this.hosts = hosts(authority.substring(at + 1), defaultPort);
    this.path = uri.getRawPath() == null ? "" : decode(uri.getRawPath().replaceFirst("^/", ""));
    this.parameters = parameters(uri.getRawQuery(), known);
    Optional<String> inUri = credentials.length < 2 ? Optional.empty() : text(credentials[1]);
    this.password = inUri.isPresent() ? inUri : passwordOfFile();
    if (inUri.isPresent() && parameters.containsKey(PASSWORD_FILE_NAME)) {
      throw new IllegalArgumentException(
          "the store's URI has a password and %s; remove one".formatted(PASSWORD_FILE_NAME));
    }
  }

  /**
   * Parses text as a URI.
   *
   * @throws IllegalArgumentException if it is malformed; the message does not repeat the text
   */
  public static URI parse(String text) {
    if (text.indexOf(':') == text.length() - 1 && !text.isEmpty()) {
      throw new IllegalArgumentException(
          "the store's URI has nothing after its scheme; it must be like redis://HOST:PORT");
    }
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          "the store's URI is not well-formed at position %d: %s"
              .formatted(e.getIndex(), e.getReason()));
    }
  }

  /**
   * Rejects an unescaped slash in a password: what follows would be read as a port, and shown in a
   * message.
   */
  private static void requireNoCredentialsAfterHosts(URI uri) {
    String rest = uri.getRawPath() + uri.getRawQuery() + uri.getRawFragment();
    if (rest.contains("@") || uri.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "the store's URI has '@' or '#' after its hosts; in a password, encode @ as %40, / as %2F,"
              + " ? as %3F and # as %23");
    }
  }

  /**
   * Returns the URI as it may be shown: without the password, and only with the parameters that
   * distinguish stores on one server.
   */
  public static String shown(URI uri) {
    if (uri.getRawAuthority() == null) {
      return uri.getScheme() + ":" + uri.getRawSchemeSpecificPart().replaceFirst("^.*@", "");
    }
    String hosts = uri.getRawAuthority().replaceFirst("^.*@", "");
    String shown =
        uri.getScheme() + "://" + hosts + (uri.getRawPath() == null ? "" : uri.getRawPath());
    String query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
    String which =
        Arrays.stream(query.split("&", -1))
            .filter(each -> WHICH_STORE.contains(each.split("=", 2)[0]))
            .collect(Collectors.joining("&"));
    return which.isEmpty() ? shown : shown + "?" + which;
  }

  /** Returns the first line of the file; the line break is no part of it. */
  private Optional<String> passwordOfFile() {
    String file = parameters.get(PASSWORD_FILE_NAME);
    if (file == null) {
      return Optional.empty();
    }
    try (BufferedReader lines = Files.newBufferedReader(Path.of(file))) {
      String line = lines.readLine();
      if (line == null || line.isEmpty()) {
        throw new IllegalArgumentException(
            "%s of the store's URI is empty: %s".formatted(PASSWORD_FILE_NAME, file));
      }
      return Optional.of(line);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read %s of the store's URI: %s".formatted(PASSWORD_FILE_NAME, file), e);
    }
  }

  private Optional<String> text(String raw) {
    return raw.isEmpty() ? Optional.empty() : Optional.of(decode(raw));
  }

  private static String decode(String raw) {
    return URLDecoder.decode(raw.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static List<Host> hosts(String text, int defaultPort) {
    List<Host> hosts = new ArrayList<>();
    for (String each : text.isEmpty() ? new String[0] : text.split(",", -1)) {
      int colon = each.lastIndexOf(':');
      boolean hasPort = colon > each.lastIndexOf(']');
      String name = hasPort ? each.substring(0, colon) : each;
      int port = hasPort ? port(each.substring(colon + 1)) : defaultPort;
      if (name.isEmpty()) {
        throw new IllegalArgumentException("the store's URI has an empty host");
      }
      hosts.add(new Host(name, port));
    }
    return hosts;
  }

  /** Parses a port. The message omits the text, which may be part of a password. */
  private static int port(String text) {
    try {
      return number("port", text, 1, PORT_MAX);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "port in the store's URI is not a number from 1 to %d".formatted(PORT_MAX));
    }
  }

  private static Map<String, String> parameters(@Nullable String query, Set<String> known) {
    Map<String, String> parameters = new LinkedHashMap<>();
    for (String each : query == null ? new String[0] : query.split("&", -1)) {
      String[] parts = each.split("=", 2);
      String name = decode(parts[0]);
      if (!known.contains(name) && !KNOWN.contains(name)) {
        throw new IllegalArgumentException(
            "unknown parameter '%s' in the store's URI; known: %s, %s and %s"
                .formatted(
                    name,
                    String.join(", ", new TreeSet<>(known)),
                    PASSWORD_FILE_NAME,
                    TIMEOUT_NAME));
      }
      if (parts.length < 2 || parameters.put(name, decode(parts[1])) != null) {
        throw new IllegalArgumentException(
            "parameter %s in the store's URI must occur once, with a value".formatted(name));
      }
    }
    return parameters;
  }

  private static int number(String name, String text, int min, int max) {
    if (text.matches("[0-9]{1,9}")) {
      int number = Integer.parseInt(text);
      if (min <= number && number <= max) {
        return number;
      }
    }
    throw new IllegalArgumentException(
        "%s in the store's URI is '%s'; it must be from %d to %d".formatted(name, text, min, max));
  }

  /** Returns the scheme, in lower case. */
  public String scheme() {
    return scheme;
  }

  /** Returns the user name. */
  public Optional<String> user() {
    return user;
  }

  /** Returns the password. */
  public Optional<String> password() {
    return password;
  }

  /**
   * Returns the addresses of the servers, at least one.
   *
   * @throws IllegalArgumentException if there is none
   */
  public List<Host> hosts() {
    if (hosts.isEmpty()) {
      throw new IllegalArgumentException("the store's URI has no host");
    }
    return hosts;
  }

  /**
   * Returns the address of the only server.
   *
   * @throws IllegalArgumentException if there are several or none
   */
  public Host host() {
    if (hosts().size() != 1) {
      throw new IllegalArgumentException(
          "the store's URI has several hosts; only one is supported");
    }
    return hosts.getFirst();
  }

  /** Returns the path without its leading slash. */
  public String path() {
    return path;
  }

  /** Returns the value of a parameter; empty if it is not set. */
  public Optional<String> parameter(String name) {
    return Optional.ofNullable(parameters.get(name));
  }

  /**
   * Returns the value of an integer parameter, {@code otherwise} if it is not set.
   *
   * @throws IllegalArgumentException if it is outside its limits
   */
  public int parameter(String name, int otherwise, int min, int max) {
    String text = parameters.get(name);
    return text == null ? otherwise : number(name, text, min, max);
  }

  /** Returns the timeout for one answer: {@code timeoutMillis}. */
  public Duration timeout() {
    return Duration.ofMillis(
        parameter(TIMEOUT_NAME, (int) TIMEOUT.toMillis(), 1, (int) TIMEOUT_MAX.toMillis()));
  }

  /**
   * Returns the least that acknowledged writes must survive, by {@code durability=fsync}, the
   * default, {@code process} or {@code none}: a server does not count on a store that promises
   * less.
   *
   * @throws IllegalArgumentException if it is none of them
   */
  public Survival durability() {
    String chosen = parameters.getOrDefault(DURABILITY_NAME, Survival.FSYNC.text());
    return Survival.of(chosen)
        .orElseThrow(() ->
            new IllegalArgumentException(
                "%s in the store's URI is '%s'; use one of: %s"
                    .formatted(DURABILITY_NAME, chosen, Survival.texts())));
  }

  /**
   * Returns whether concurrent adds to one item are combined, by {@code combine=on}, the default,
   * or {@code off}.
   *
   * @throws IllegalArgumentException if it is neither
   */
  public boolean combines() {
    String chosen = parameters.getOrDefault(COMBINE_NAME, "on");
    return switch (chosen) {
      case "on" -> true;
      case "off" -> false;
      default ->
          throw new IllegalArgumentException(
              "%s in the store's URI is '%s'; use on or off".formatted(COMBINE_NAME, chosen));
    };
  }
}
