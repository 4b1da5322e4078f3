package dev.quipu.server.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.cli.QuipuCommand;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.memcache.MemcacheServer;
import dev.quipu.server.protocol.CommandPort;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.server.resp.RawClient;
import dev.quipu.server.resp.RespServer;
import dev.quipu.testservers.Tool;
import dev.quipu.time.Clock;
import io.netty.handler.ssl.SslContext;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** TLS on all ports with the same certificate. */
final class TlsTest {
  @TempDir Path directory;

  private X509Bundle bundle;
  private Optional<SslContext> tls;

  private static X509Bundle created() throws Exception {
    return new CertificateBuilder()
        .subject("CN=localhost")
        .addSanDnsName("localhost")
        .setIsCertificateAuthority(true)
        .buildSelfSigned();
  }

  @BeforeEach
  void certify() throws Exception {
    bundle = created();
    Path certificate = directory.resolve("certificate.pem");
    Path key = directory.resolve("key.pem");
    Files.writeString(certificate, bundle.getCertificatePathPEM());
    Files.writeString(key, bundle.getPrivateKeyPEM());
    tls = Optional.of(Tls.of(certificate, key));
  }

  /** Returns everything received until the connection closes. */
  private String ask(int port, String asked) throws Exception {
    KeyStore known = KeyStore.getInstance(KeyStore.getDefaultType());
    known.load(null, null);
    known.setCertificateEntry("server", bundle.getCertificate());
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(known);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    InetAddress here = InetAddress.getLoopbackAddress();
    try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(here, port)) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(asked.getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private Engine open() {
    return Engine.open(directory.resolve("data"), EngineOptions.defaults());
  }

  @Test
  void redis() throws Exception {
    PortOptions options = PortOptions.at(0).withAccess("127.0.0.1", Optional.of("secret"), tls);
    try (Engine engine = open();
        CommandPort server = RespServer.start(options, engine, "test", Clock.system())) {
      int port = server.address().getPort();
      assertEquals(
          "-NOAUTH Authentication required.\r\n+OK\r\n:1\r\n+OK\r\n",
          ask(port, "INCR a\r\nAUTH secret\r\nINCR a\r\nQUIT\r\n"));
      try (RawClient plain = new RawClient(port)) {
        plain.send("AUTH secret\r\nINCR a\r\n");
        String answer = plain.readUntil("never");
        assertTrue(!answer.contains(":"), "a plain-text client received " + answer);
      }
    }
  }

  @Test
  void memcached() throws Exception {
    PortOptions options = PortOptions.at(0).withAccess("127.0.0.1", Optional.empty(), tls);
    try (Engine engine = open();
        CommandPort server =
            MemcacheServer.start(options, engine, List.of(), "test", Clock.system())) {
      assertEquals(
          "HD\r\n4\r\n", ask(server.address().getPort(), "ma a N0 J3\r\nincr a 1\r\nquit\r\n"));
    }
  }

  /** A failed handshake sends no request, so the add is certainly not applied. */
  @Test
  void aCommandCountsOnlyOnAServerThatItTrusts() throws Exception {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (Quipu quipu = Backends.on(open());
        HttpServer server =
            HttpServer.start(
                options, tls, Services.of(quipu, "engine"), HostProcess.alone(), Clock.system())) {
      String url = "https://localhost:" + server.address().getPort();
      String certificate = directory.resolve("certificate.pem").toString();
      StringWriter err = new StringWriter();
      assertEquals(10, run(err, "add", "a", "1", "--server", url), err::toString);
      assertTrue(err.toString().contains("certificate"), err::toString);
      assertTrue(!err.toString().contains("outcome unknown"), err::toString);
      assertEquals(0, run(err, "add", "a", "1", "--server", url, "--ca", certificate));
      assertEquals(1, quipu.counters().read("a").orElseThrow().value());
      String key = directory.resolve("key.pem").toString();
      assertEquals(2, run(err, "add", "a", "1", "--server", url, "--ca", key));
      assertEquals(2, run(err, "add", "a", "1", "--server", url.replace("https", "http")));
      assertTrue(err.toString().contains("accepts HTTPS only"), err::toString);
      assertEquals(1, quipu.counters().read("a").orElseThrow().value());
    }
  }

  private static int run(StringWriter err, String... arguments) {
    err.getBuffer().setLength(0);
    CommandLine line = QuipuCommand.commandLine(arguments);
    line.setErr(new PrintWriter(err));
    line.setOut(new PrintWriter(new StringWriter()));
    return line.execute(arguments);
  }

  @Test
  void http() throws Exception {
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    try (Quipu quipu = Backends.on(open());
        HttpServer server =
            HttpServer.start(
                options, tls, Services.of(quipu, "engine"), HostProcess.alone(), Clock.system())) {
      String answer =
          ask(
              server.address().getPort(),
              "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n"), answer);
    }
  }

