package dev.quipu.server.http.message;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The value of a header, whose bytes Netty hands out as one character each. */
public final class HeaderText {
  private HeaderText() {}

  /** Returns the bytes as they came. */
  public static byte[] bytes(String value) {
    return value.getBytes(StandardCharsets.ISO_8859_1);
  }

  /**
   * Returns the text that the bytes are in UTF-8.
   *
   * @throws IllegalArgumentException if they are not valid UTF-8
   */
  static String utf8(String value) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(value))).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "the value is not valid UTF-8; send its bytes in UTF-8", e);
    }
  }
}
