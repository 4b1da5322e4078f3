package dev.quipu.server.net;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import io.netty.channel.Channel;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * A limit that rejects new connections enables denial of service: whoever fills it locks everyone
 * else out. So a new connection replaces the longest idle one of a random sample. Idleness is
 * counted in connections accepted since the last request, so an active client is never older than
 * clients that only hold connections open; if nothing could be accepted, elapsed time counts. Only
 * complete requests count as activity.
 */

/**
 * The connections of all ports and their idle memory. At the limit, each new connection replaces
 * one that has been idle for long. Thread-safe.
 */
public final class Connections {
  /** Memory of an idle TLS connection, in any protocol. */
  public static final int TLS_CONNECTION_BYTES = 64 << 10;

  /** Size of the sample from which the longest idle connection is closed. */
  private static final int SAMPLE = 16;

  /** Maximum number of draws to fill the sample with connections of one port. */
  private static final int TRIES = 256;

  /**
   * Maximum number of connections being closed at the same time; beyond it, new ones are rejected.
   */
  private static final int LEAVING_MAX = 256;

  /** Number of closing connections from which accepting pauses until half of them have closed. */
  private static final int LEAVING_WAIT = 64;

  /** Minimum number of file descriptors left for the engine and connections in transition. */
  private static final int FILES_LEFT_MIN = 400;

  /** The share of file descriptors left: one in this many. */
  private static final int FILES_LEFT_SHARE = 10;

  /**
   * A connection idle for longer may be closed even if none was accepted since its last request.
   */
  private static final Duration IDLE = Duration.ofSeconds(5);

  private static final Logger LOGGER = LoggerFactory.getLogger(Connections.class);

  private final long limitBytes;
  private final long countMax;
  private final Clock clock;
  private final RandomGenerator random = Randomness.seeded(1);
  private final List<Place> places = new ArrayList<>();
  private final List<Channel> listeners = new ArrayList<>();
  private final AtomicLong entered = new AtomicLong();
  private long usedBytes;
  private long replaced;
  private int leaving;
  private volatile boolean isWaiting; // written under the lock

  /**
   * Creates the connections of a process.
   *
   * @param limitBytes maximum idle memory of all connections
   * @param countMax maximum number of open connections
   */
  Connections(long limitBytes, long countMax, Clock clock) {
    this.limitBytes = limitBytes;
    this.countMax = countMax;
    this.clock = clock;
  }

