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
 * The words of a command, from its name on.
 *
 * @param memory of the connection that it came by
 * @param protocol that was spoken when it came: 2 or 3
 */
public record Arguments(List<byte[]> words, ConnectionMemory memory, int protocol) {
  static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";
  public static final String SYNTAX = "ERR syntax error";

  /** A command cannot be done; the message is the answer. */
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

  /** A word for people to read: what is no UTF-8 is replaced. */
  public String text(int index) {
    return new String(words.get(index), StandardCharsets.UTF_8);
  }

  /** A word that is one of several, in capitals. */
  public String word(int index) {
    return new String(words.get(index), StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
  }

  /** Returns what the words hold, in bytes. */
  public long heldBytes() {
    long bytes = 0;
    for (byte[] word : words) {
      bytes += word.length + RespParser.ARGUMENT_OVERHEAD_BYTES;
    }
    return bytes;
  }

  /** The name of a counter; Redis allows an empty key, which is kept under a name of its own. */
  public String key(int index) {
    return words.get(index).length == 0 ? Family.EMPTY_KEY : name(index, "key");
  }

  /** The name of a counter that other ports can use as well, and so is not empty. */
  public String sharedKey(int index) {
    return name(index, "key");
  }

  /** The same as {@link #key}, if it is a name at all. */
  public String anyKey(int index) {
    return words.get(index).length == 0 ? Family.EMPTY_KEY : text(index);
  }

  /** The name of a counter within a family; an empty one is kept under a name of its own. */
  public String field(int index) {
    return words.get(index).length == 0 ? Family.EMPTY_FIELD : name(index, "field");
  }

  private String name(int index, String what) {
    String text;
    try {
      text =
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(words.get(index))).toString();
    } catch (CharacterCodingException e) {
      throw new Rejected("ERR the %s is not UTF-8, as names of counters are".formatted(what));
    }
    try {
      return Limits.checkText(what, text, Limits.NAME_BYTES_MAX);
    } catch (IllegalArgumentException e) {
      throw new Rejected("ERR " + e.getMessage());
    }
  }

  /** A signed 64-bit integer, written as Redis reads it: no sign but minus, no zeros ahead. */
  public long number(int index) {
    return number(words.get(index));
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
    long value = 0; // kept negative, for there is one more of these
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
