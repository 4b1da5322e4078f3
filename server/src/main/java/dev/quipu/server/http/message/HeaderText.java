package dev.quipu.server.http.message;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Decodes header values, which Netty returns with one character for each byte. */
public final class HeaderText {
  private HeaderText() {}

  /** Returns the bytes as received. */
  public static byte[] bytes(String value) {
    return value.getBytes(StandardCharsets.ISO_8859_1);
  }

  /**
   * Returns the value decoded as UTF-8.
   *
   * @throws IllegalArgumentException if they are not valid UTF-8
   */
  static String utf8(String value) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(value))).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("the value is not valid UTF-8", e);
    }
  }
}
