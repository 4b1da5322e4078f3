package dev.quipu.bench.ports.load;

import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * An open loop: requests follow a schedule that is independent of replies, and each latency starts
 * when the request was due. So a stall counts for all requests that were due in it, sent or not.
 */
public final class OpenLoop implements AutoCloseable {
  private static final int WAITING_MAX = 1 << 16; // per connection
  private static final int OUT_BYTES = 1 << 18;
  private static final Duration LATE_MAX = Duration.ofSeconds(20);
  private static final int DIGITS = 3;

  private final Clock clock = Clock.system();
  private final ByteBuffer in = ReplyScanner.buffer();
  private final List<Client> clients = new ArrayList<>();
  private final Selector selector = Selector.open();
  private final Histogram latencies = new Histogram(DIGITS);
  private final Request request;
  private final Workload workload;
  private final RequestNumbers numbers;
  private long answered;

  public OpenLoop(
      int port, Dialect dialect, Request request, Workload workload, RequestNumbers numbers)
      throws IOException {
    this.request = request;
    this.workload = workload;
    this.numbers = numbers;
    for (int i = 0; i < Workload.CONNECTIONS; i++) {
      clients.add(new Client(new LoadConnection(selector, port, dialect)));
    }
  }

  /**
   * The result of a run.
   *
   * @param applied adds with a reply of applied
   * @param latencies nanoseconds from the due time of a request to its reply
   */
  public record Outcome(long applied, Histogram latencies) {}

  /** Sends on schedule for {@code time}, then waits for the last replies. */
  public Outcome run(double perSecond, Duration time) throws IOException {
    long count = (long) (perSecond * time.toNanos() / 1e9);
    double gap = 1e9 / perSecond;
    long start = clock.nanoTime();
    long sent = 0;
    while (answered < count) {
      long now = clock.nanoTime() - start;
      long due = Math.min(count, (long) (now / gap) + 1);
      while (sent < due && client(sent).add(start + (long) (sent * gap))) {
        sent++;
      }
      // No sleep until the next is due: waking up would take longer.
      selector.selectNow();
      for (SelectionKey key : selector.selectedKeys()) {
        ((Client) key.attachment()).ready();
      }
      selector.selectedKeys().clear();
      if (now > time.plus(LATE_MAX).toNanos()) {
        throw new IllegalStateException(
            "only %,d of %,d requests got a reply in time".formatted(answered, count));
      }
    }
    long applied = 0;
    for (Client client : clients) {
      applied += client.connection.applied();
    }
    return new Outcome(applied, latencies);
  }

  private Client client(long number) {
    return clients.get((int) (number % clients.size()));
  }

  @Override
  public void close() throws IOException {
    for (Client client : clients) {
      client.connection.close();
    }
    selector.close();
  }

  private final class Client {
    private final LoadConnection connection;
    private final ByteBuffer out = ByteBuffer.allocateDirect(OUT_BYTES);
    private final long[] dueTimes = new long[WAITING_MAX]; // a ring
    private long first;
    private long end;

    Client(LoadConnection connection) {
      this.connection = connection;
      connection.attach(this);
    }

    /** Adds a request; returns false if the queue is full. It stays due at its time. */
    boolean add(long dueTime) throws IOException {
      if (end - first == WAITING_MAX || out.remaining() < request.length()) {
        return false;
      }
      dueTimes[(int) (end % WAITING_MAX)] = dueTime;
      end++;
      request.append(out, numbers.next(), workload.keys());
      write();
      return true;
    }

    private void write() throws IOException {
      out.flip();
      connection.write(out);
      out.compact();
    }

    void ready() throws IOException {
      if (connection.isWritable()) {
        write();
      }
      if (connection.isReadable()) {
        int ended = connection.read(in);
        long now = clock.nanoTime();
        for (int i = 0; i < ended; i++) {
          latencies.recordValue(now - dueTimes[(int) (first % WAITING_MAX)]);
          first++;
        }
        answered += ended;
      }
    }
  }
}
