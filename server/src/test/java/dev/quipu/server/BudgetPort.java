package dev.quipu.server;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.StringJoiner;

/**
 * A connection to a port for holds, without retries. A call ends with a definite answer, or with an
 * exception: its outcome is unknown.
 */
final class BudgetPort implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 60_000;

  private final Socket socket;
  private final InputStream in;
  private final boolean isHttp;

  /** Definite outcomes. */
  enum Outcome {
    DONE,
    REJECTED,
    CLOSED,
    NOT_FOUND
  }

  /**
   * An answer.
   *
   * @param counter the counter whose bound was reached
   */
  record Answer(Outcome outcome, String counter) {
    private Answer(Outcome outcome) {
      this(outcome, "");
    }
  }

  /** Connects to a local port. */
  BudgetPort(int port, boolean isHttp) throws IOException {
    this.isHttp = isHttp;
    this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** Returns the bytes that place the hold of a cycle. */
  static String place(boolean isHttp, BudgetCycle cycle) {
    if (!isHttp) {
      return command(
          "QUIPU.HOLD %s %d ID %s TTL %d FLOOR 0"
              .formatted(
                  cycle.counters().getFirst(), -cycle.reserved(), cycle.id(), cycle.ttlMillis()));
    }
    StringJoiner adds = new StringJoiner(",");
    for (String counter : cycle.counters()) {
      adds.add(
          "{\"counter\":\"%s\",\"delta\":%d,\"floor\":0}".formatted(counter, -cycle.reserved()));
    }
    String body = "{\"adds\":[%s],\"ttl\":\"PT%dS\"}".formatted(adds, cycle.ttlMillis() / 1_000);
    return post("", "Idempotency-Key: \"" + cycle.id() + "\"\r\n", body);
  }

  /** Returns the bytes that settle. */
  static String settle(boolean isHttp, BudgetCycle cycle) {
    return isHttp
        ? post(path(cycle) + "/settle", "", "{\"delta\":%d}".formatted(-cycle.used()))
        : command("QUIPU.SETTLE %s %d".formatted(cycle.id(), -cycle.used()));
  }

  /** Returns the bytes that release. */
  static String release(boolean isHttp, BudgetCycle cycle) {
    return isHttp
        ? post(path(cycle) + "/release", "", "{}")
        : command("QUIPU.RELEASE " + cycle.id());
  }

  /** Returns the bytes that extend. */
  static String extend(boolean isHttp, BudgetCycle cycle) {
    return isHttp
        ? post(
            path(cycle) + "/extend", "", "{\"ttl\":\"PT%dS\"}".formatted(cycle.ttlMillis() / 1_000))
        : command("QUIPU.EXTEND %s %d".formatted(cycle.id(), cycle.ttlMillis()));
  }

  private static String path(BudgetCycle cycle) {
    return "/" + cycle.id().replace("/", "%2F");
  }

  private static String post(String path, String header, String body) {
    return ("POST /v1/holds%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s"
            + "Content-Length: %d\r\n\r\n%s")
        .formatted(path, header, body.length(), body);
  }

  private static String command(String words) {
    String[] each = words.split(" ", -1);
    StringBuilder all = new StringBuilder("*").append(each.length).append("\r\n");
    for (String word : each) {
      all.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    return all.toString();
  }

  /** Sends a request without waiting for its reply. */
  void send(String request) throws IOException {
    socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
  }

  /**
   * Sends a request and returns its answer.
   *
   * @throws IOException if the outcome is unknown
   * @throws IllegalStateException if the answer is none of those that are expected
   */
  Answer ask(String request) throws IOException {
    send(request);
    return isHttp ? httpAnswer() : redisAnswer();
  }

  private Answer httpAnswer() throws IOException {
    String status = line();
    int length = 0;
    for (String line = line(); !line.isEmpty(); line = line()) {
      if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(line.substring(15).strip());
      }
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new IOException("the connection ended within a response");
    }
    String body = new String(bytes, StandardCharsets.UTF_8);
    String code = status.split(" ", 3)[1];
    if (code.startsWith("2")) {
      return new Answer(Outcome.DONE);
    }
    if (code.startsWith("5") || code.equals("429")) {
      throw new IOException(body);
    }
    if (body.contains("/problems/hold-closed\"")) {
      return new Answer(Outcome.CLOSED);
    }
    if (body.contains("/problems/hold-not-found\"")) {
      return new Answer(Outcome.NOT_FOUND);
    }
    if (body.contains("/problems/bound-reached\"")) {
      String counter = "\"counter\":\"";
      int from = body.indexOf(counter) + counter.length();
      return new Answer(Outcome.REJECTED, body.substring(from, body.indexOf('"', from)));
    }
    throw new IllegalStateException(status + " " + body);
  }

  private Answer redisAnswer() throws IOException {
    String head = line();
    if (head.startsWith("*")) {
      for (int i = Integer.parseInt(head.substring(1)); i > 0; i--) {
        if (line().startsWith("$")) {
          line();
        }
      }
      return new Answer(Outcome.DONE);
    }
    if (head.startsWith("-CLOSED ")) {
      return new Answer(Outcome.CLOSED);
    }
    if (head.startsWith("-NOHOLD ")) {
      return new Answer(Outcome.NOT_FOUND);
    }
    if (head.startsWith("-FLOOR ")) {
      return new Answer(Outcome.REJECTED, head.substring(head.lastIndexOf(' ') + 1));
    }
    if (isUnknown(head)) {
      throw new IOException(head);
    }
    throw new IllegalStateException(head);
  }

  private static boolean isUnknown(String error) {
    return !error.startsWith("-ERR unknown command")
        && (error.toLowerCase(Locale.ROOT).contains("unknown") || error.contains("stopped"));
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int each = in.read(); each != '\n'; each = in.read()) {
      if (each < 0) {
        throw new IOException("the connection ended");
      }
      if (each != '\r') {
        line.write(each);
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
