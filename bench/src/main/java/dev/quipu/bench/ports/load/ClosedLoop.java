package dev.quipu.bench.ports.load;

import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A closed loop: each connection sends a pipeline, waits for all its replies, and sends the next.
 * One thread serves all connections, to leave the processor to the servers.
 */
public final class ClosedLoop implements AutoCloseable {
  private static final Duration SILENCE_MAX = Duration.ofSeconds(20);

  private final Clock clock = Clock.system();
  private final ByteBuffer in = ReplyScanner.buffer();
  private final List<Client> clients = new ArrayList<>();
  private final Selector selector = Selector.open();
  private final Request request;
  private final Workload workload;
  private final RequestNumbers numbers;
  private long replies;
  private int busy;

  public ClosedLoop(
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
   * @param nanos from the first request to the last reply
   */
  public record Outcome(long replies, long applied, long nanos) {}

  /** Sends for {@code time}, then waits for the last replies. */
  public Outcome run(Duration time) throws IOException {
    long start = clock.nanoTime();
    for (Client client : clients) {
      busy++;
      client.send();
    }
    long now = start;
    while (busy > 0) {
      if (selector.select(SILENCE_MAX.toMillis()) == 0) {
        throw new IllegalStateException("no reply for " + SILENCE_MAX);
      }
      now = clock.nanoTime();
      boolean more = now - start < time.toNanos();
      for (SelectionKey key : selector.selectedKeys()) {
        ((Client) key.attachment()).ready(more);
      }
      selector.selectedKeys().clear();
    }
    long nanos = clock.nanoTime() - start;
    long applied = 0;
    for (Client client : clients) {
      applied += client.connection.applied();
    }
    return new Outcome(replies, applied, nanos);
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
    private final ByteBuffer out = request.encoded(workload.pipeline());
    private int waiting;

    Client(LoadConnection connection) {
      this.connection = connection;
      connection.attach(this);
    }

    void send() throws IOException {
      for (int i = 0; i < workload.pipeline(); i++) {
        request.number(out, i * request.length(), numbers.next(), workload.keys());
      }
      waiting = workload.pipeline();
      connection.write(out.rewind());
    }

    void ready(boolean more) throws IOException {
      if (connection.isWritable()) {
        connection.write(out);
      }
      if (connection.isReadable()) {
        int ended = connection.read(in);
        replies += ended;
        waiting -= ended;
        if (waiting < 0) {
          throw new IllegalStateException("more replies than requests");
        }
        if (waiting == 0) {
          if (more) {
            send();
          } else {
            busy--;
          }
        }
      }
    }
  }
}
