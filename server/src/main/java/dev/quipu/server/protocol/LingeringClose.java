package dev.quipu.server.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/*
 * Closing a socket with unread input resets it, and the client loses the reply that states the
 * reason. So the server first shuts down its output and keeps reading for a short time.
 */

/** Closes a connection so that the client can read its last reply. Confined to its event loop. */
final class LingeringClose {
  private static final int WRITE_SECONDS_MAX = 30;
  private static final int READ_SECONDS_MAX = 2;

  /**
   * Input that is discarded before the connection closes, in bytes: a client that only sends would
   * keep the loop busy with reading.
   */
  private static final int DISCARDED_BYTES_MAX = 256 << 10;

  private final ChannelHandlerContext context;
  private boolean isWritten;
  private int discarded;

  private LingeringClose(ChannelHandlerContext context) {
    this.context = context;
  }

  /** Writes the last reply and closes the connection. */
  static LingeringClose end(ChannelHandlerContext context, ByteBuf last) {
    LingeringClose linger = new LingeringClose(context);
    linger.closeIn(WRITE_SECONDS_MAX);
    context.writeAndFlush(last).addListener(linger::written);
    return linger;
  }

  /** Returns whether input is read, in order to be discarded: not before the reply is written. */
  boolean isReading() {
    return isWritten;
  }

  /** Notes that input was discarded. */
  void discarded(int bytes) {
    discarded += bytes;
    if (discarded > DISCARDED_BYTES_MAX) {
      context.close();
    }
  }

  /** Notes that the client has shut down its output. */
  void inputEnded() {
    if (isWritten) {
      context.close();
    }
  }

  private void written(Future<?> future) {
    isWritten = true;
    Channel channel = context.channel();
    boolean sendsMore = !(channel instanceof SocketChannel socket) || !socket.isInputShutdown();
    if (!sendsMore || !future.isSuccess() || !channel.isActive()) {
      context.close();
      return;
    }
    closeIn(READ_SECONDS_MAX);
    channel.config().setAutoRead(true);
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    if (tls == null) {
      shutdown();
    } else {
      tls.closeOutbound().addListener(done -> shutdown());
    }
  }

  private void shutdown() {
    if (context.channel() instanceof SocketChannel socket) {
      socket
          .shutdownOutput()
          .addListener(done -> {
            if (!done.isSuccess()) {
              context.close();
            }
          });
    }
  }

  private void closeIn(int seconds) {
    Future<?> closing =
        context.executor().schedule(() -> context.close(), seconds, TimeUnit.SECONDS);
    context.channel().closeFuture().addListener(closed -> closing.cancel(false));
  }
}
