package dev.quipu.server.resp;

import dev.quipu.engine.Engine;
import dev.quipu.server.net.ConnectionMemory;
import dev.quipu.time.Clock;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What all connections share. Thread-safe. */
final class Hub {
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

  Hub(Engine engine, Optional<String> token, boolean mayFlush, String version, Clock clock) {
    this.mayFlush = mayFlush;
    this.engine = engine;
    this.token = token;
    this.version = version;
    this.clock = clock;
    this.startNanos = clock.nanoTime();
  }

  Engine engine() {
    return engine;
  }

  Optional<String> token() {
    return token;
  }

  /** Whether a client may remove all counters by one command. */
  boolean mayFlush() {
    return mayFlush;
  }

  String version() {
    return version;
  }

  Clock clock() {
    return clock;
  }

  String address() {
    return address;
  }

  void listensAt(String where) {
    address = where;
  }

  Session open(String remote, ConnectionMemory memory) {
    Session session = new Session(ids.incrementAndGet(), remote, this, memory);
    sessions.put(session.id, session);
    return session;
  }

  void close(Session session) {
    commands.add(session.commands);
    sessions.remove(session.id);
  }

  /** All that are connected, in order of their ids. */
  Iterable<Session> sessions() {
    return sessions.values();
  }

  /** Commands so far, of all connections. */
  long commands() {
    long all = commands.sum();
    for (Session each : sessions()) {
      all += each.commands;
    }
    return all;
  }

  int connected() {
    return sessions.size();
  }

  long accepted() {
    return ids.get();
  }

  long upSeconds() {
    return secondsSince(startNanos);
  }

  long secondsSince(long nanos) {
    return (clock.nanoTime() - nanos) / 1_000_000_000;
  }
}
