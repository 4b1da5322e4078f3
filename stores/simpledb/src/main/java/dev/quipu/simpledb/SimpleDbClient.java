package dev.quipu.simpledb;

import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
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
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.xml.stream.XMLStreamException;

/**
 * Calls SimpleDB by its query API of 2009-04-15: a form with a signature of version 2, and XML.
 * Thread-safe. It sends each call once: nothing is ever repeated.
 */
public final class SimpleDbClient implements AutoCloseable {
  private static final String VERSION = "2009-04-15";
  private static final String ALGORITHM = "HmacSHA256";

  private final HttpClient http;
  private final URI endpoint;
  private final Credentials credentials;
  private final Duration timeout;
  private final Clock clock;

  /**
   * Who asks.
   *
   * @param sessionToken of temporary credentials
   */
  public record Credentials(String accessKey, String secretKey, Optional<String> sessionToken) {
    /** Without the secret. */
    @Override
    public String toString() {
      return "Credentials[" + accessKey + "]";
    }
  }

  /**
   * A client of its own connections.
   *
   * @param endpoint for example {@code https://sdb.amazonaws.com}
   * @param timeout how long to wait for a connection, and for an answer
   * @param clock by which requests are dated: the service refuses those of a clock that is more
   *     than 15 minutes behind
   */
  public SimpleDbClient(URI endpoint, Credentials credentials, Duration timeout, Clock clock) {
    this.http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(timeout)
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
    this.endpoint = endpoint.getRawPath().isEmpty() ? endpoint.resolve("/") : endpoint;
    this.credentials = credentials;
    this.timeout = timeout;
    this.clock = clock;
  }

  /** The endpoint of a region. */
  public static URI endpointOf(String region) {
    String host =
        region.equals("us-east-1") ? "sdb.amazonaws.com" : "sdb." + region + ".amazonaws.com";
    return URI.create("https://" + host);
  }

  /**
   * One call.
   *
   * @param action for example {@code PutAttributes}
   * @throws SimpleDbException if the service answered with an error
   * @throws IOException if it did not answer, or not in time
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
    HttpRequest request =
        HttpRequest.newBuilder(endpoint)
            .timeout(timeout)
            .header("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
    int status = response.statusCode();
    try {
      Reply reply = Reply.parse(response.body());
      if (status != 200) {
        throw new SimpleDbException(status, reply.errorCode(), reply.errorMessage());
      }
      return reply;
    } catch (XMLStreamException e) {
      if (status != 200) {
        throw new SimpleDbException(status, "", "an answer that is no XML");
      }
      throw new IOException("SimpleDB answered what is no XML", e);
    }
  }

  private static String encode(Map<String, String> parameters) { // in order of name
    StringJoiner form = new StringJoiner("&");
    parameters.forEach((name, value) -> form.add(encode(name) + "=" + encode(value)));
    return form.toString();
  }

  /** As RFC 3986 has it, which the signature is made of. */
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
      throw new AssertionError("every Java platform has " + ALGORITHM, e);
    }
  }

  /** As the header of the request has it: a port only if it is not the usual one. */
  private String host() {
    int port = endpoint.getPort();
    int usual = "https".equals(endpoint.getScheme()) ? 443 : 80;
    return port < 0 || port == usual ? endpoint.getHost() : endpoint.getHost() + ":" + port;
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
