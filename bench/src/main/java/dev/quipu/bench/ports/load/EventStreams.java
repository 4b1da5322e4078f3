package dev.quipu.bench.ports.load;

import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;

/** Open streams of changes, which one thread reads as fast as they come. */
public final class EventStreams implements AutoCloseable {
  private static final Duration START_MAX = Duration.ofSeconds(30);
  private static final Duration PAUSE = Duration.ofMillis(10);
  private static final int BUFFER_BYTES = 1 << 20;

  private final Selector selector = Selector.open();
  private final List<SocketChannel> channels = new ArrayList<>();
  private final AtomicLong[] bytes;
  private volatile boolean isClosed;
  private final Thread reader;

  /**
   * Opens streams.
   *
   * @param prefix returns the prefix of the counters of a stream
   */
  public EventStreams(int port, int streams, IntFunction<String> prefix) throws IOException {
    this.bytes = new AtomicLong[streams];
    for (int i = 0; i < streams; i++) {
      bytes[i] = new AtomicLong();
      SocketChannel channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channels.add(channel);
      String request =
          "GET /v1/watch?present=false&prefix=%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
              .formatted(prefix.apply(i));
      channel.write(StandardCharsets.US_ASCII.encode(request));
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ, bytes[i]);
    }
    this.reader = Thread.ofPlatform().daemon().name("streams").start(this::read);
    long start = Clock.system().nanoTime();
    while (silent() > 0) { // the head of each response
      if (Clock.system().nanoTime() - start > START_MAX.toNanos()) {
        throw new IllegalStateException(silent() + " streams have no response");
      }
      pause();
    }
    reset();
  }

  private static void pause() {
    try {
      Clock.system().sleep(PAUSE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void read() {
    ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    try {
      while (!isClosed) {
        selector.select(key -> {
          try {
            int length = ((SocketChannel) key.channel()).read(in.clear());
            if (length < 0) {
              throw new IllegalStateException("the server ended a stream");
            }
            ((AtomicLong) key.attachment()).addAndGet(length);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long silent() {
    long silent = 0;
    for (AtomicLong each : bytes) {
      silent += each.get() == 0 ? 1 : 0;
    }
    return silent;
  }

  private void reset() {
    for (AtomicLong each : bytes) {
      each.set(0);
    }
  }

  /** Throws if one of the streams received no changes. */
  public void check() {
    if (silent() > 0) {
      throw new IllegalStateException(silent() + " streams received no changes");
    }
  }

  @Override
  public void close() throws IOException {
    isClosed = true;
    selector.wakeup();
    try {
      reader.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (SocketChannel each : channels) {
      each.close();
    }
    selector.close();
  }
}
