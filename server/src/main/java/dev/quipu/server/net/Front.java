package dev.quipu.server.net;

import io.netty.buffer.ByteBuf;

/** A protocol, on one connection: takes commands apart. Lives on the connection's event loop. */
public interface Front {
  /** Creates the protocol of a connection. */
  interface Maker {
    /**
     * Creates the protocol of one connection.
     *
     * @param remote address of the client
     * @param memory that what the client makes the connection keep is taken from
     */
    Front make(String remote, ConnectionMemory memory);
  }

  /**
   * Takes the next command out of what has come, and adds it to a batch.
   *
   * @return whether there was a whole one; false leaves the rest for when more has come
   */
  boolean next(ByteBuf in, Batch batch);

  /** Whether no more is read: the connection ends when all is answered. */
  boolean isEnding();

  /** Whether a command has begun, and is not whole yet. */
  boolean isWithin();

  /** Returns the bytes that a command holds which is not whole yet. */
  long heldBytes();

  /** Returns the bytes that are only kept to be quick. */
  long keptBytes();

  /** A batch was answered: nothing of it is used from now on. */
  void answered();

  /** Forgets what is only kept to be quick; no batch is under way. */
  void trim();

  /**
   * Adds the answer that there is no memory for what is being read; the connection ends with it.
   */
  void outOfMemory(Batch batch);

  /** The connection has ended; the batch, which nobody reads the answers of, may tidy up. */
  void closed(Batch last);
}
