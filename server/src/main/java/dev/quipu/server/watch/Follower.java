package dev.quipu.server.watch;

import dev.quipu.server.http.message.EventSink;

/** A client and the last tick that it has. */
public final class Follower {
  private final String prefix;
  private final boolean isSentAll;
  private final String lastId;
  private final boolean isGzip;
  private final EventSink sink;
  private boolean isAdmitted;
  private volatile long tick = -1; // negative until it has all counters
  private volatile boolean hasEnded;
  private long sentNanos;

  /**
   * Creates a client.
   *
   * @param isSentAll whether it is sent the present counters before their changes
   * @param lastId the id of the last event that it has; empty for none
   * @param isGzip whether its response, which has begun, is a gzip stream
   */
  public Follower(String prefix, boolean isSentAll, String lastId, boolean isGzip, EventSink sink) {
    this.prefix = prefix;
    this.isSentAll = isSentAll;
    this.lastId = lastId;
    this.isGzip = isGzip;
    this.sink = sink;
  }

  String prefix() {
    return prefix;
  }

  boolean isSentAll() {
    return isSentAll;
  }

  /** Returns the id of the last event that it had when it came; empty for none. */
  String lastId() {
    return lastId;
  }

  /** Returns whether other clients with these properties are sent the same bytes. */
  record Audience(String prefix, long tick, boolean isGzip) {}

  Audience audience() {
    return new Audience(prefix, tick, isGzip);
  }

  /** Returns an event as it is sent to this client. */
  byte[] encoded(byte[] event) {
    return isGzip ? GzipBlocks.of(event) : event;
  }

  boolean isAdmitted() {
    return isAdmitted;
  }

  void admitted() {
    isAdmitted = true;
  }

  EventSink sink() {
    return sink;
  }

  long tick() {
    return tick;
  }

  /** Sets the last tick whose changes it has been sent, or need not be sent. */
  void reached(long number) {
    tick = number;
  }

  /** Returns whether it can be sent changes now. */
  boolean isReady() {
    return tick >= 0 && sink.isReady();
  }

  boolean hasEnded() {
    return hasEnded;
  }

  void ended() {
    hasEnded = true;
  }

  long sentNanos() {
    return sentNanos;
  }

  void sent(long nanos) {
    sentNanos = nanos;
  }
}
