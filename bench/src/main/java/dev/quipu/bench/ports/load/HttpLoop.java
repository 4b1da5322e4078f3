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
 * A closed loop of adds under request ids over HTTP: each connection sends a request with one add,
 * or with many in a bulk, waits for its reply, and sends the next. One thread serves all
 * connections, to leave the processor to the servers.
 */
public final class HttpLoop implements AutoCloseable {
  /** Connections. */
  public static final int CONNECTIONS = 64;

  private static final Duration SILENCE_MAX = Duration.ofSeconds(20);
  private static final int READ_BYTES = 1 << 16;
  private static final byte[] LENGTH = "content-length: ".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] OK = "HTTP/1.1 200 OK\r\n".getBytes(StandardCharsets.US_ASCII);

  private final Clock clock = Clock.system();
  private final Selector selector = Selector.open();
  private final List<Client> clients = new ArrayList<>();
  private final Request add;
  private final byte[] head;
  private final int adds;
  private final RequestNumbers numbers;
  private long replies;
  private int busy;

  /**
   * Connects.
   *
   * @param adds in one request; one add is a request of its own, and not a bulk
   */
  public HttpLoop(int port, int adds, RequestNumbers numbers) throws IOException {
    this.adds = adds;
    this.numbers = numbers;
    String fields = "Host: localhost:%d\r\nContent-Type: application/%s\r\n";
    if (adds == 1) {
      this.head = new byte[0];
      this.add =
          Request.text(
              "POST /v1/counters/%s/add HTTP/1.1\r\n".formatted(Request.KEY)
                  + fields.formatted(port, "json")
                  + "Idempotency-Key: \"%s\"\r\nContent-Length: 11\r\n\r\n{\"delta\":1}"
                      .formatted(Request.ID));
    } else {
      this.add =
          Request.text(
              "{\"name\":\"%s\",\"delta\":1,\"id\":\"%s\"}%n".formatted(Request.KEY, Request.ID));
      String start =
          "POST /v1/counters/bulk HTTP/1.1\r\n"
              + fields.formatted(port, "x-ndjson")
              + "Content-Length: %d\r\n\r\n".formatted(adds * add.length());
      this.head = start.getBytes(StandardCharsets.US_ASCII);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
      clients.add(new Client(port));
    }
  }

  /**
   * The result of a run.
   *
   * @param adds in requests with a reply of 200
   * @param nanos from the first request to the last reply
   */
  public record Outcome(long adds, long nanos) {}

  /** Sends for {@code time}, then waits for the last replies. */
  public Outcome run(Duration time) throws IOException {
    long start = clock.nanoTime();
    for (Client client : clients) {
      busy++;
      client.send();
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
    return new Outcome(replies * adds, clock.nanoTime() - start);
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
    private final ByteBuffer out = ByteBuffer.allocateDirect(head.length + adds * add.length());
    private final ByteBuffer in = ByteBuffer.allocate(READ_BYTES);
    private long bodyLeft = -1; // of the reply; -1 before its end of header

    Client(int port) throws IOException {
      socket = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
      socket.configureBlocking(false);
      key = socket.register(selector, SelectionKey.OP_READ, this);
      out.put(head);
      for (int i = 0; i < adds; i++) {
        add.append(out, 0, Workload.KEYS_MAX);
      }
    }

    void send() throws IOException {
      for (int i = 0; i < adds; i++) {
        add.number(out, head.length + i * add.length(), numbers.next(), Workload.KEYS_MAX);
      }
      out.rewind();
      bodyLeft = -1;
      in.clear();
      write();
    }

    private void write() throws IOException {
      socket.write(out);
      int wanted =
          out.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
      if (key.interestOps() != wanted) {
        key.interestOps(wanted);
      }
    }

    void ready(boolean more) throws IOException {
      if (key.isWritable()) {
        write();
      }
      if (!key.isReadable()) {
        return;
      }
      int read = socket.read(in);
      if (read < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (bodyLeft < 0) {
        readHead();
      } else {
        bodyLeft -= read;
        in.clear();
      }
      if (bodyLeft != 0) {
        return;
      }
      replies++;
      if (more) {
        send();
      } else {
        busy--;
      }
    }

    private void readHead() {
      byte[] bytes = in.array();
      int end = in.position();
      for (int i = 3; i < end; i++) {
        if (bytes[i] == '\n' && bytes[i - 1] == '\r' && bytes[i - 2] == '\n') {
          for (int at = 0; at < OK.length; at++) {
            if (bytes[at] != OK[at]) {
              throw new IllegalStateException(
                  "not a success: " + new String(bytes, 0, end, StandardCharsets.US_ASCII));
            }
          }
          bodyLeft = length(bytes, i) - (end - i - 1);
          in.clear();
          return;
        }
      }
    }

    /** Returns the value of the header Content-Length, whose name may have capitals. */
    private static long length(byte[] bytes, int end) {
      for (int start = 0; start < end - LENGTH.length; start++) {
        int same = 0;
        while (same < LENGTH.length && (bytes[start + same] | 0x20) == (LENGTH[same] | 0x20)) {
          same++;
        }
        if (same == LENGTH.length) {
          long value = 0;
          for (int at = start + same; bytes[at] >= '0' && bytes[at] <= '9'; at++) {
            value = 10 * value + bytes[at] - '0';
          }
          return value;
        }
      }
      throw new IllegalStateException("a reply without Content-Length");
    }
  }
}