  /** Returns the number of connections that the file descriptor limit of this process allows. */
  static long countMaxOfSystem() {
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
      long files = system.getMaxFileDescriptorCount();
      return Math.max(1, files - Math.max(FILES_LEFT_MIN, files / FILES_LEFT_SHARE));
    }
    return Long.MAX_VALUE;
  }

  /** Registers a listener; it stops accepting while too many connections are being closed. */
  public synchronized void accepts(Channel listener) {
    listeners.add(listener);
    listener.closeFuture().addListener(closed -> ends(listener)); // runs before its loop ends
    acceptOrWait(listener);
  }

  private synchronized void ends(Channel listener) {
    listeners.remove(listener);
  }

  private void letWait(boolean wait) {
    if (isWaiting != wait) {
      isWaiting = wait;
      listeners.forEach(this::acceptOrWait);
    }
  }

  /** Sets auto-read on the loop of the listener: from other threads, calls could be reordered. */
  private void acceptOrWait(Channel listener) {
    listener.eventLoop().execute(() -> listener.config().setAutoRead(!isWaiting));
  }

  private void left() {
    leaving--;
    if (leaving <= LEAVING_WAIT / 2) {
      letWait(false);
    }
  }

  /**
   * Registers a connection; empty if it is rejected, and the caller must close it.
   *
   * @param port the port that serves it
   * @param bytes its idle memory
   * @param isPortFull whether the port has reached its maximum number of connections
   */
  public synchronized Optional<Place> enter(
      Object port, Channel channel, int bytes, boolean isPortFull) {
    if (bytes > limitBytes || (isPortFull && !replaceOne(port))) {
      return Optional.empty();
    }
    while (bytes > limitBytes - usedBytes || places.size() - leaving >= countMax) {
      if (!replaceOne(null)) {
        return Optional.empty();
      }
    }
    Place place = new Place(port, channel, bytes);
    place.index = places.size();
    places.add(place);
    usedBytes += bytes;
    channel.closeFuture().addListener(closed -> leave(place));
    return Optional.of(place);
  }

  private boolean replaceOne(@Nullable Object port) {
    if (leaving >= LEAVING_MAX || places.isEmpty()) {
      return false;
    }
    Place oldest = null;
    int seen = 0;
    for (int i = 0; i < TRIES && seen < SAMPLE; i++) {
      Place place = places.get(random.nextInt(places.size()));
      if (!place.isLeaving && (port == null || place.port.equals(port))) {
        seen++;
        oldest = oldest == null || place.used < oldest.used ? place : oldest;
      }
    }
    if (oldest == null || (oldest.used == entered.get() && !oldest.isIdleLong())) {
      return false; // all of them are active
    }
    oldest.isLeaving = true;
    leaving++;
    if (leaving >= LEAVING_WAIT) {
      letWait(true);
    }
    usedBytes -= oldest.bytes;
    oldest.closeIfIdle();
    replaced++;
    if (Long.bitCount(replaced) == 1) { // logged at powers of two only
      LOGGER
          .atWarn()
          .addKeyValue("closed", replaced)
          .addKeyValue("open", places.size() - leaving)
          .log("Too many connections; closing idle ones");
    }
    return true;
  }

  private synchronized void stay(Place place) {
    if (place.isLeaving) {
      place.isLeaving = false;
      left();
      usedBytes += place.bytes;
    }
  }

  private synchronized void leave(Place place) {
    if (place.isLeaving) {
      place.isLeaving = false; // the idle check may still run
      left();
    } else {
      usedBytes -= place.bytes;
    }
    Place last = places.removeLast();
    if (last != place) {
      last.index = place.index;
      places.set(place.index, last);
    }
  }

  /** Closes all connections. */
  public void closeAll() {
    List<Place> all;
    synchronized (this) {
      all = List.copyOf(places);
    }
    all.forEach(place -> place.channel.close());
  }

  /** Returns the idle memory of all connections, in bytes. */
  public synchronized long usedBytes() {
    return usedBytes;
  }

  /** Returns the maximum idle memory of all connections, in bytes. */
  public long limitBytes() {
    return limitBytes;
  }

  /** The registration of one connection. */
  public final class Place {
    private final Object port;
    private final Channel channel;
    private final int bytes;
    private volatile BooleanSupplier isIdle = () -> true;
    private volatile long used = entered.incrementAndGet();
    private volatile long usedNanos = clock.nanoTime();
    private boolean isLeaving; // guarded by Connections.this, as is the index
    private int index;

    private Place(Object port, Channel channel, int bytes) {
      this.port = port;
      this.channel = channel;
      this.bytes = bytes;
    }

    /** Sets the condition, evaluated on the event loop, under which no request is in progress. */
    public void idleWhen(BooleanSupplier condition) {
      isIdle = condition;
    }

    /** Notes that the client has sent a complete request. */
    public void use() {
      long now = entered.get();
      if (used != now) {
        used = now;
      }
      usedNanos = clock.nanoTime();
    }

    private boolean isIdleLong() {
      return clock.nanoTime() - usedNanos > IDLE.toNanos();
    }

    private void closeIfIdle() {
      long before = used;
      channel
          .eventLoop()
          .execute(() -> {
            if (used == before && isIdle.getAsBoolean()) {
              channel.close();
            } else {
              use();
              stay(this);
            }
          });
    }
  }
}
