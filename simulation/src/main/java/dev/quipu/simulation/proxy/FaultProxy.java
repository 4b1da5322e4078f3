package dev.quipu.simulation.proxy;

import dev.quipu.time.Clock;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Phaser;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A proxy in front of a store on this machine. It forwards one request at a time on each connection
 * and injects the faults of a {@link FaultPlan}; its {@link Ledger} records what actually happened.
 */
public final class FaultProxy implements AutoCloseable {
  private static final int BACKLOG = 1_024;
  private static final int CONNECT_MILLIS_MAX = 5_000;
  private static final int STALE_KEPT_MAX = 10_000;

  private final Protocol protocol;
  private final int storePort;
  private final Duration delay;
  private final Ledger ledger;
  private final int port;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Map<String, byte[]> firstReplies = new ConcurrentHashMap<>();
  private final Phaser delayed = new Phaser(1);
  private volatile FaultPlan plan = FaultPlan.none();
  private volatile @Nullable ServerSocket listener;
  private volatile @Nullable Socket placeholder;

  private FaultProxy(
      Protocol protocol, int storePort, Duration delay, ToLongFunction<byte[]> measure) {
    this.protocol = protocol;
    this.storePort = storePort;
    this.delay = delay;
    this.ledger = new Ledger(measure);
    this.port = listen(0);
  }

  /**
   * Starts a proxy on a free loopback port.
   *
   * @param storePort port of the store on 127.0.0.1
   * @param delay delay of {@link WireFault#DELAYED_APPLY}; longer than the clients' timeout
   * @param measure the ledger's measure, summed over the bytes of applied writes
   */
  public static FaultProxy start(
      Protocol protocol, int storePort, Duration delay, ToLongFunction<byte[]> measure) {
    return new FaultProxy(protocol, storePort, delay, measure);
  }

  /** Returns the port of the proxy on 127.0.0.1. */
  public int port() {
    return port;
  }

  /** Returns the ledger of what actually happened. */
  public Ledger ledger() {
    return ledger;
  }

  /** Replaces the fault plan. */
  public void use(FaultPlan next) {
    plan = next;
  }

  /** Rejects new connections from now on, and closes the existing ones. */
  public void reject() {
    try {
      // Bound but not listening: the port stays reserved, and connections are refused.
      Socket kept = new Socket();
      kept.setOption(StandardSocketOptions.SO_REUSEPORT, true);
      kept.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      placeholder = kept;
    } catch (IOException e) {
      throw new UncheckedIOException("the proxy cannot keep its port", e);
    }
    closeAll();
  }

  /** Accepts connections again, on the same port. */
  public void accept() {
    if (listener == null) {
      listen(port);
      free();
    }
  }

  /** Waits until delayed requests have reached the store. */
  public void awaitDelayed() {
    delayed.arriveAndAwaitAdvance();
  }

