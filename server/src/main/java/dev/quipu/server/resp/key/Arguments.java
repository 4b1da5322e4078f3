package dev.quipu.server.resp.key;

import dev.quipu.Limits;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.resp.wire.RespParser;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * The words of a command, including its name.
 *
 * @param memory the memory of its connection
 * @param protocol version of the protocol when it was received: 2 or 3
 */
public record Arguments(List<byte[]> words, ConnectionMemory memory, int protocol) {
  static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";
  public static final String SYNTAX = "ERR syntax error";

  /** A command was rejected; the message is the reply. */
  public static final class Rejected extends RuntimeException {
    private static final long serialVersionUID = 1;

    public Rejected(String answer) {
      super(answer, null, false, false);
    }
  }

  public int size() {
    return words.size();
  }

  public byte[] bytes(int index) {
    return words.get(index);
  }

  /** Returns a word as text; malformed UTF-8 is replaced. */
  public String text(int index) {
    return new String(words.get(index), StandardCharsets.UTF_8);
  }

  /** Returns a keyword in upper case. */
  public String word(int index) {
    return new String(words.get(index), StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
  }

  /** Returns the memory held by the words, in bytes. */
  public long heldBytes() {
    long bytes = 0;
    for (byte[] word : words) {
      bytes += word.length + RespParser.ARGUMENT_OVERHEAD_BYTES;
    }
    return bytes;
  }

  /** Returns a key as the name of a counter; an empty key is stored under a reserved name. */
  public String key(int index) {
    return words.get(index).length == 0 ? Family.EMPTY_KEY : name(index, "key");
  }

  /** Returns a key that must not be empty, since other ports can use it as well. */
  public String sharedKey(int index) {
    return name(index, "key");
  }

  /** Returns a key without validation. */
  public String anyKey(int index) {
    return words.get(index).length == 0 ? Family.EMPTY_KEY : text(index);
  }

  /** Returns a field; an empty field is stored under a reserved name. */
  public String field(int index) {
    return words.get(index).length == 0 ? Family.EMPTY_FIELD : name(index, "field");
  }

  /** Returns the text of a request id; two ids that differ must not be replaced by one. */
  public String id(int index) {
    return valid(index, "request id");
  }

  private String valid(int index, String what) {
    byte[] word = words.get(index);
    if (isAscii(word)) {
      return new String(word, StandardCharsets.ISO_8859_1); // faster than a decoder
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(word)).toString();
    } catch (CharacterCodingException e) {
      throw new Rejected("ERR %s is not valid UTF-8".formatted(what));
    }
  }

  private static boolean isAscii(byte[] word) {
    for (byte each : word) {
      if (each < 0) {
        return false;
      }
    }
    return true;
  }

  private String name(int index, String what) {
    try {
      return Limits.checkText(what, valid(index, what), Limits.NAME_BYTES_MAX);
    } catch (IllegalArgumentException e) {
      throw new Rejected("ERR " + e.getMessage());
    }
  }

  /** Parses a signed 64-bit integer as Redis does: no plus sign, no leading zeros. */
  public long number(int index) {
    return number(words.get(index));
  }

  /** Parses a number; {@code otherwise} is the reply if it is malformed. */
  public long number(int index, String otherwise) {
    try {
      return number(index);
    } catch (Rejected e) {
      throw new Rejected(otherwise);
    }
  }

  public static long number(byte[] word) {
    int at = 0;
    boolean isNegative = word.length > 1 && word[0] == '-';
    if (isNegative) {
      at++;
    }
    if (word.length == at || word.length > 20 || (word[at] == '0' && word.length > 1)) {
      throw new Rejected(NOT_AN_INTEGER);
    }
    long value = 0; // negated, since the negative range is larger
    for (; at < word.length; at++) {
      int digit = word[at] - '0';
      if (digit < 0 || digit > 9 || value < Long.MIN_VALUE / 10) {
        throw new Rejected(NOT_AN_INTEGER);
      }
      value = value * 10 - digit;
      if (value > 0) {
        throw new Rejected(NOT_AN_INTEGER);
      }
    }
    if (!isNegative && value == Long.MIN_VALUE) {
      throw new Rejected(NOT_AN_INTEGER);
    }
    return isNegative ? value : -value;
  }
}
