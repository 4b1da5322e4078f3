package dev.quipu.simulation.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A wire protocol, as far as the proxy must decode it: message boundaries and kinds of requests.
 */
public interface Protocol {
  /** Opens the state of one connection. */
  Session open();

  /** One connection, on which requests and replies alternate. Not thread-safe. */
  interface Session {
    /** Reads the next whole request; null if the client is done. */
    @Nullable Request read(InputStream client) throws IOException;

    /**
     * Reads the whole reply to a request; empty if the request ends the session and the connection.
     */
    byte[] reply(Request request, InputStream store) throws IOException;

    /** Returns whether a reply reports that a write was applied. */
    boolean isApplied(Request request, byte[] reply);

    /** Returns the store's error message for a fault; empty if it has none. */
    Optional<byte[]> error(WireFault fault);

    /** Returns whether the store closes the connection after a fault. */
    default boolean endsAfter(WireFault fault) {
      return false;
    }

    /** Aborts at the store what the client began. */
    default void abandon(OutputStream toStore, InputStream fromStore) throws IOException {
      // nothing to abort where requests are independent
    }
  }

  /** A request of a client. */
  final class Request {
    private final byte[] bytes;
    private final byte[] written;
    private final Kind kind;

    /**
     * Creates a request.
     *
     * @param bytes the bytes that the client sent
     * @param written the bytes that it makes durable: its own, or those of the transaction that it
     *     commits; for a read, bytes that are equal for equal reads, so without ids of requests
     * @param kind the kind of request
     */
    public Request(byte[] bytes, byte[] written, Kind kind) {
      this.bytes = bytes;
      this.written = written;
      this.kind = kind;
    }

    /** Returns the bytes that the client sent; must not be modified. */
    public byte[] bytes() {
      return bytes;
    }

    /** Returns the bytes that it makes durable; must not be modified. */
    public byte[] written() {
      return written;
    }

    /** Returns the kind of request. */
    public Kind kind() {
      return kind;
    }
  }

  /** Kinds of requests. */
  enum Kind {
    /** A read. */
    READ,
    /** A request that may change stored data immediately. */
    WRITE,
    /** Handshakes, and parts of a transaction. */
    OTHER
  }
}