  @Test
  void invalidCertificateFilesAreNamed() throws Exception {
    Path wrong = Files.writeString(directory.resolve("wrong.pem"), "nothing");
    Exception thrown = assertThrows(IllegalArgumentException.class, () -> Tls.of(wrong, wrong));
    assertTrue(String.valueOf(thrown.getMessage()).contains("wrong.pem"), thrown::toString);
  }

  /** Returns what openssl prints about a new connection. */
  private static String openssl(int port, String... options) throws Exception {
    List<String> command =
        new ArrayList<>(List.of("openssl", "s_client", "-connect", "127.0.0.1:" + port));
    command.addAll(List.of(options));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    try (var out = process.getInputStream()) {
      return new String(out.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void suitesWithoutAuthenticatedEncryptionAreOff() throws Exception {
    assumeTrue(Tool.find("openssl").isPresent(), "no openssl on this machine");
    PortOptions options = PortOptions.at(0).withAccess("127.0.0.1", Optional.empty(), tls);
    try (Engine engine = open();
        CommandPort server = RespServer.start(options, engine, "test", Clock.system())) {
      int port = server.address().getPort();
      for (String off : List.of("AES128-SHA", "AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-SHA384")) {
        String answer = openssl(port, "-tls1_2", "-cipher", off + "@SECLEVEL=0");
        assertTrue(answer.contains("Cipher is (NONE)"), off + answer);
      }
      String answer = openssl(port, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256");
      assertTrue(answer.contains("Cipher is ECDHE-ECDSA-AES128-GCM-SHA256"), answer);
      assertTrue(tls.orElseThrow().cipherSuites().stream().noneMatch(each -> each.contains("CBC")));
    }
  }

  @Test
  void aNewCertificateIsUsedWithoutARestart() throws Exception {
    PortOptions options = PortOptions.at(0).withAccess("127.0.0.1", Optional.empty(), tls);
    try (Engine engine = open();
        CommandPort server = RespServer.start(options, engine, "test", Clock.system())) {
      int port = server.address().getPort();
      assertEquals(":1\r\n+OK\r\n", ask(port, "INCR a\r\nQUIT\r\n"));
      X509Bundle before = bundle;
      X509Bundle after = created();
      // Between the two, the new certificate is with the old key.
      Files.writeString(directory.resolve("certificate.pem"), after.getCertificatePathPEM());
      assertEquals(":2\r\n+OK\r\n", ask(port, "INCR a\r\nQUIT\r\n"), "still the old one");
      Files.writeString(directory.resolve("key.pem"), after.getPrivateKeyPEM());
      bundle = after;
      assertEquals(":3\r\n+OK\r\n", ask(port, "INCR a\r\nQUIT\r\n"), "the new one");
      Files.delete(directory.resolve("key.pem"));
      assertEquals(":4\r\n+OK\r\n", ask(port, "INCR a\r\nQUIT\r\n"), "kept");
      bundle = before;
      assertThrows(SSLException.class, () -> ask(port, "INCR a\r\nQUIT\r\n"));
    }
  }

  @Test
  void aKeyOfAnotherCertificateIsRejected() throws Exception {
    Path other = directory.resolve("other.pem");
    Files.writeString(other, created().getPrivateKeyPEM());
    Path certificate = directory.resolve("certificate.pem");
    Exception thrown =
        assertThrows(IllegalArgumentException.class, () -> Tls.of(certificate, other));
    assertTrue(String.valueOf(thrown.getMessage()).contains("other.pem"), thrown::toString);
  }
}
