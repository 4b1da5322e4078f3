package dev.quipu.simpledbserver;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.Locale;
import java.util.StringJoiner;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Checks signatures of version 2. */
final class Signature {
  private final String accessKey;
  private final String secretKey;

  Signature(String accessKey, String secretKey) {
    this.accessKey = accessKey;
    this.secretKey = secretKey;
  }

  /**
   * Authenticates a request.
   *
   * @param host header of the request
   * @throws SdbException if the signature is invalid or expired
   */
  void check(String method, String host, Parameters parameters, long nowMillis) {
    String key =
        parameters
            .find("AWSAccessKeyId")
            .orElseThrow(
                () -> SdbException.denied("AuthMissingFailure", "AWSAccessKeyId is missing"));
    if (!key.equals(accessKey)) {
      throw SdbException.denied("InvalidClientTokenId", "The access key does not exist");
    }
    if (!parameters.get("SignatureVersion").equals("2")) {
      throw SdbException.bad("InvalidParameterValue", "SignatureVersion must be 2");
    }
    checkTime(parameters, nowMillis);
    String expected = sign(method, host, parameters);
    String given = parameters.get("Signature");
    if (!MessageDigest.isEqual(
        expected.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8))) {
      throw SdbException.denied(
          "SignatureDoesNotMatch",
          "The request signature does not match the one of the secret key");
    }
  }

  private static void checkTime(Parameters parameters, long nowMillis) {
    boolean expires = parameters.find("Expires").isPresent();
    String name = expires ? "Expires" : "Timestamp";
    String text = parameters.get(name);
    long millis;
    try {
      millis = DateTimeFormatter.ISO_DATE_TIME.parse(text, Instant::from).toEpochMilli();
    } catch (DateTimeException e) {
      throw SdbException.invalid(name, text, "It must be a date of ISO 8601.");
    }
    boolean late = expires ? millis < nowMillis : millis < nowMillis - Limits.CLOCK_MILLIS_MAX;
    if (late) {
      throw SdbException.bad("RequestExpired", "Request has expired: " + name + " is " + text);
    }
  }

  private String sign(String method, String host, Parameters parameters) {
    String algorithm = parameters.find("SignatureMethod").orElse("HmacSHA1");
    if (!algorithm.equals("HmacSHA256") && !algorithm.equals("HmacSHA1")) {
      throw SdbException.invalid(
          "SignatureMethod", algorithm, "It must be HmacSHA256 or HmacSHA1.");
    }
    StringJoiner query = new StringJoiner("&");
    parameters
        .all()
        .forEach((name, value) -> {
          if (!name.equals("Signature")) {
            query.add(encode(name) + "=" + encode(value));
          }
        });
    String text = method + "\n" + host.toLowerCase(Locale.ROOT) + "\n/\n" + query;
    try {
      Mac mac = Mac.getInstance(algorithm);
      mac.init(new SecretKeySpec(secretKey.getBytes(StandardCharsets.UTF_8), algorithm));
      return Base64.getEncoder().encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new AssertionError("missing algorithm " + algorithm, e);
    }
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace("%7E", "~");
  }
}
