package dev.quipu.server.net;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringIoHandlerConfig;
import io.netty.channel.uring.IoUringServerSocketChannel;

/** The network transports, fastest first. */
public enum Transport {
  /** Linux 5.9 or later, unless disabled. */
  IO_URING,
  /** Linux. */
  EPOLL,
  /** Every platform. */
  NIO;

  /**
   * Size of the completion queue of a loop. Beyond it, the kernel keeps completions elsewhere and
   * Netty logs each time; with its default of 4,096, a thousand busy connections fill the log. Each
   * place costs 64 bytes of heap.
   */
  private static final int COMPLETIONS = 16 << 10;

  /** Returns the fastest transport available. */
  public static Transport best() {
    return IO_URING.isAvailable() ? IO_URING : EPOLL.isAvailable() ? EPOLL : NIO;
  }

  /** Returns whether this platform supports the transport. */
  public boolean isAvailable() {
    return switch (this) {
      case IO_URING -> IoUring.isAvailable();
      case EPOLL -> Epoll.isAvailable();
      case NIO -> true;
    };
  }

  /** Creates an event loop group with this number of threads. */
  public MultiThreadIoEventLoopGroup loops(int threads) {
    IoHandlerFactory factory =
        switch (this) {
          case IO_URING ->
              IoUringIoHandler.newFactory(new IoUringIoHandlerConfig().setCqSize(COMPLETIONS));
          case EPOLL -> EpollIoHandler.newFactory();
          case NIO -> NioIoHandler.newFactory();
        };
    return new MultiThreadIoEventLoopGroup(threads, factory);
  }

  Class<? extends ServerChannel> channel() {
    return switch (this) {
      case IO_URING -> IoUringServerSocketChannel.class;
      case EPOLL -> EpollServerSocketChannel.class;
      case NIO -> NioServerSocketChannel.class;
    };
  }
}
