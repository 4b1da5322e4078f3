package dev.quipu.simulation.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A wire protocol, as far as the proxy must understand it: where messages end, and what they do.
 */
public interface Protocol {
  /** The state of one connection. */
  Session open();

  /** One connection, on which requests and replies take turns. Not thread-safe. */
  interface Session {
    /** The next whole request; null if the client is done. */
    @Nullable Request read(InputStream client) throws IOException;

    /** The whole reply to a request; empty if it says goodbye, and the connection ends. */
    byte[] reply(Request request, InputStream store) throws IOException;

    /** Whether a reply tells that a write was applied. */
    boolean isApplied(Request request, byte[] reply);

    /** How this store reports a fault to a client; empty if it has no such message. */
    Optional<byte[]> error(WireFault fault);

    /** Whether the store closes the connection after it. */
    default boolean endsAfter(WireFault fault) {
      return false;
    }

    /** Tells the store that what the client began will not go on. */
    default void abandon(OutputStream toStore, InputStream fromStore) throws IOException {
      // where each request stands for itself, there is nothing to give up
    }
  }

  /** One request. */
  final class Request {
    private final byte[] bytes;
    private final byte[] written;
    private final Kind kind;

    /**
     * One request.
     *
     * @param bytes as the client sent it
     * @param written all that it makes durable: itself, or the transaction that it commits
     * @param kind what it does
     */
    public Request(byte[] bytes, byte[] written, Kind kind) {
      this.bytes = bytes;
      this.written = written;
      this.kind = kind;
    }

    /** As the client sent it; not to be changed. */
    public byte[] bytes() {
      return bytes;
    }

    /** All that it makes durable; not to be changed. */
    public byte[] written() {
      return written;
    }

    /** What it does. */
    public Kind kind() {
      return kind;
    }
  }

  /** What a request does. */
  enum Kind {
    /** It reads. */
    READ,
    /** It may change what is stored, at once. */
    WRITE,
    /** Greetings, and parts of a transaction. */
    OTHER
  }
}
