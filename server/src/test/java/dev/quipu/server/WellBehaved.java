package dev.quipu.server;

import dev.quipu.time.Clock;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A client of one port that adds with request ids and reads, one at a time. Temporary rejections
 * and lost connections are retried with the same id until the deadline.
 */
final class WellBehaved {
  static final int COUNTERS = 10;

  /** The deadline of each call; generous, since latency is measured on a quiet machine. */
  private static final Duration DEADLINE =
      Duration.ofSeconds(Integer.getInteger("attack.deadline", 60));

  private static final Duration BETWEEN = Duration.ofMillis(5);
  private static final Duration BEFORE_REPEAT = Duration.ofMillis(50);

  /** The protocol of the client. */
  enum Protocol {
    HTTP,
    RESP,
    MEMCACHED
  }

  private final Protocol protocol;
  private final Set<Integer> acknowledged = new TreeSet<>();
  private final Set<Integer> unknown = new TreeSet<>();
  private final List<String> complaints = new ArrayList<>();
  private int port;
  private @Nullable Socket socket;
  private @Nullable InputStream in;
  private long mostNanos;
  private int reads;
  private int repeats;
  private volatile int adds; // read by other threads

  WellBehaved(Protocol protocol, int port) {
    this.protocol = protocol;
    this.port = port;
  }

  /** Adds and reads until stopped. */
  void run(AtomicBoolean stop) {
    for (int number = 0; !stop.get(); number++) {
      add(number);
      if (number % 5 == 0 && serve(read(number)) != null) {
        reads++;
      }
      pause(BETWEEN);
    }
    disconnect();
  }

  private void add(int number) {
    String answer = serve(addition(number));
    if (answer == null) {
      unknown.add(number);
    } else {
      acknowledged.add(number);
      adds = acknowledged.size();
    }
  }

  /** Repeats unknown requests on another port after a restart, until all outcomes are known. */
  void settle(int at) {
    port = at;
    for (int number : List.copyOf(unknown)) {
      if (serve(addition(number)) != null) {
        unknown.remove(number);
        acknowledged.add(number);
      }
    }
    for (int number : acknowledged.stream().limit(50).toList()) { // replays do not count
      serve(addition(number));
    }
  }

  /** Compares each counter with the acknowledged adds; empty if all are exact. */
  List<String> differences() {
    List<String> differences = new ArrayList<>();
    for (int i = 0; i < COUNTERS; i++) {
      int counter = i;
      long expected = acknowledged.stream().filter(number -> number % COUNTERS == counter).count();
      String answer = serve(read(i));
      String digits = answer == null ? "none" : answer.replaceAll("[^0-9]", "");
      if (!digits.equals(Long.toString(expected)) && expected > 0) {
        differences.add("%s: %s, not %d".formatted(name(i), answer, expected));
      }
    }
    disconnect();
    return differences;
  }

  /** Returns the calls that missed the deadline. */
  List<String> complaints() {
    return complaints;
  }

  @Override
  public String toString() {
    return "%s: %d adds, %d reads, %d repeats, %d unserved, slowest %d ms"
        .formatted(
            protocol.name().toLowerCase(Locale.ROOT),
            acknowledged.size(),
            reads,
            repeats,
            complaints.size(),
            mostNanos / 1_000_000);
  }

  int adds() {
    return adds;
  }

  private String name(int number) {
    return "good-" + protocol.name().toLowerCase(Locale.ROOT) + "-" + number % COUNTERS;
  }

  private String addition(int number) {
    String id = "id-" + protocol + "-" + number;
    return switch (protocol) {
      case HTTP ->
          ("POST /v1/counters/%s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  + "Idempotency-Key: %s\r\nContent-Length: 11\r\n\r\n{\"delta\":1}")
              .formatted(name(number), id);
      case RESP -> "QUIPU.ADD %s 1 ID %s\r\n".formatted(name(number), id);
      case MEMCACHED -> "ma %s N0 J1 v O%s\r\n".formatted(name(number), id);
    };
  }

  private String read(int number) {
    return switch (protocol) {
      case HTTP ->
          "GET /v1/counters/%s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(name(number));
      case RESP -> "GET %s\r\n".formatted(name(number));
      case MEMCACHED -> "mg %s v\r\n".formatted(name(number));
    };
  }

  /** Retries until served; records a complaint and returns null after the deadline. */
  private @Nullable String serve(String request) {
    Clock clock = Clock.system();
    long start = clock.nanoTime();
    String last = "no answer";
    while (clock.nanoTime() - start < DEADLINE.toNanos()) {
      try {
        Answer answer = ask(request, start + DEADLINE.toNanos() - clock.nanoTime());
        if (answer.isGood) {
          mostNanos = Math.max(mostNanos, clock.nanoTime() - start);
          return answer.value;
        }
        last = answer.value;
      } catch (IOException e) {
        disconnect();
        last = e.toString();
      }
      repeats++;
      pause(BEFORE_REPEAT);
    }
    mostNanos = Math.max(mostNanos, clock.nanoTime() - start);
    complaints.add(request.split("\r\n", 2)[0] + ": " + last);
    return null;
  }

  private record Answer(boolean isGood, String value) {}

  private Answer ask(String request, long nanos) throws IOException {
    int millis = (int) Math.max(1, nanos / 1_000_000);
    Socket connected = socket;
    if (connected == null) {
      connected = new Socket();
      socket = connected;
      connected.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
      connected.setTcpNoDelay(true);
      in = new BufferedInputStream(connected.getInputStream());
    }
    connected.setSoTimeout(millis);
    connected.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
    return switch (protocol) {
      case HTTP -> http();
      case RESP -> resp();
      case MEMCACHED -> memcached();
    };
  }

  private Answer http() throws IOException {
    String status = line();
    int length = 0;
    for (String header = line(); !header.isEmpty(); header = line()) {
      if (header.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(header.substring(15).strip());
      }
    }
    String body = exactly(length);
    boolean isGood = status.contains(" 200 ");
    int value = body.indexOf("\"value\":\"");
    return new Answer(
        isGood, isGood ? body.substring(value + 9, body.indexOf('"', value + 9)) : status + body);
  }

  private Answer resp() throws IOException {
    String head = line();
    return switch (head.charAt(0)) {
      case '$' -> {
        String value = exactly(Math.max(0, Integer.parseInt(head.substring(1))));
        line();
        yield new Answer(true, value);
      }
      case '*' -> {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < Integer.parseInt(head.substring(1)); i++) {
          all.append(resp().value).append(' ');
        }
        yield new Answer(true, all.toString());
      }
      default -> new Answer(head.charAt(0) != '-', head);
    };
  }

  private Answer memcached() throws IOException {
    String head = line();
    if (head.startsWith("VA ")) {
      String value = exactly(Integer.parseInt(head.split(" ", 3)[1]));
      line();
      return new Answer(true, value);
    }
    return new Answer(head.startsWith("HD"), head);
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int each = next(); each != '\n'; each = next()) {
      if (each != '\r') {
        line.write(each);
      }
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  private String exactly(int length) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < length; i++) {
      bytes.write(next());
    }
    return bytes.toString(StandardCharsets.ISO_8859_1);
  }

  private int next() throws IOException {
    InputStream stream = in;
    int each = stream == null ? -1 : stream.read();
    if (each < 0) {
      throw new IOException("closed by the server");
    }
    return each;
  }

  private void disconnect() {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      // it is closed
    }
    socket = null;
  }

  private static void pause(Duration duration) {
    try {
      Clock.system().sleep(duration);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
