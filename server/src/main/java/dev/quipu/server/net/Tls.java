package dev.quipu.server.net;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS of all ports. A new connection has the certificate that is in the files at that time; if they
 * are unusable, the previous one stays. Thread-safe.
 */
public final class Tls extends SslContext {
  /** All suites have authenticated encryption and forward secrecy. */
  private static final List<String> SUITES =
      List.of(
          "TLS_AES_256_GCM_SHA384",
          "TLS_AES_128_GCM_SHA256",
          "TLS_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

  private static final Logger LOGGER = LoggerFactory.getLogger(Tls.class);

  private final Path certificate;
  private final Path key;
  private volatile Loaded loaded;

  /** What changes if a file is written or replaced. */
  private record Stamp(FileTime modified, long bytes, Optional<Object> file) {
    static Stamp of(Path path) throws IOException {
      BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
      return new Stamp(
          found.lastModifiedTime(), found.size(), Optional.ofNullable(found.fileKey()));
    }
  }

  private record Loaded(List<Stamp> stamps, SslContext context) {}

  private Tls(Path certificate, Path key) throws IOException, GeneralSecurityException {
    this.certificate = certificate;
    this.key = key;
    this.loaded = new Loaded(stamps(), load());
  }

  /**
   * Creates a server context from a certificate and its private key, in PEM.
   *
   * @throws IllegalArgumentException if they cannot be read or do not match
   */
  public static SslContext of(Path certificate, Path key) {
    try {
      return new Tls(certificate, key);
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "cannot encrypt with %s and %s: %s".formatted(certificate, key, e.getMessage()), e);
    }
  }

  private List<Stamp> stamps() throws IOException {
    return List.of(Stamp.of(certificate), Stamp.of(key));
  }

  private SslContext load() throws IOException, GeneralSecurityException {
    X509Certificate[] chain = toX509Certificates(certificate.toFile());
    PrivateKey secret = toPrivateKey(key.toFile(), null);
    requireMatch(chain[0].getPublicKey(), secret);
    return SslContextBuilder.forServer(secret, chain)
        .ciphers(SUITES, SupportedCipherSuiteFilter.INSTANCE)
        .build();
  }

  /** Throws if a signature of the private key is not one of the certificate. */
  private static void requireMatch(PublicKey open, PrivateKey secret)
      throws GeneralSecurityException {
    String algorithm =
        switch (open.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> open.getAlgorithm();
        };
    byte[] text = {1};
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(
        KeyFactory.getInstance(open.getAlgorithm())
            .generatePrivate(new PKCS8EncodedKeySpec(secret.getEncoded())));
    signature.update(text);
    byte[] signed = signature.sign();
    signature.initVerify(open);
    signature.update(text);
    if (!signature.verify(signed)) {
      throw new IllegalArgumentException("the key is not that of the certificate");
    }
  }

  private SslContext current() {
    try {
      List<Stamp> found = stamps();
      if (!found.equals(loaded.stamps)) {
        reload(found);
      }
    } catch (IOException e) {
      LOGGER.atDebug().setCause(e).log("Certificate files cannot be read; kept the previous ones");
    }
    return loaded.context;
  }

  private synchronized void reload(List<Stamp> found) {
    if (found.equals(loaded.stamps)) {
      return; // by another thread
    }
    SslContext context = loaded.context;
    try {
      context = load();
      LOGGER.atInfo().addKeyValue("certificate", certificate).log("Certificate reloaded");
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      LOGGER
          .atWarn()
          .addKeyValue("certificate", certificate)
          .addKeyValue("key", key)
          .addKeyValue("cause", e.getMessage())
          .log("Certificate not reloaded; the previous one stays");
    }
    loaded = new Loaded(found, context);
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator allocator) {
    return current().newEngine(allocator);
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator allocator, String host, int port) {
    return current().newEngine(allocator, host, port);
  }

  @Override
  public boolean isClient() {
    return false;
  }

  @Override
  public List<String> cipherSuites() {
    return loaded.context.cipherSuites();
  }

  @Override
  @SuppressWarnings("deprecation") // abstract in Netty
  public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
    return loaded.context.applicationProtocolNegotiator();
  }

  @Override
  public SSLSessionContext sessionContext() {
    return loaded.context.sessionContext();
  }
}
