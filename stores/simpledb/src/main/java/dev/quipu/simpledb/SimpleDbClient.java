package dev.quipu.simpledb;

import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.xml.stream.XMLStreamException;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.util.Timeout;

/**
 * Client of the query API of 2009-04-15: forms with a signature of version 2, and replies in XML.
 * Never retries. Thread-safe.
 */
public final class SimpleDbClient implements AutoCloseable {
  private static final String VERSION = "2009-04-15";
  private static final String ALGORITHM = "HmacSHA256";
  private static final ContentType FORM =
      ContentType.create("application/x-www-form-urlencoded", StandardCharsets.UTF_8);

  /** Maximum number of concurrent calls; others wait up to the timeout. */
  private static final int CONNECTIONS_MAX = 1_000;

  private static final int REPLY_BYTES_MAX = 16 << 20; // a reply has at most 1 MB of values

  private final CloseableHttpClient http;
  private final ScheduledExecutorService deadlines =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("simpledb-deadlines").factory());
  private final URI endpoint;
  private final Credentials credentials;
  private final Duration timeout;
  private final Clock clock;

  /**
   * Credentials of an account.
   *
   * @param sessionToken of temporary credentials
   */
  public record Credentials(String accessKey, String secretKey, Optional<String> sessionToken) {
    /** Returns a text without the secret. */
    @Override
    public String toString() {
      return "Credentials[" + accessKey + "]";
    }
  }

  /**
   * Creates a client with its own connections.
   *
   * @param endpoint for example {@code https://sdb.amazonaws.com}
   * @param timeout longest wait for a connection, and for a reply
   * @param clock of the timestamps of requests: the service rejects those older than 15 minutes
   */
  public SimpleDbClient(URI endpoint, Credentials credentials, Duration timeout, Clock clock) {
    Timeout most = Timeout.of(timeout);
    this.http =
        HttpClients.custom()
            .setConnectionManager(
                PoolingHttpClientConnectionManagerBuilder.create()
                    .setMaxConnPerRoute(CONNECTIONS_MAX)
                    .setMaxConnTotal(CONNECTIONS_MAX)
                    .setDefaultConnectionConfig(
                        ConnectionConfig.custom()
                            .setConnectTimeout(most)
                            .setSocketTimeout(most)
                            .build())
                    .build())
            .setDefaultRequestConfig(
                RequestConfig.custom()
                    .setConnectionRequestTimeout(most)
                    .setResponseTimeout(most)
                    .setProtocolUpgradeEnabled(false)
                    .build())
            .disableAutomaticRetries()
            .disableRedirectHandling()
            .disableContentCompression()
            .disableCookieManagement()
            .disableAuthCaching()
            .build();
    this.endpoint = endpoint.getRawPath().isEmpty() ? endpoint.resolve("/") : endpoint;
    this.credentials = credentials;
    this.timeout = timeout;
    this.clock = clock;
  }

  /** Returns the endpoint of a region. */
  public static URI endpointOf(String region) {
    String host =
        region.equals("us-east-1") ? "sdb.amazonaws.com" : "sdb." + region + ".amazonaws.com";
    return URI.create("https://" + host);
  }

  /** Returns where the service listens. */
  URI endpoint() {
    return endpoint;
  }

  /**
   * Executes one call.
   *
   * @param action for example {@code PutAttributes}
   * @throws SimpleDbException if the service replied with an error
   * @throws IOException if there was no reply in time
   */
  Reply call(String action, Map<String, String> parameters)
      throws SimpleDbException, IOException, InterruptedException {
    Map<String, String> all = new TreeMap<>(parameters);
    all.put("Action", action);
    all.put("Version", VERSION);
    all.put("AWSAccessKeyId", credentials.accessKey);
    credentials.sessionToken.ifPresent(token -> all.put("SecurityToken", token));
    all.put("SignatureVersion", "2");
    all.put("SignatureMethod", ALGORITHM);
    all.put("Timestamp", Instant.ofEpochMilli(clock.epochMillis()).toString());
    String form = encode(all);
    String body = form + "&Signature=" + encode(sign(form));
    HttpPost request = new HttpPost(endpoint);
    request.setEntity(new ByteArrayEntity(body.getBytes(StandardCharsets.UTF_8), FORM));
    Answer answer = send(request);
    try {
      Reply reply = Reply.parse(answer.body);
      if (answer.status != 200) {
        throw new SimpleDbException(answer.status, reply.errorCode(), reply.errorMessage());
      }
      return reply;
    } catch (XMLStreamException e) {
      if (answer.status != 200) {
        throw new SimpleDbException(answer.status, "", "the reply is not XML");
      }
      throw new IOException("the reply is not XML", e);
    }
  }

  private static final class Answer {
    final int status;
    final byte[] body;

    Answer(int status, byte[] body) {
      this.status = status;
      this.body = body;
    }
  }

  private Answer send(HttpPost request) throws IOException, InterruptedException {
    // The timeouts of the connection apply to each packet.
    ScheduledFuture<?> deadline =
        deadlines.schedule(request::abort, timeout.toNanos(), TimeUnit.NANOSECONDS);
    try {
      return http.execute(
          request,
          response -> {
            byte[] body = EntityUtils.toByteArray(response.getEntity(), REPLY_BYTES_MAX);
            return new Answer(response.getCode(), body == null ? new byte[0] : body);
          });
    } catch (IOException e) {
      if (Thread.interrupted()) {
        InterruptedException interrupted =
            new InterruptedException("interrupted while waiting for a reply");
        interrupted.initCause(e);
        throw interrupted;
      }
      if (request.isAborted()) {
        SocketTimeoutException late =
            new SocketTimeoutException("no reply within %d ms".formatted(timeout.toMillis()));
        late.initCause(e);
        throw late;
      }
      throw e;
    } finally {
      deadline.cancel(false);
    }
  }

  private static String encode(Map<String, String> parameters) { // sorted by name
    StringJoiner form = new StringJoiner("&");
    parameters.forEach((name, value) -> form.add(encode(name) + "=" + encode(value)));
    return form.toString();
  }

  /** Encodes as in RFC 3986, which the signature requires. */
  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace("%7E", "~");
  }

  private String sign(String form) {
    String text =
        "POST\n" + host().toLowerCase(Locale.ROOT) + "\n" + endpoint.getPath() + "\n" + form;
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(
          new SecretKeySpec(credentials.secretKey.getBytes(StandardCharsets.UTF_8), ALGORITHM));
      byte[] signature = mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
      return Base64.getEncoder().encodeToString(signature);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("missing algorithm " + ALGORITHM, e);
    }
  }

  /** Returns the host header: with a port only if it is not the default. */
  private String host() {
    int port = endpoint.getPort();
    int standard = "https".equals(endpoint.getScheme()) ? 443 : 80;
    return port < 0 || port == standard ? endpoint.getHost() : endpoint.getHost() + ":" + port;
  }

  @Override
  public void close() {
    deadlines.shutdownNow();
    http.close(CloseMode.IMMEDIATE);
  }
}
