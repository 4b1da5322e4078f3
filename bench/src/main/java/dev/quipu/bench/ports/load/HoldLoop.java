package dev.quipu.bench.ports.load;

import dev.quipu.time.Clock;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A closed loop of holds: each connection places a pipeline of holds, waits for all replies,
 * settles all of them, waits, and begins again. A hold reserves 2 of a counter, of which 1 is kept.
 * One thread serves all connections, to leave the processor to the servers.
 */
public final class HoldLoop implements AutoCloseable {
  private static final Duration SILENCE_MAX = Duration.ofSeconds(20);

  private final Clock clock = Clock.system();
  private final ByteBuffer in = ReplyScanner.buffer();
  private final Selector selector = Selector.open();
  private final List<Client> clients = new ArrayList<>();
  private final HoldDialect dialect;
  private final int pipeline;
  private final RequestNumbers numbers;
  private long settled;
  private int busy;

  /** Connects to a server. */
  public HoldLoop(int port, HoldDialect dialect, int pipeline, RequestNumbers numbers)
      throws IOException {
    this.dialect = dialect;
    this.pipeline = pipeline;
    this.numbers = numbers;
    for (int i = 0; i < Workload.CONNECTIONS; i++) {
      clients.add(new Client(port));
    }
  }

  /**
   * The result of a run.
   *
   * @param settled holds that were placed and settled
   * @param nanos from the first request to the last reply
   */
  public record Outcome(long settled, long nanos) {}

  /** Sends for {@code time}, then waits for the last replies. */
  public Outcome run(Duration time) throws IOException {
    long start = clock.nanoTime();
    for (Client client : clients) {
      busy++;
      client.place();
    }
    while (busy > 0) {
      if (selector.select(SILENCE_MAX.toMillis()) == 0) {
        throw new IllegalStateException("no reply for " + SILENCE_MAX);
      }
      boolean more = clock.nanoTime() - start < time.toNanos();
      for (SelectionKey key : selector.selectedKeys()) {
        ((Client) key.attachment()).ready(more);
      }
      selector.selectedKeys().clear();
    }
    return new Outcome(settled, clock.nanoTime() - start);
  }

  @Override
  public void close() throws IOException {
    for (Client client : clients) {
      client.socket.close();
    }
    selector.close();
  }

  private final class Client {
    private final SocketChannel socket;
    private final SelectionKey key;
    private final ByteBuffer holds = dialect.hold().encoded(pipeline);
    private final ByteBuffer settlements = dialect.settle().encoded(pipeline);
    private ByteBuffer out = holds;
    private boolean isPlacing;
    private int lines;

    Client(int port) throws IOException {
      socket = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
      socket.configureBlocking(false);
      key = socket.register(selector, SelectionKey.OP_READ, this);
    }

    /** Places holds with new ids, and prepares their settlements. */
    void place() throws IOException {
      for (int i = 0; i < pipeline; i++) {
        long number = numbers.next();
        dialect.hold().number(holds, i * dialect.hold().length(), number, Workload.KEYS_MAX);
        dialect.settle().number(settlements, i * dialect.settle().length(), number, 1);
      }
      isPlacing = true;
      send(holds);
    }

    private void send(ByteBuffer requests) throws IOException {
      out = requests.rewind();
      lines = pipeline * dialect.replyLines();
      write();
    }

    private void write() throws IOException {
      socket.write(out);
      key.interestOps(
          out.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
    }

    void ready(boolean more) throws IOException {
      if (key.isWritable()) {
        write();
      }
      if (!key.isReadable()) {
        return;
      }
      in.clear();
      if (socket.read(in) < 0) {
        throw new EOFException("the server closed the connection");
      }
      in.flip();
      while (in.hasRemaining()) {
        byte each = in.get();
        if (each == '-') {
          throw new IllegalStateException(
              "an error: " + StandardCharsets.US_ASCII.decode(in.duplicate()));
        }
        lines -= each == '\n' ? 1 : 0;
      }
      if (lines < 0) {
        throw new IllegalStateException("more replies than requests");
      }
      if (lines == 0) {
        next(more);
      }
    }

    private void next(boolean more) throws IOException {
      if (isPlacing) {
        isPlacing = false;
        send(settlements);
        return;
      }
      settled += pipeline;
      if (more) {
        place();
      } else {
        busy--;
      }
    }
  }
}
