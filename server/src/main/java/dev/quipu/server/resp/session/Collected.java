package dev.quipu.server.resp.session;

import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.wire.Reply;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A reply of many items, encoded while it is collected and limited by the memory of its connection:
 * a reply that becomes too large turns into an error early.
 */
public final class Collected {
  private static final int UNCOUNTED_BYTES = 4 << 10;

  private final ConnectionMemory memory;
  private final int protocol;
  private final ByteBuf bytes = Unpooled.buffer(256);
  private int takenBytes = UNCOUNTED_BYTES;
  private int items;

  public Collected(Arguments words) {
    this(words.memory(), words.protocol());
  }

  public Collected(ConnectionMemory memory, int protocol) {
    this.memory = memory;
    this.protocol = protocol;
  }

  /** Returns an array with an item for each word from an index on. */
  public static Reply arrayOf(Arguments words, int from, IntFunction<Reply> item) {
    Collected all = new Collected(words);
    for (int i = from; i < words.size(); i++) {
      all.add(item.apply(i));
    }
    return all.array();
  }

  /**
   * Adds an item.
   *
   * @throws Rejected if there is not enough memory
   */
  public Collected add(Reply item) {
    String why = rejection(item);
    if (why != null) {
      throw new Rejected(why);
    }
    return this;
  }

  /** Adds the reply of an executed command; an error if there is not enough memory. */
  public void addDone(Reply item) {
    String why = rejection(item);
    if (why != null) {
      new Reply.Failure(why + " The command was executed").write(bytes, protocol);
      items++;
    }
  }

  /**
   * Appends text.
   *
   * @throws Rejected if there is not enough memory
   */
  public void addText(String part) {
    int before = bytes.writerIndex();
    bytes.writeCharSequence(part, StandardCharsets.UTF_8);
    String why = rejection(before);
    if (why != null) {
      throw new Rejected(why);
    }
  }

  private @Nullable String rejection(Reply item) {
    int before = bytes.writerIndex();
    item.write(bytes, protocol);
    String why = rejection(before);
    items += why == null ? 1 : 0;
    return why;
  }

  private @Nullable String rejection(int before) {
    if (bytes.writerIndex() > takenBytes) {
      int more = Math.max(bytes.writerIndex() - takenBytes, takenBytes); // as the buffer grows
      switch (memory.collect(more)) {
        case TAKEN -> takenBytes += more;
        case OVER_CONNECTION -> {
          bytes.writerIndex(before);
          return "ERR reply is larger than %d bytes. Request less data per command."
              .formatted(memory.replyBytesMax());
        }
        case OVER_BUDGET -> {
          bytes.writerIndex(before);
          return Session.OUT_OF_MEMORY.formatted("reply");
        }
      }
    }
    return null;
  }

  /** Returns an array of the items. */
  public Reply array() {
    return new Reply.Encoded('*', items, bytes);
  }

  /** Returns the text. */
  public Reply text() {
    byte[] text = new byte[bytes.readableBytes()];
    bytes.getBytes(bytes.readerIndex(), text);
    return new Reply.Verbatim(text);
  }

  /** Returns the items as alternating keys and values. */
  public Reply pairs() {
    return protocol == 3 ? new Reply.Encoded('%', items / 2, bytes) : array();
  }
}
