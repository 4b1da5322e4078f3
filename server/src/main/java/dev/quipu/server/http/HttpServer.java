package dev.quipu.server.http;

import dev.quipu.Add;
import dev.quipu.Counters;
import dev.quipu.ItemResult;
import dev.quipu.backend.EmbeddedEngine;
import dev.quipu.server.http.message.Failures;
import dev.quipu.server.http.route.Metrics;
import dev.quipu.server.http.route.OpenApi;
import dev.quipu.server.http.route.Routes;
import dev.quipu.server.http.route.Services;
import dev.quipu.server.net.CommandHelp;
import dev.quipu.server.net.Connections;
import dev.quipu.server.net.HostProcess;
import dev.quipu.server.net.Listener;
import dev.quipu.server.net.Loops;
import dev.quipu.server.net.PortMeter;
import dev.quipu.server.net.Transport;
import dev.quipu.server.watch.WatchHub;
import dev.quipu.time.Clock;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.RecvByteBufAllocator;
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
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Serves counters, views and presence over HTTP. */
public final class HttpServer implements AutoCloseable {
  private static final Duration LOOK = Duration.ofMillis(5);
  private static final Duration LOOP_ANSWERS = Duration.ofSeconds(2);

  /** Memory of an idle connection. */
  private static final int CONNECTION_BYTES = 4 << 10;

  /** With fewer loops, more adds share a sync: see {@link LoopAdds}. */
  private static final int LOOPS = Runtime.getRuntime().availableProcessors();

  private static final int CHECKS_PER_TIMEOUT = 4;
  private static final int ARENAS = 2;
  private static final int PAGE_BYTES = 8 << 10;
  private static final int CHUNK_ORDER = 6;
  private static final RecvByteBufAllocator RECEIVE =
      new AdaptiveRecvByteBufAllocator(512, 2 << 10, Connection.RECEIVE_BYTES_MAX);

  /**
   * Allocates chunks of 512 KiB. In the larger chunks of Netty's default allocator, one unread
   * buffer would retain megabytes that no budget counts.
   */
  private static final ByteBufAllocator ALLOCATOR =
      new PooledByteBufAllocator(
          true,
          0,
          ARENAS,
          PAGE_BYTES,
          CHUNK_ORDER,
          PooledByteBufAllocator.defaultSmallCacheSize(),
          PooledByteBufAllocator.defaultNormalCacheSize(),
          false);

  private final HttpOptions options;
  private final Optional<SslContext> tls;
  private final Clock clock;

  private final Transport transport = Transport.best();
  private final EventLoopGroup loops = transport.loops(LOOPS);
  private final Workers workers;
  private final HostProcess host;
  private final Map<Channel, Connection> connections = new ConcurrentHashMap<>();
  private final Map<EventLoop, LoopAdds> loopAdds = new ConcurrentHashMap<>();
  private final Optional<Function<List<Add>, List<ItemResult>>> engine;
  private final Optional<WatchHub> watch;
  private final PortMeter meter = new PortMeter();
  private final Metrics metrics;
  private final Routes routes;
  private final Connection.Shared shared;
  private final Channel listener;

  private HttpServer(
      HttpOptions options,
      Optional<SslContext> tls,
      Services services,
      HostProcess host,
      Clock clock)
      throws IOException {
    this.options = options;
    this.tls = tls;
    this.clock = clock;
    this.host = host;
    Counters counters = services.quipu().counters();
    Optional<EmbeddedEngine> embedded = counters.as(EmbeddedEngine.class);
    this.engine = embedded.map(each -> counters::addAll);
    this.watch =
        embedded.map(each -> new WatchHub(each, counters, host.budget(), clock, host.onError()));
    this.metrics = new Metrics(services.quipu(), meter, host);
    metrics.tick(clock.epochMillis());
    this.workers = new Workers(options.requestsMax(), host);
    Failures failures =
        new Failures(host, services.quipu().counters().technique(), services.storeName());
    this.routes =
        new Routes(
            services, metrics, failures, watch, options.access()::shows, this::impediment, clock);
    Dispatcher dispatcher = new Dispatcher(routes, options.access(), failures);
    this.shared =
        new Connection.Shared(options, dispatcher, workers, host, metrics, clock, new HttpDate());
    this.listener = listen();
    long everyNanos = options.timeouts().shortest().toNanos() / CHECKS_PER_TIMEOUT + 1;
    loops
        .next()
        .scheduleAtFixedRate(this::tick, everyNanos, everyNanos, TimeUnit.NANOSECONDS)
        .addListener(ended -> {
          if (ended.cause() != null && !ended.isCancelled()) { // canceled when the server stops
            host.onError().accept(ended.cause());
          }
        });
  }

