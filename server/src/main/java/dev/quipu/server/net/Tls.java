package dev.quipu.server.net;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Path;
import javax.net.ssl.SSLException;

/** TLS of all ports. */
public final class Tls {
  private Tls() {}

  /**
   * Creates a server context from a certificate and its private key, in PEM.
   *
   * @throws IllegalArgumentException if they cannot be read or do not match
   */
  public static SslContext of(Path certificate, Path key) {
    try {
      return SslContextBuilder.forServer(certificate.toFile(), key.toFile()).build();
    } catch (SSLException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "cannot encrypt with %s and %s: %s".formatted(certificate, key, e.getMessage()), e);
    }
  }
}
