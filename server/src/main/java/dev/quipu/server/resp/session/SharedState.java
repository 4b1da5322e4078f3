package dev.quipu.server.resp.session;

import dev.quipu.engine.Engine;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.protocol.PortOptions;
import dev.quipu.time.Clock;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** The state shared by all connections. Thread-safe. */
public final class SharedState {
  private final Engine engine;
  private final PortOptions options;
  private final String version;
  private final Clock clock;
  private final long startNanos;
  private final ConcurrentSkipListMap<Long, Session> sessions = new ConcurrentSkipListMap<>();
  private final AtomicLong ids = new AtomicLong();
  private final LongAdder commands = new LongAdder(); // of closed connections
  private volatile String address = "";

  public SharedState(Engine engine, PortOptions options, String version, Clock clock) {
    this.engine = engine;
    this.options = options;
    this.version = version;
    this.clock = clock;
    this.startNanos = clock.nanoTime();
  }

  public Engine engine() {
    return engine;
  }

  public PortOptions options() {
    return options;
  }

  public String version() {
    return version;
  }

  public Clock clock() {
    return clock;
  }

  String address() {
    return address;
  }

  public void listensAt(String where) {
    address = where;
  }

  public Session open(String remote, ConnectionMemory memory) {
    Session session = new Session(ids.incrementAndGet(), remote, this, memory);
    sessions.put(session.id, session);
    return session;
  }

  public void close(Session session) {
    commands.add(session.commands);
    sessions.remove(session.id);
  }

  /** Returns all open sessions, ordered by id. */
  public Iterable<Session> sessions() {
    return sessions.values();
  }

  /** Returns the number of commands received so far. */
  public long commands() {
    long all = commands.sum();
    for (Session each : sessions()) {
      all += each.commands;
    }
    return all;
  }

  public int connected() {
    return sessions.size();
  }

  public long accepted() {
    return ids.get();
  }

  public long upSeconds() {
    return secondsSince(startNanos);
  }

  long secondsSince(long nanos) {
    return (clock.nanoTime() - nanos) / 1_000_000_000;
  }
}
