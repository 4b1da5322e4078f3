package dev.quipu.server.protocol;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.Connections;
import dev.quipu.server.net.DirectMemory;
import dev.quipu.server.net.Listener;
import dev.quipu.server.net.Loops;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.PortMeter;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A port that serves the counters of an engine over a command protocol. */
public final class CommandPort implements AutoCloseable {
  /** Memory of an idle connection; see {@link ConnectionMemory#FREE_BYTES}. */
  static final int CONNECTION_BYTES = (4 << 10) + ConnectionMemory.FREE_BYTES;

  /** Maximum size of one reply, and of all replies of a transaction. */
  static final int REPLY_BYTES_MAX = 16 << 20;

  private final PortOptions options;
  private final Engine engine;
  private final CommandDecoder.Factory decoders;
  private final EventLoopGroup loops;
  private final Map<EventExecutor, LoopCommits> commits = new ConcurrentHashMap<>();
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;
  private volatile boolean isClosing;

  /**
   * Starts a port.
   *
   * @param decoders creates the decoder of each connection
   * @throws IOException if the address cannot be bound
   */
  public CommandPort(PortOptions options, Engine engine, CommandDecoder.Factory decoders)
      throws IOException {
    this.options = options;
    this.engine = engine;
    this.decoders = decoders;
    // Loops block on disk writes: few loops make large commit groups.
    int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    this.loops = options.transport().loops(threads);
    try {
      this.listener =
          Listener.listen(loops, options.transport(), options.bind(), options.port(), this::accept);
    } catch (IOException e) {
      loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      throw e;
    }
    options.memory().connections().accepts(listener);
    loops.terminationFuture().addListener(ended -> checkEnd());
  }

  /** Stops the engine if a loop ends before the port closes: its clients would wait forever. */
  private void checkEnd() {
    if (!isClosing) {
      engine.stop(new IllegalStateException("an event loop of the port has ended"));
    }
  }

  /** Returns the local address. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** Returns whether new connections are accepted. */
  public boolean isListening() {
    return listener.isActive();
  }

  /** Returns why the port cannot serve, waiting up to {@code patience}; empty if it can. */
  public Optional<String> impediment(Duration patience) {
    return listener.isActive()
        ? Loops.impediment(loops, patience)
        : Optional.of("the listener is closed");
  }

  /** Formats an address as host and port. */
  public static String text(InetSocketAddress address) {
    boolean isAny = address.getAddress().isAnyLocalAddress(); // a dual-stack socket reports IPv6
    String host = isAny ? "0.0.0.0" : address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  private void accept(SocketChannel channel) {
    try {
      take(channel);
    } catch (VirtualMachineError e) {
      if (!DirectMemory.isExhausted(e)) {
        engine.stop(e);
      }
      throw e;
    }
  }

  private void take(SocketChannel channel) {
    MemoryBudget budget = options.memory();
    int bytes = options.tls().isPresent() ? Connections.TLS_CONNECTION_BYTES : CONNECTION_BYTES;
    boolean isFull = connections.size() >= options.connectionsMax();
    Optional<Connections.Place> place = budget.connections().enter(this, channel, bytes, isFull);
    if (place.isEmpty()) {
      channel.close();
      return;
    }
    connections.add(channel);
    budget.receive().limit(channel);
    PortMeter meter = options.meter();
    meter.opened();
    channel.closeFuture().addListener(closed -> meter.closed());
    LoopCommits ofLoop =
        commits.computeIfAbsent(
            channel.eventLoop(),
            loop ->
                new LoopCommits(
                    loop,
                    task -> loop.schedule(task, 1, TimeUnit.NANOSECONDS),
                    engine::run,
                    engine::stop));
    InetSocketAddress remote = channel.remoteAddress();
    ConnectionMemory memory = new ConnectionMemory(budget, REPLY_BYTES_MAX);
    CommandDecoder decoder = decoders.create(remote == null ? "?" : text(remote), memory);
    if (options.tls().isPresent()) {
      channel.pipeline().addLast(options.tls().get().newHandler(channel.alloc()));
    }
    channel
        .pipeline()
        .addLast(new CommandConnection(decoder, ofLoop, memory, place.get(), meter, engine::stop));
  }

  /** Stops accepting and closes all connections. */
  @Override
  public void close() {
    isClosing = true;
    listener.close().awaitUninterruptibly();
    connections.close().awaitUninterruptibly();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
