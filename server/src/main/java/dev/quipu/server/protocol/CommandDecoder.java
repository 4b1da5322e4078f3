package dev.quipu.server.protocol;

import io.netty.buffer.ByteBuf;

/** Decodes the commands of one connection. Confined to the event loop of the connection. */
public interface CommandDecoder {
  /** Creates the decoder of each connection. */
  interface Factory {
    /**
     * Creates the decoder of one connection.
     *
     * @param remote address of the client
     * @param memory accounts for everything that the client makes the connection keep
     */
    CommandDecoder create(String remote, ConnectionMemory memory);
  }

  /**
   * Decodes the next command and adds it to a batch.
   *
   * @return whether a command was complete; if not, the rest is left until more bytes arrive
   */
  boolean decode(ByteBuf in, Batch batch);

  /** Returns whether the last reply of the buffer, which begins at this place, is an error. */
  boolean isError(ByteBuf replies, int at);

  /** Returns whether reading has stopped; the connection closes once everything is answered. */
  boolean isEnding();

  /** Returns whether a command is incomplete. */
  boolean hasPartialCommand();

  /** Returns the memory held by an incomplete command, in bytes. */
  long heldBytes();

  /** Returns the memory kept for reuse, in bytes. */
  long keptBytes();

  /** Notes that a batch was answered: its objects may be reused. */
  void answered();

  /** Releases the memory kept for reuse; no batch is in flight. */
  void trim();

  /** Adds an out-of-memory reply for the command being read; the connection closes after it. */
  void outOfMemory(Batch batch);

  /** Notes that the connection has closed; cleanup commands may be added to an unanswered batch. */
  void closed(Batch last);
}
