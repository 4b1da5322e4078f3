package dev.quipu.server.net;

import io.netty.buffer.ByteBuf;

/** A protocol, on one connection: takes commands apart. Lives on the connection's event loop. */
public interface Front {
  /**
   * Takes the next command out of what has come, and adds it to a batch.
   *
   * @return whether there was a whole one; false leaves the rest for when more has come
   */
  boolean next(ByteBuf in, Batch batch);

  /** Whether no more is read: the connection ends when all is answered. */
  boolean isEnding();

  /** The connection has ended; the batch, which nobody reads the answers of, may tidy up. */
  void closed(Batch last);
}
