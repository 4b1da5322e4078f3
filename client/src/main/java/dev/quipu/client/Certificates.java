package dev.quipu.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Certificates that a client trusts. */
final class Certificates {
  private Certificates() {}

  /**
   * Returns TLS that trusts the certificates of a file in PEM, and no others.
   *
   * @throws IllegalArgumentException if the file cannot be read, or has no certificate
   */
  static SSLContext trusting(Path pem) {
    try (InputStream in = Files.newInputStream(pem)) {
      Collection<? extends Certificate> found =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (found.isEmpty()) {
        throw new IllegalArgumentException(
            "%s has no certificate; it must be in PEM".formatted(pem));
      }
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (Certificate each : found) {
        store.setCertificateEntry("certificate-" + store.size(), each);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException("cannot read the certificates in " + pem, e);
    }
  }
}
