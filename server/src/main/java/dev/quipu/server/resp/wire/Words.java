package dev.quipu.server.resp.wire;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** Splits inline commands; double quotes allow escapes, single quotes only {@code \'}. */
final class Words {
  private final byte[] line;
  private final int length;
  private int at;

  private Words(byte[] line, int length) {
    this.line = line;
    this.length = length;
  }

  /**
   * Splits a line.
   *
   * @throws RespParser.ProtocolException if quotes are unbalanced
   */
  static List<byte[]> of(byte[] line, int length) throws RespParser.ProtocolException {
    return new Words(line, length).all();
  }

  private List<byte[]> all() throws RespParser.ProtocolException {
    List<byte[]> words = new ArrayList<>();
    while (true) {
      while (at < length && isSpace(line[at])) {
        at++;
      }
      if (at == length) {
        return words;
      }
      if (words.size() == RespParser.ARGUMENTS_MAX) {
        throw new RespParser.ProtocolException(
            "command has more than %d arguments. Send several commands"
                .formatted(RespParser.ARGUMENTS_MAX));
      }
      words.add(word());
    }
  }

  private byte[] word() throws RespParser.ProtocolException {
    ByteArrayOutputStream word = new ByteArrayOutputStream();
    while (at < length && !isSpace(line[at])) {
      byte each = line[at++];
      if (each == '"' || each == '\'') {
        quoted(each, word);
        if (at < length && !isSpace(line[at])) {
          throw unbalanced();
        }
        return word.toByteArray();
      }
      word.write(each);
    }
    return word.toByteArray();
  }

  private void quoted(byte quote, ByteArrayOutputStream word) throws RespParser.ProtocolException {
    while (at < length) {
      byte each = line[at++];
      if (each == quote) {
        return;
      }
      if (each == '\\' && at < length) {
        escaped(quote, word);
      } else {
        word.write(each);
      }
    }
    throw unbalanced();
  }

  private void escaped(byte quote, ByteArrayOutputStream word) {
    byte next = line[at++];
    if (quote == '\'') {
      if (next != '\'') {
        word.write('\\');
      }
      word.write(next);
      return;
    }
    int high = at + 1 < length ? Character.digit(line[at], 16) : -1;
    int low = at + 1 < length ? Character.digit(line[at + 1], 16) : -1;
    if (next == 'x' && high >= 0 && low >= 0) {
      word.write(high << 4 | low);
      at += 2;
      return;
    }
    word.write(
        switch (next) {
          case 'n' -> '\n';
          case 'r' -> '\r';
          case 't' -> '\t';
          case 'b' -> '\b';
          case 'a' -> 7;
          default -> next;
        });
  }

  private static RespParser.ProtocolException unbalanced() {
    return new RespParser.ProtocolException("unbalanced quotes in request");
  }

  private static boolean isSpace(byte each) {
    return each == ' ' || (each >= '\t' && each <= '\r') || each == 0;
  }
}
