package dev.quipu.client;

import dev.quipu.Quipu;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * Options of a client.
 *
 * @param servers the base URIs of servers that share a store, in order of preference
 * @param token the bearer token, if any
 * @param tokenSetting how to set the token, in the message if it is missing or wrong
 * @param timeout the deadline of each call, with all of its attempts
 * @param tls the certificates to trust, if not those of the platform
 * @param waits whether calls that were certainly not applied, since no server responds or all are
 *     overloaded, are repeated until the deadline
 */
public record ClientOptions(
    List<URI> servers,
    Optional<String> token,
    String tokenSetting,
    Duration timeout,
    Optional<SSLContext> tls,
    boolean waits) {
  /** The default deadline of a call. */
  public static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** Maximum number of servers. */
  static final int SERVERS_MAX = 16;

  /**
   * Checks the servers and the token. A URI may have several hosts, such as {@code
   * http://a:7080,b:7080}.
   *
   * @throws IllegalArgumentException if a URI is not that of a server, or the token is malformed
   */
  public ClientOptions {
    servers = servers.stream().flatMap(uri -> hosts(uri).stream()).distinct().toList();
    if (servers.isEmpty() || servers.size() > SERVERS_MAX) {
      throw new IllegalArgumentException(
          "%d servers; the number must be from 1 to %d".formatted(servers.size(), SERVERS_MAX));
    }
    if (token.isPresent() && !token.get().matches("[\\x21-\\x7e]+")) { // the text is a secret
      throw new IllegalArgumentException(
          "the token must be visible ASCII characters, without blanks; set it by " + tokenSetting);
    }
  }

  /**
   * Returns TLS that trusts the certificates of a file in PEM, and no others.
   *
   * @throws IllegalArgumentException if the file cannot be read, or has no certificate
   */
  public static SSLContext trusting(Path pem) {
    return Certificates.trusting(pem);
  }

  /** Returns the options of a builder. */
  static ClientOptions of(Quipu.Server server) {
    return new ClientOptions(
        server.uris(),
        server.token(),
        "Quipu.Builder.token, or quipu.token in Spring",
        server.timeout().orElse(TIMEOUT),
        server.trustedCertificates().map(Certificates::trusting),
        true);
  }

  private static List<URI> hosts(URI uri) {
    String scheme = uri.getScheme();
    String authority = uri.getRawAuthority();
    boolean web = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    if (!web || authority == null) {
      throw malformed(uri, "use http or https, and a host");
    }
    if (authority.indexOf('@') >= 0) {
      throw malformed(uri, "a user or password before '@' is not used; set a token");
    }
    boolean isBase = uri.getRawPath().isEmpty() || uri.getRawPath().equals("/");
    if (!isBase || uri.getRawQuery() != null || uri.getRawFragment() != null) {
      throw malformed(uri, "remove what follows the port");
    }
    List<URI> hosts = new ArrayList<>();
    for (String host : authority.split(",", -1)) {
      try {
        URI each = new URI(scheme + "://" + host).parseServerAuthority();
        if (each.getHost() == null) {
          throw malformed(uri, "'%s' is not a host".formatted(host));
        }
        hosts.add(each);
      } catch (URISyntaxException e) {
        throw malformed(uri, "'%s' is not a host and a port".formatted(host));
      }
    }
    return hosts;
  }

  private static IllegalArgumentException malformed(URI uri, String remedy) {
    return new IllegalArgumentException(
        "server '%s' must be like http://127.0.0.1:7080: %s".formatted(uri, remedy));
  }
}
