package dev.quipu.server.resp;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.Listener;
import dev.quipu.time.Clock;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Serves the counters of an engine over the Redis protocol. */
public final class RespServer implements AutoCloseable {
  /** Where it listens unless told otherwise. */
  public static final int PORT = 7379;

  private static final int HALF_COMMAND_SECONDS = 30;

  private final Hub hub;
  private final int connectionsMax;
  private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
  private final Map<EventExecutor, LoopCommits> commits = new ConcurrentHashMap<>();
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;

  private RespServer(Hub hub, String bind, int port, int connectionsMax) throws IOException {
    this.hub = hub;
    this.connectionsMax = connectionsMax;
    try {
      this.listener = Listener.listen(loops, bind, port, this::accept);
    } catch (IOException e) {
      loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      throw e;
    }
    hub.listensAt(text(address()));
  }

  /**
   * Starts to serve.
   *
   * @param token what clients must show by AUTH; empty to let everybody in
   * @param connectionsMax connections at once; more are closed as they come
   * @param version what INFO tells
   * @throws IOException if the address cannot be bound
   */
  public static RespServer start(
      Engine engine,
      String bind,
      int port,
      Optional<String> token,
      int connectionsMax,
      String version,
      Clock clock)
      throws IOException {
    return new RespServer(new Hub(engine, token, version, clock), bind, port, connectionsMax);
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  private void accept(SocketChannel channel) {
    if (connections.size() >= connectionsMax) {
      channel.close();
      return;
    }
    connections.add(channel);
    LoopCommits ofLoop =
        commits.computeIfAbsent(channel.eventLoop(), loop -> new LoopCommits(loop, hub.engine()));
    channel
        .pipeline()
        .addLast(new IdleStateHandler(HALF_COMMAND_SECONDS, 0, 0))
        .addLast(new RespConnection(hub, ofLoop));
  }

  /** Stops accepting, and closes all connections. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    connections.close().awaitUninterruptibly();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
