package dev.quipu.server.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Binds listening sockets. */
public final class Listener {
  private static final int BACKLOG = 1_024;
  private static final String IN_USE = "Address already in use";
  private static final Pattern ERROR = Pattern.compile("error\\(-(\\d+)\\)");

  /** The messages of EINVAL, EBADF, ENOTSOCK and EOPNOTSUPP, after which no accept succeeds. */
  private static final Pattern NOT_LISTENING =
      Pattern.compile(
          "Invalid argument|Bad file descriptor|Socket operation on non-socket|Operation not supported");

  /**
   * Send buffer of a connection; the operating system uses twice as much. Its default grows to 4
   * MiB for a client that does not read, and many of these make the kernel drop packets of all
   * others.
   */
  private static final int SEND_BUFFER_BYTES = 128 << 10;

  private Listener() {}

  /**
   * Binds a listening socket.
   *
   * @param transport the transport of the loops
   * @param port 0 picks a free one
   * @param accept initializes each connection
   * @throws IOException if the address cannot be bound
   */
  public static Channel listen(
      EventLoopGroup loops,
      Transport transport,
      String bind,
      int port,
      Consumer<SocketChannel> accept)
      throws IOException {
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops)
            .channel(transport.channel())
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.SO_SNDBUF, SEND_BUFFER_BYTES)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    accept.accept(channel);
                  }
                });
    ChannelFuture bound = bootstrap.bind(new InetSocketAddress(bind, port)).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(
          "cannot listen on %s port %d: %s".formatted(bind, port, reason(bound.cause())),
          bound.cause());
    }
    bound.channel().pipeline().addLast(new AcceptErrors()); // after the acceptor
    return bound.channel();
  }

  /**
   * Checks that a port can be bound, before anything is written for a server that could not listen.
   *
   * @param port 0 for any, which always can
   * @throws IOException if it cannot be bound
   */
  public static void requireFree(String bind, int port) throws IOException {
    if (port == 0) {
      return;
    }
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(new InetSocketAddress(bind, port));
    } catch (IOException e) {
      throw new IOException("cannot listen on %s port %d: %s".formatted(bind, port, reason(e)), e);
    }
  }

  /** Describes an error; native transports report only its number. */
  private static String reason(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    Matcher number = ERROR.matcher(message);
    String reason =
        switch (number.find() ? number.group(1) : "") {
          case "98" -> IN_USE;
          case "99" -> "Cannot assign requested address";
          case "13" -> "Permission denied";
          default -> message;
        };
    return reason.equals(IN_USE) ? IN_USE + "; use another port (0 for any free port)" : reason;
  }

  /**
   * Logs accept failures, such as exhausted file descriptors; Netty retries each second. If the
   * socket no longer listens, no retry can succeed: then the channel is closed, which the readiness
   * of the server shows.
   */
  static final class AcceptErrors extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (NOT_LISTENING.matcher(String.valueOf(cause.getMessage())).find()) {
        Incidents.inConnection("Port no longer listens; restart the server", cause);
        context.close();
      } else {
        Incidents.inConnection("Cannot accept a connection", cause);
      }
    }
  }
}
