package dev.quipu.server.protocol;

import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.PortMeter;
import dev.quipu.server.net.Transport;
import io.netty.handler.ssl.SslContext;
import java.util.Optional;

/**
 * Options of a command port.
 *
 * @param bind address to listen on
 * @param port port to listen on; 0 picks a free one
 * @param token required of clients; empty for no authentication
 * @param tls TLS context; empty for plain text
 * @param connectionsMax maximum number of connections; further ones replace idle ones
 * @param transport network transport
 * @param mayFlush whether clients may remove all counters by one command
 * @param memory memory budget, possibly shared with other ports
 * @param meter counts requests and connections
 */
public record PortOptions(
    String bind,
    int port,
    Optional<String> token,
    Optional<SslContext> tls,
    int connectionsMax,
    Transport transport,
    boolean mayFlush,
    MemoryBudget memory,
    PortMeter meter) {
  private static final int CONNECTIONS_MAX = 20_000;

  /**
   * Returns the defaults: loopback, no token, no TLS, 20,000 connections, the fastest transport.
   */
  public static PortOptions at(int port) {
    return new PortOptions(
        "127.0.0.1",
        port,
        Optional.empty(),
        Optional.empty(),
        CONNECTIONS_MAX,
        Transport.best(),
        false,
        MemoryBudget.ofHeap(),
        new PortMeter());
  }

  /** Returns a copy with an address, a required token and TLS. */
  public PortOptions withAccess(String at, Optional<String> by, Optional<SslContext> encrypted) {
    return new PortOptions(
        at, port, by, encrypted, connectionsMax, transport, mayFlush, memory, meter);
  }

  /** Returns a copy with a maximum number of connections. */
  public PortOptions withConnectionsMax(int connections) {
    return new PortOptions(bind, port, token, tls, connections, transport, mayFlush, memory, meter);
  }

  /** Returns a copy with another transport. */
  public PortOptions withTransport(Transport other) {
    return new PortOptions(bind, port, token, tls, connectionsMax, other, mayFlush, memory, meter);
  }

  /** Returns a copy that allows clients to remove all counters, or not. */
  public PortOptions withFlush(boolean may) {
    return new PortOptions(bind, port, token, tls, connectionsMax, transport, may, memory, meter);
  }

  /** Returns a copy with a shared memory budget. */
  public PortOptions withMemory(MemoryBudget budget) {
    return new PortOptions(
        bind, port, token, tls, connectionsMax, transport, mayFlush, budget, meter);
  }
}
