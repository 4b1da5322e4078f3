package dev.quipu.server.protocol;

import io.netty.buffer.ByteBuf;

/** Decodes the commands of one connection in a protocol. Lives on the connection's event loop. */
public interface CommandDecoder {
  /** Creates the decoder of each connection. */
  interface Factory {
    /**
     * Creates the decoder of one connection.
     *
     * @param remote address of the client
     * @param memory that what the client makes the connection keep is taken from
     */
    CommandDecoder create(String remote, ConnectionMemory memory);
  }

  /**
   * Decodes the next command, and adds it to a batch.
   *
   * @return whether one was complete; false leaves the rest until more has come
   */
  boolean decode(ByteBuf in, Batch batch);

  /** Returns whether no more is read: the connection ends when all is answered. */
  boolean isEnding();

  /** Returns whether a command has begun and is incomplete. */
  boolean hasPartialCommand();

  /** Returns the bytes that an incomplete command holds. */
  long heldBytes();

  /** Returns the bytes that are kept for reuse alone. */
  long keptBytes();

  /** Notes that a batch was answered: nothing of it is used from now on. */
  void answered();

  /** Releases what is kept for reuse alone; no batch is under way. */
  void trim();

  /** Adds the reply that there is no memory for what is being read; the connection ends with it. */
  void outOfMemory(Batch batch);

  /** Notes that the connection has ended; commands may clean up in a batch that is not answered. */
  void closed(Batch last);
}
