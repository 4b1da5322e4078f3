package dev.quipu.server.resp.session;

import dev.quipu.engine.Engine;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.time.Clock;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What all connections share. Thread-safe. */
public final class SharedState {
  private final Engine engine;
  private final Optional<String> token;
  private final boolean mayFlush;
  private final String version;
  private final Clock clock;
  private final long startNanos;
  private final ConcurrentSkipListMap<Long, Session> sessions = new ConcurrentSkipListMap<>();
  private final AtomicLong ids = new AtomicLong();
  private final LongAdder commands = new LongAdder(); // of connections that have ended
  private volatile String address = "";

  public SharedState(
      Engine engine, Optional<String> token, boolean mayFlush, String version, Clock clock) {
    this.mayFlush = mayFlush;
    this.engine = engine;
    this.token = token;
    this.version = version;
    this.clock = clock;
    this.startNanos = clock.nanoTime();
  }

  public Engine engine() {
    return engine;
  }

  public Optional<String> token() {
    return token;
  }

  /** Whether a client may remove all counters by one command. */
  public boolean mayFlush() {
    return mayFlush;
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

  /** All that are connected, in order of their ids. */
  public Iterable<Session> sessions() {
    return sessions.values();
  }

  /** Commands so far, of all connections. */
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
