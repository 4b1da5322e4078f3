package dev.quipu.server.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs what is sent, as in Standard Webhooks (www.standardwebhooks.com), version 1. */
public final class WebhookSecret {
  private static final String PREFIX = "whsec_";
  private static final String ALGORITHM = "HmacSHA256";
  private static final int BYTES_MIN = 24;
  private static final int BYTES_MAX = 64;

  private final SecretKeySpec key;

  private WebhookSecret(byte[] bytes) {
    this.key = new SecretKeySpec(bytes, ALGORITHM);
  }

  /**
   * Returns the secret with a text: {@code whsec_} and 24 to 64 bytes in base64.
   *
   * @param from what has the text, for messages
   * @throws IllegalArgumentException if it is none; the message does not contain it
   */
  public static WebhookSecret parse(String text, String from) {
    try {
      byte[] bytes = Base64.getDecoder().decode(text.startsWith(PREFIX) ? text.substring(6) : "");
      if (bytes.length >= BYTES_MIN && bytes.length <= BYTES_MAX) {
        return new WebhookSecret(bytes);
      }
    } catch (IllegalArgumentException e) {
      // it is not base64: the same message
    }
    throw new IllegalArgumentException(
        ("the webhook secret in %s must be whsec_ followed by %d to %d bytes in base64; create one"
                + " with: echo \"whsec_$(openssl rand -base64 32)\"")
            .formatted(from, BYTES_MIN, BYTES_MAX));
  }

  /** Returns the signature of a message. */
  String sign(String id, long seconds, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update((id + "." + seconds + ".").getBytes(StandardCharsets.UTF_8));
      return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) { // every Java platform has it
      throw new IllegalStateException(e);
    }
  }
}
