package dev.quipu.server.http;

import dev.quipu.server.net.Listed;
import dev.quipu.server.net.Listener;
import dev.quipu.server.net.Transport;
import dev.quipu.time.Clock;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Serves counters, views and presence over HTTP. */
public final class HttpServer implements AutoCloseable {
  private static final Duration LOOK = Duration.ofMillis(5);

  private final HttpOptions options;
  private final Optional<SslContext> tls;
  private final Clock clock;
  private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<Channel, Connection> connections = new ConcurrentHashMap<>();
  private final Metrics metrics = new Metrics();
  private final Routes routes;
  private final Dispatcher dispatcher;
  private final Channel listener;

  private HttpServer(HttpOptions options, Optional<SslContext> tls, Services services, Clock clock)
      throws IOException {
    this.options = options;
    this.tls = tls;
    this.clock = clock;
    this.routes = new Routes(services, metrics, clock);
    this.dispatcher = new Dispatcher(routes, options.token(), options.origins());
    this.listener = listen();
  }

  /**
   * Starts to serve.
   *
   * @throws IOException if the address cannot be bound
   */
  public static HttpServer start(HttpOptions options, Services services, Clock clock)
      throws IOException {
    return start(options, Optional.empty(), services, clock);
  }

  /**
   * The same, encrypted.
   *
   * @throws IOException if the address cannot be bound
   */
  public static HttpServer start(
      HttpOptions options, Optional<SslContext> tls, Services services, Clock clock)
      throws IOException {
    return new HttpServer(options, tls, services, clock);
  }

  /** All routes. */
  public static List<Listed> commands() {
    return OpenApi.routes();
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  Routes routes() {
    return routes;
  }

  private Channel listen() throws IOException {
    try {
      return Listener.listen(loops, Transport.NIO, options.bind(), options.port(), this::accept);
    } catch (IOException e) {
      loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      executor.shutdown();
      throw e;
    }
  }

  private void accept(SocketChannel channel) {
    if (metrics.connections().incrementAndGet() > options.connectionsMax()) {
      metrics.connections().decrementAndGet();
      channel.close();
      return;
    }
    Connection connection = new Connection(options, dispatcher, executor, metrics, clock);
    connections.put(channel, connection);
    channel
        .closeFuture()
        .addListener(closed -> {
          connections.remove(channel);
          metrics.connections().decrementAndGet();
        });
    tls.ifPresent(each -> channel.pipeline().addLast(each.newHandler(channel.alloc())));
    channel
        .pipeline()
        .addLast(new ByteWatch(connection))
        .addLast(new StrictDecoder())
        .addLast(new HttpResponseEncoder())
        .addLast(connection);
  }

  /** Stops accepting, answers the requests under way, and closes. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    connections.forEach(
        (channel, connection) -> channel.eventLoop().execute(() -> connection.finish(channel)));
    long deadline = clock.nanoTime() + options.drain().toNanos();
    try {
      while (!connections.isEmpty() && clock.nanoTime() < deadline) {
        clock.sleep(LOOK);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    executor.shutdown();
  }

  /** Tells a connection that bytes came, before they make a request. */
  private static final class ByteWatch extends ChannelInboundHandlerAdapter {
    private final Connection connection;

    ByteWatch(Connection connection) {
      this.connection = connection;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      connection.bytesCame();
      context.fireChannelRead(message);
    }
  }
}
