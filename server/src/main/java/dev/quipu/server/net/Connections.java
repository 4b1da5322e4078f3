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
 * A limit that rejects newcomers is a weapon: whoever fills it shuts out everybody else. So a
 * newcomer takes the place of a connection that has been idle the longest, of a few that are picked
 * at random. Idleness is counted in connections accepted since: a client that goes on is never
 * older than those who only hold their connections. Where nobody could be accepted, time counts.
 * Half a request is no request: whoever sends only that would otherwise never be idle.
 */

/**
 * The connections of all ports, and what they hold while they ask for nothing. Beyond the limit,
 * one that has been idle for long is closed for each that comes. Thread-safe.
 */
public final class Connections {
  /** What an encrypted connection holds that asks for nothing, whatever it speaks. */
  public static final int TLS_CONNECTION_BYTES = 64 << 10;

  /** Connections of which the one that is idle the longest is closed. */
  private static final int SAMPLE = 16;

  /** Most connections that are looked at to find these, where only those of one port count. */
  private static final int TRIES = 256;

  /** Connections that are being closed for others at once; beyond, newcomers are rejected. */
  private static final int LEAVING_MAX = 256;

  /** From this many on, newcomers wait in the operating system until half of them have left. */
  private static final int LEAVING_WAIT = 64;

  /** Open files that are left for the engine, and for connections that come and go. */
  private static final int FILES_LEFT_MIN = 400;

  /** The same, as one part in this many of all. */
  private static final int FILES_LEFT_SHARE = 10;

  /** One that asks for nothing for longer makes room though nobody has come since it asked. */
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
   * @param limitBytes that they may hold while they ask for nothing
   * @param countMax open at once, whatever they hold
   */
  Connections(long limitBytes, long countMax, Clock clock) {
    this.limitBytes = limitBytes;
    this.countMax = countMax;
    this.clock = clock;
  }

  /** Returns how many the system lets this process have open, besides the files of the engine. */
  static long countMaxOfSystem() {
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
      long files = system.getMaxFileDescriptorCount();
      return Math.max(1, files - Math.max(FILES_LEFT_MIN, files / FILES_LEFT_SHARE));
    }
    return Long.MAX_VALUE;
  }

  /** Has a port accept nobody while too many are being closed. */
  public synchronized void accepts(Channel listener) {
    listeners.add(listener);
    listener.closeFuture().addListener(closed -> ends(listener)); // before its loop ends
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

  /** Only on its loop: a stop from another thread is done late, and would undo a start. */
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
   * Takes a connection in. For one that is rejected, nothing is to be done but to close it.
   *
   * @param port what serves it
   * @param bytes what it holds while it asks for nothing
   * @param isPortFull whether the port has as many as it may have, whatever they hold
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
      return false; // all of them have just asked for something
    }
    oldest.isLeaving = true;
    leaving++;
    if (leaving >= LEAVING_WAIT) {
      letWait(true);
    }
    usedBytes -= oldest.bytes;
    oldest.closeIfIdle();
    replaced++;
    if (Long.bitCount(replaced) == 1) { // 1, 2, 4, and so on: the log cannot be flooded
      LOGGER
          .atWarn()
          .addKeyValue("closed", replaced)
          .addKeyValue("open", places.size() - leaving)
          .log("Too many connections; idle ones are closed for new ones");
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
      place.isLeaving = false; // it may still be asked whether it stays
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

  /** Closes all, so that what they hold is free. */
  public void closeAll() {
    List<Place> all;
    synchronized (this) {
      all = List.copyOf(places);
    }
    all.forEach(place -> place.channel.close());
  }

  /** Returns what the connections hold that ask for nothing, in bytes. */
  synchronized long usedBytes() {
    return usedBytes;
  }

  /** One connection among all. */
  public final class Place {
    private final Object port;
    private final Channel channel;
    private final int bytes;
    private volatile BooleanSupplier isIdle = () -> true;
    private volatile long used = entered.incrementAndGet();
    private volatile long usedNanos = clock.nanoTime();
    private boolean isLeaving; // guarded by the connections, as is the index
    private int index;

    private Place(Object port, Channel channel, int bytes) {
      this.port = port;
      this.channel = channel;
      this.bytes = bytes;
    }

    /** Sets what decides, on the event loop, whether no whole request is in progress. */
    public void idleWhen(BooleanSupplier condition) {
      isIdle = condition;
    }

    /** The client has sent a whole request. */
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
