package dev.quipu.server;

import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sends as much as the server accepts over many connections, from one thread, with or without
 * reading replies; reopens each connection that the server closes.
 *
 * @param preamble sent first on each connection
 * @param requests the requests by number
 * @param reads whether it reads replies
 */
record Flood(
    int port, int connections, String preamble, LongFunction<String> requests, boolean reads) {
  private static final Duration NOTHING_MOVED = Duration.ofMillis(2);
  private static final Duration BEFORE_RECONNECT = Duration.ofMillis(20);
  private static final int SEEN_CHARACTERS = 200;

  /**
   * Send buffer: larger ones would let the flood, which runs on the same machine, exhaust the
   * socket memory of all connections.
   */
  private static final int SEND_BUFFER_BYTES = 64 << 10;

  /** Receive buffer: a small one makes the server keep what is not read. */
  private static final int RECEIVE_BUFFER_BYTES = 16 << 10;

  /** The statistics of a flood. */
  static final class Report {
    private long requests;
    private long bytes;
    private int closed;
    private boolean sawNoMemory;
    private String firstError = "";

    @Override
    public String toString() {
      return "%d requests, %d bytes read, %d connections closed%s %s"
          .formatted(
              requests, bytes, closed, sawNoMemory ? ", out of memory answered" : "", firstError);
    }
  }

  private static final class Line {
    final SocketChannel channel;
    @Nullable ByteBuffer pending;

    Line(SocketChannel channel, String preamble) {
      this.channel = channel;
      this.pending = bytes(preamble);
    }
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Floods until stopped. */
  Report run(AtomicBoolean stop) {
    Report report = new Report();
    List<Line> open = new ArrayList<>();
    ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);
    while (!stop.get()) {
      boolean moved = false;
      while (open.size() < connections && !stop.get() && connect(open)) {
        moved = true;
      }
      for (Line line : List.copyOf(open)) {
        try {
          moved |= push(line, report);
          if (reads) {
            moved |= pull(line, buffer, report);
          }
        } catch (IOException e) {
          report.closed++;
          open.remove(line);
          close(line);
          pause(BEFORE_RECONNECT); // like real clients
        }
      }
      if (!moved) {
        pause(NOTHING_MOVED);
      }
    }
    open.forEach(Flood::close);
    return report;
  }

  private boolean connect(List<Line> open) {
    Line line = null;
    try {
      line = new Line(SocketChannel.open(), preamble);
      line.channel.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER_BYTES);
      line.channel.setOption(StandardSocketOptions.SO_RCVBUF, RECEIVE_BUFFER_BYTES);
      line.channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      line.channel.configureBlocking(false);
      return open.add(line);
    } catch (IOException e) {
      if (line != null) {
        close(line);
      }
      return false; // retried
    }
  }

  private boolean push(Line line, Report report) throws IOException {
    ByteBuffer pending = line.pending;
    if (pending == null || !pending.hasRemaining()) {
      pending = bytes(requests.apply(report.requests++));
      line.pending = pending;
    }
    return line.channel.write(pending) > 0;
  }

  private static boolean pull(Line line, ByteBuffer buffer, Report report) throws IOException {
    boolean any = false;
    for (int count = line.channel.read(buffer.clear());
        count != 0;
        count = line.channel.read(buffer.clear())) {
      if (count < 0) {
        throw new IOException("closed by the server");
      }
      any = true;
      report.bytes += count;
      look(StandardCharsets.ISO_8859_1.decode(buffer.flip()).toString(), report);
    }
    return any;
  }

  private static void look(String text, Report report) {
    boolean noMemory =
        text.contains("-OOM")
            || text.contains("SERVER_ERROR out of memory")
            || text.contains("507 ");
    report.sawNoMemory |= noMemory;
    int error = Math.max(text.indexOf("\n-"), text.indexOf("ERROR"));
    if (report.firstError.isEmpty() && error >= 0 && !noMemory) {
      report.firstError =
          text.substring(error, Math.min(text.length(), error + SEEN_CHARACTERS)).strip();
    }
  }

  private static void close(Line line) {
    try {
      line.channel.close();
    } catch (IOException e) {
      // it is closed
    }
  }

  private static void pause(Duration duration) {
    try {
      Clock.system().sleep(duration);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
