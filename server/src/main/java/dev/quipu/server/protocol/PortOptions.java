package dev.quipu.server.protocol;

import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.Transport;
import io.netty.handler.ssl.SslContext;
import java.util.Optional;

/**
 * How a port that takes commands works.
 *
 * @param bind address to listen on
 * @param port port to listen on; 0 picks one
 * @param token what clients must show; empty to let everybody in
 * @param tls what encrypts; empty for none
 * @param connectionsMax connections at once; more take the place of idle ones
 * @param transport how bytes come and go
 * @param mayFlush whether a client may remove all counters by one command
 * @param memory what all connections of this port, and of others that share it, may hold
 */
public record PortOptions(
    String bind,
    int port,
    Optional<String> token,
    Optional<SslContext> tls,
    int connectionsMax,
    Transport transport,
    boolean mayFlush,
    MemoryBudget memory) {
  private static final int CONNECTIONS_MAX = 20_000;

  /** Loopback only, no token, no encryption, 20,000 connections, the quickest transport. */
  public static PortOptions at(int port) {
    return new PortOptions(
        "127.0.0.1",
        port,
        Optional.empty(),
        Optional.empty(),
        CONNECTIONS_MAX,
        Transport.best(),
        false,
        MemoryBudget.ofHeap());
  }

  /** The same at another address, for clients that show this token. */
  public PortOptions reachable(String at, Optional<String> by, Optional<SslContext> encrypted) {
    return new PortOptions(at, port, by, encrypted, connectionsMax, transport, mayFlush, memory);
  }

  /** The same for so many connections at once. */
  public PortOptions within(int connections) {
    return new PortOptions(bind, port, token, tls, connections, transport, mayFlush, memory);
  }

  /** The same by another transport. */
  public PortOptions by(Transport other) {
    return new PortOptions(bind, port, token, tls, connectionsMax, other, mayFlush, memory);
  }

  /** The same for clients that may remove all counters, or may not. */
  public PortOptions flushing(boolean may) {
    return new PortOptions(bind, port, token, tls, connectionsMax, transport, may, memory);
  }

  /** The same within a memory budget that other ports share. */
  public PortOptions sharing(MemoryBudget budget) {
    return new PortOptions(bind, port, token, tls, connectionsMax, transport, mayFlush, budget);
  }
}
