package dev.quipu.bench.ports.load;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** A connection of a load generator. */
final class LoadConnection implements AutoCloseable {
  private final SocketChannel socket;
  private final SelectionKey key;
  private final ReplyScanner replies;

  LoadConnection(Selector selector, int port, Dialect dialect) throws IOException {
    socket = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    socket.configureBlocking(false);
    replies = new ReplyScanner(dialect);
    key = socket.register(selector, SelectionKey.OP_READ);
  }

  /** Sets the attachment of the selection key. */
  void attach(Object user) {
    key.attach(user);
  }

  boolean isWritable() {
    return key.isWritable();
  }

  boolean isReadable() {
    return key.isReadable();
  }

  /** Writes what the socket accepts; the selector reports when the rest can be written. */
  void write(ByteBuffer out) throws IOException {
    socket.write(out);
    int wanted =
        out.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
    if (key.interestOps() != wanted) {
      key.interestOps(wanted);
    }
  }

  /** Reads the available bytes; returns the number of completed replies. */
  int read(ByteBuffer in) throws IOException {
    in.clear();
    if (socket.read(in) < 0) {
      throw new EOFException("the server closed the connection");
    }
    return replies.scan(in.flip());
  }

  long applied() {
    return replies.applied();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