  private int listen(int onPort) {
    try {
      ServerSocket socket = new ServerSocket();
      socket.setReuseAddress(true);
      socket.setOption(StandardSocketOptions.SO_REUSEPORT, true);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), onPort), BACKLOG);
      listener = socket;
      Thread.ofVirtual().name("fault-proxy").start(() -> acceptFrom(socket));
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException("the proxy cannot listen", e);
    }
  }

  private void acceptFrom(ServerSocket socket) {
    while (true) {
      Socket client;
      try {
        client = socket.accept();
      } catch (IOException e) {
        return; // closed
      }
      sockets.add(client);
      if (socket.isClosed()) {
        close(client);
        return;
      }
      Thread.ofVirtual().name("fault-proxy-connection").start(() -> serve(client));
    }
  }

  private void serve(Socket client) {
    try (Socket store = new Socket()) {
      store.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), storePort), CONNECT_MILLIS_MAX);
      store.setTcpNoDelay(true);
      client.setTcpNoDelay(true);
      new Connection(client, store).run();
    } catch (IOException e) {
      // one side is closed: close the other
    } finally {
      sockets.remove(client);
      close(client);
    }
  }

  /** One client's connection, and its counterpart to the store. */
  private final class Connection {
    private final Protocol.Session session = protocol.open();
    private final Socket client;
    private final InputStream fromClient;
    private final OutputStream toClient;
    private final InputStream fromStore;
    private final OutputStream toStore;

    Connection(Socket client, Socket store) throws IOException {
      this.client = client;
      this.fromClient = new BufferedInputStream(client.getInputStream());
      this.toClient = client.getOutputStream();
      this.fromStore = new BufferedInputStream(store.getInputStream());
      this.toStore = store.getOutputStream();
    }

    void run() throws IOException {
      while (true) {
        Protocol.Request request = session.read(fromClient);
        if (request == null) {
          return;
        }
        Optional<WireFault> fault =
            request.kind() == Protocol.Kind.OTHER ? Optional.empty() : plan.next(request);
        if (fault.isEmpty()) {
          byte[] reply = remembered(request, forward(request));
          if (reply.length == 0) {
            return; // it ended the session
          }
          toClient.write(reply);
        } else if (!goesOnAfter(fault.get(), request)) {
          return;
        }
      }
    }

    /** Returns whether the connection continues after this fault. */
    private boolean goesOnAfter(WireFault fault, Protocol.Request request) throws IOException {
      return switch (fault) {
        case ERROR_BEFORE_APPLY, ERROR_AFTER_APPLY, THROTTLED -> answerWithError(fault, request);
        case REPLY_DROPPED -> {
          forward(request);
          ledger.note(fault);
          yield false;
        }
        case CONNECTION_RESET -> {
          ledger.note(fault);
          client.setSoLinger(true, 0);
          yield false;
        }
        case HANG -> {
          forward(request);
          ledger.note(fault);
          awaitEnd();
          yield false;
        }
        case DELAYED_APPLY -> {
          delayed.register();
          try {
            ledger.note(fault);
            pause();
            forward(request);
          } finally {
            delayed.arriveAndDeregister();
          }
          yield false;
        }
        case DUPLICATE -> {
          byte[] first = forward(request);
          forward(request);
          ledger.note(fault);
          toClient.write(first);
          yield true;
        }
        case STALE_READ -> {
          byte[] now = forward(request);
          byte[] before = firstReplies.get(text(request.written()));
          if (before != null) {
            ledger.note(fault);
          }
          toClient.write(before == null ? now : before);
          yield true;
        }
      };
    }

    private boolean answerWithError(WireFault fault, Protocol.Request request) throws IOException {
      Optional<byte[]> error = session.error(fault);
      if (error.isEmpty()) {
        toClient.write(
            forward(request)); // the protocol has no such message, so the fault does not occur
        return true;
      }
      if (fault == WireFault.ERROR_AFTER_APPLY) {
        forward(request);
      } else {
        session.abandon(toStore, fromStore);
      }
      ledger.note(fault);
      toClient.write(error.get());
      return !session.endsAfter(fault);
    }

    private byte[] forward(Protocol.Request request) throws IOException {
      boolean isWrite = request.kind() == Protocol.Kind.WRITE;
      toStore.write(request.bytes());
      byte[] reply;
      try {
        reply = session.reply(request, fromStore);
      } catch (IOException e) {
        if (isWrite) {
          ledger.lost();
        }
        throw e;
      }
      if (isWrite) {
        ledger.answered(request, session.isApplied(request, reply));
      }
      return reply;
    }

    private byte[] remembered(Protocol.Request request, byte[] reply) {
      if (request.kind() == Protocol.Kind.READ && firstReplies.size() < STALE_KEPT_MAX) {
        firstReplies.putIfAbsent(text(request.written()), reply);
      }
      return reply;
    }

    /** Waits until the client has given up, regardless of what it still sends. */
    private void awaitEnd() throws IOException {
      while (fromClient.read() >= 0) {
        // not forwarded
      }
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private void pause() {
    try {
      Clock.system().sleep(delay);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeAll() {
    ServerSocket socket = listener;
    listener = null;
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    sockets.forEach(FaultProxy::close);
    sockets.clear();
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // closed anyway
    }
  }

  private void free() {
    Socket kept = placeholder;
    placeholder = null;
    if (kept != null) {
      close(kept);
    }
  }

  @Override
  public void close() {
    closeAll();
    free();
  }
}
