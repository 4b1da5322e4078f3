package dev.quipu.server.net;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Path;
import javax.net.ssl.SSLException;

/** Encryption of all ports. */
public final class Tls {
  private Tls() {}

  /**
   * By a certificate and its key, in PEM.
   *
   * @throws IllegalArgumentException if they cannot be read, or do not match
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
