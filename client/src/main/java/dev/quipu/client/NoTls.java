package dev.quipu.client;

import java.security.Provider;
import java.security.SecureRandom;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;

/**
 * A TLS context that cannot connect. A client of {@code http://} servers only gets it, since the
 * default one reads the certificates of all authorities: a third of the time of a short command.
 */
final class NoTls extends SSLContext {
  NoTls() {
    super(new Spi(), new None(), "none");
  }

  private static final class None extends Provider {
    private static final long serialVersionUID = 1;

    None() {
      super("none", "1", "no TLS");
    }
  }

  private static final class Spi extends SSLContextSpi {
    @Override
    protected void engineInit(KeyManager[] keys, TrustManager[] trusted, SecureRandom random) {}

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
      throw unsupported();
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
      throw unsupported();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine() {
      throw unsupported();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(String host, int port) {
      throw unsupported();
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
      throw unsupported();
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
      throw unsupported();
    }

    @Override
    protected SSLParameters engineGetDefaultSSLParameters() {
      return new SSLParameters(new String[0], new String[0]);
    }

    @Override
    protected SSLParameters engineGetSupportedSSLParameters() {
      return engineGetDefaultSSLParameters();
    }

    private static UnsupportedOperationException unsupported() {
      return new UnsupportedOperationException("all servers of this client are http://");
    }
  }
}
