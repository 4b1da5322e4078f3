package dev.quipu.server.net;

import dev.quipu.engine.Engine;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Serves the counters of an engine in a protocol of commands. */
public final class CommandPort implements AutoCloseable {
  private final PortOptions options;
  private final Engine engine;
  private final Function<String, Front> fronts;
  private final EventLoopGroup loops;
  private final Map<EventExecutor, LoopCommits> commits = new ConcurrentHashMap<>();
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;

  private CommandPort(PortOptions options, Engine engine, Function<String, Front> fronts)
      throws IOException {
    this.options = options;
    this.engine = engine;
    this.fronts = fronts;
    // A loop waits for the disk itself: few loops make large groups.
    int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    this.loops = options.transport().loops(threads);
    try {
      this.listener =
          Listener.listen(loops, options.transport(), options.bind(), options.port(), this::accept);
    } catch (IOException e) {
      loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      throw e;
    }
  }

  /**
   * Starts to serve.
   *
   * @param fronts the protocol for a connection from an address
   * @throws IOException if the address cannot be bound
   */
  public static CommandPort start(
      PortOptions options, Engine engine, Function<String, Front> fronts) throws IOException {
    return new CommandPort(options, engine, fronts);
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** An address as people write it. */
  public static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  private void accept(SocketChannel channel) {
    if (connections.size() >= options.connectionsMax()) {
      channel.close();
      return;
    }
    connections.add(channel);
    LoopCommits ofLoop =
        commits.computeIfAbsent(channel.eventLoop(), loop -> new LoopCommits(loop, engine::run));
    InetSocketAddress remote = channel.remoteAddress();
    Front front = fronts.apply(remote == null ? "?" : text(remote));
    options.tls().ifPresent(tls -> channel.pipeline().addLast(tls.newHandler(channel.alloc())));
    channel.pipeline().addLast(new CommandConnection(front, ofLoop));
  }

  /** Stops accepting, and closes all connections. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    connections.close().awaitUninterruptibly();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
