package dev.quipu.server.resp.wire;

import dev.quipu.server.protocol.Digits;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A reply, in RESP2 and RESP3. */
public sealed interface Reply {
  /** A simple string. */
  record Simple(String text) implements Reply {}

  /** An error: a code in upper case and a message. */
  record Failure(String text) implements Reply {}

  /** An integer. */
  record Number(long value) implements Reply {}

  /** A score: a double in RESP3, a bulk string in RESP2. */
  record Score(long value) implements Reply {}

  /** A bulk string. */
  final class Bulk implements Reply {
    private final byte[] bytes;

    /** Wraps bytes that must not change. */
    public Bulk(byte[] bytes) {
      this.bytes = bytes;
    }

    public int length() {
      return bytes.length;
    }
  }

  /**
   * An aggregate of encoded items.
   *
   * @param kind type of the aggregate
   * @param count number in its header
   */
  record Encoded(char kind, int count, ByteBuf items) implements Reply {}

  /** A verbatim string; in RESP2 a bulk string. */
  final class Verbatim implements Reply {
    private final byte[] text;

    public Verbatim(byte[] text) {
      this.text = text;
    }

    public Verbatim(String text) {
      this(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** A null; RESP2 distinguishes null arrays. */
  record Null(boolean ofArray) implements Reply {}

  /** An array. */
  record Several(List<Reply> items) implements Reply {}

  /** A map of alternating keys and values; in RESP2 a flat array. */
  record Pairs(List<Reply> items) implements Reply {}

  /** A set; in RESP2 an array. */
  record Distinct(List<Reply> items) implements Reply {}

  /** Returns a text as a bulk string. */
  static Reply bulk(String text) {
    return new Bulk(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns 1 or 0. */
  static Reply of(boolean yes) {
    return new Number(yes ? 1 : 0);
  }

  /** Writes the reply in a protocol version: 2 or 3. */
  default void write(ByteBuf out, int protocol) {
    switch (this) {
      case Simple simple -> line(out, '+', simple.text);
      case Failure failure -> line(out, '-', failure.text);
      case Number number -> RespParser.number(out, ':', number.value);
      case Score score -> {
        if (protocol == 3) {
          RespParser.number(out, ',', score.value);
        } else {
          RespParser.number(out, '$', Digits.count(score.value));
          Digits.line(out, score.value);
        }
      }
      case Bulk bulk -> {
        RespParser.number(out, '$', bulk.bytes.length);
        out.writeBytes(bulk.bytes).writeShort(RespParser.CRLF);
      }
      case Verbatim verbatim -> {
        byte[] bytes = verbatim.text;
        boolean isNew = protocol == 3;
        RespParser.number(out, isNew ? '=' : '$', bytes.length + (isNew ? 4 : 0));
        if (isNew) {
          out.writeBytes(new byte[] {'t', 'x', 't', ':'});
        }
        out.writeBytes(bytes).writeShort(RespParser.CRLF);
      }
      case Encoded encoded -> {
        RespParser.number(out, encoded.kind, encoded.count);
        out.writeBytes(encoded.items, encoded.items.readerIndex(), encoded.items.readableBytes());
      }
      case Null nothing ->
          line(out, protocol == 3 ? '_' : nothing.ofArray ? '*' : '$', protocol == 3 ? "" : "-1");
      case Several several -> items(out, '*', several.items.size(), several.items, protocol);
      case Distinct set ->
          items(out, protocol == 3 ? '~' : '*', set.items.size(), set.items, protocol);
      case Pairs pairs ->
          items(
              out,
              protocol == 3 ? '%' : '*',
              protocol == 3 ? pairs.items.size() / 2 : pairs.items.size(),
              pairs.items,
              protocol);
    }
  }

  private static void items(
      ByteBuf out, char kind, int count, List<? extends Reply> items, int protocol) {
    RespParser.number(out, kind, count);
    for (Reply item : items) {
      item.write(out, protocol);
    }
  }

  private static void line(ByteBuf out, char kind, String text) {
    out.writeByte(kind);
    out.writeCharSequence(text.replace('\r', ' ').replace('\n', ' '), StandardCharsets.UTF_8);
    out.writeShort(RespParser.CRLF);
  }
}