  /**
   * Starts a server.
   *
   * @throws IOException if the address cannot be bound
   */
  public static HttpServer start(HttpOptions options, Services services, Clock clock)
      throws IOException {
    return start(options, Optional.empty(), services, HostProcess.alone(), clock);
  }

  /**
   * Starts a server in a process with other ports, with TLS if given.
   *
   * @throws IOException if the address cannot be bound
   */
  public static HttpServer start(
      HttpOptions options,
      Optional<SslContext> tls,
      Services services,
      HostProcess host,
      Clock clock)
      throws IOException {
    return new HttpServer(options, tls, services, host, clock);
  }

  /** Returns all routes. */
  public static List<CommandHelp> commands() {
    return OpenApi.routes();
  }

  /** Returns the address that the server listens on. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** Returns the meter of this port. */
  public PortMeter meter() {
    return meter;
  }

  Routes routes() {
    return routes;
  }

  private Channel listen() throws IOException {
    try {
      Channel listener =
          Listener.listen(loops, transport, options.bind(), options.port(), this::accept);
      host.budget().connections().accepts(listener);
      return listener;
    } catch (IOException e) {
      loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      workers.close();
      throw e;
    }
  }

  private void accept(SocketChannel channel) {
    boolean isFull = connections.size() >= options.connectionsMax();
    int bytes = tls.isPresent() ? Connections.TLS_CONNECTION_BYTES : CONNECTION_BYTES;
    Optional<Connections.Place> place =
        host.budget().connections().enter(this, channel, bytes, isFull);
    if (place.isEmpty()) {
      channel.close();
      return;
    }
    meter.opened();
    channel.config().setRecvByteBufAllocator(RECEIVE).setAllocator(ALLOCATOR);
    Optional<LoopAdds> adds =
        engine.map(each ->
            loopAdds.computeIfAbsent(channel.eventLoop(), loop -> new LoopAdds(loop, each, host)));
    Connection connection = new Connection(channel, place.get(), shared, adds);
    connections.put(channel, connection);
    channel
        .closeFuture()
        .addListener(closed -> {
          connections.remove(channel);
          meter.closed();
        });
    if (tls.isPresent()) { // a lambda would load the class, and with it those of OpenSSL
      channel.pipeline().addLast(new TlsOrReply(tls.get()));
    }
    channel
        .pipeline()
        .addLast(connection.flowControl())
        .addLast(connection.decoder())
        .addLast(new HttpResponseEncoder())
        .addLast(connection);
  }

  /** Stops accepting connections, completes the requests in progress, and closes. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
    watch.ifPresent(WatchHub::close);
    connections.forEach(
        (channel, connection) -> channel.eventLoop().execute(() -> connection.finish()));
    long deadline = clock.nanoTime() + options.timeouts().drain().toNanos();
    try {
      while (!connections.isEmpty() && clock.nanoTime() < deadline) {
        clock.sleep(LOOK);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    workers.close();
    metrics.close();
  }

  private void tick() {
    metrics.tick(clock.epochMillis());
    connections.forEach((channel, connection) -> {
      if (connection.isLate()) {
        channel.eventLoop().execute(connection::checkDeadline);
      }
    });
  }

  /**
   * Returns why this process cannot serve, regardless of the state of its store; empty if it can.
   */
  public Optional<String> impediment() {
    if (!listener.isOpen()) {
      return Optional.of("the HTTP listener is closed");
    }
    return Loops.impediment(loops, LOOP_ANSWERS).or(host.impediment());
  }
}
