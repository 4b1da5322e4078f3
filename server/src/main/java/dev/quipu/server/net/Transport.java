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
import io.netty.channel.uring.IoUringServerSocketChannel;

/** How bytes come and go: the quickest way that this system has. */
public enum Transport {
  /** Linux since 5.9, where it is not forbidden. */
  IO_URING,
  /** Linux. */
  EPOLL,
  /** Everywhere. */
  NIO;

  /** The quickest that works here. */
  public static Transport best() {
    return IO_URING.isAvailable() ? IO_URING : EPOLL.isAvailable() ? EPOLL : NIO;
  }

  /** Whether it works here. */
  public boolean isAvailable() {
    return switch (this) {
      case IO_URING -> IoUring.isAvailable();
      case EPOLL -> Epoll.isAvailable();
      case NIO -> true;
    };
  }

  /** Event loops, as many as {@code threads}. */
  public MultiThreadIoEventLoopGroup loops(int threads) {
    IoHandlerFactory factory =
        switch (this) {
          case IO_URING -> IoUringIoHandler.newFactory();
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
