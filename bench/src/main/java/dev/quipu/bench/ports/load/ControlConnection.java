package dev.quipu.bench.ports.load;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A blocking connection for setup before and checks after a load. */
public final class ControlConnection implements AutoCloseable {
  private static final int BATCH = 500; // to keep the buffers of both sides from filling up

  private final Dialect dialect;
  private final Socket socket;
  private final InputStream in;

  public ControlConnection(int port, Dialect dialect) throws IOException {
    this.dialect = dialect;
    this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
    this.in = new BufferedInputStream(socket.getInputStream());
    socket.setTcpNoDelay(true);
  }

  /** Loads a script; returns its digest for EVALSHA. */
  String script(String text) {
    try {
      send(Request.respText("SCRIPT", "LOAD", text));
      String length = line();
      if (!length.startsWith("$")) {
        throw new IllegalStateException("SCRIPT LOAD: " + length);
      }
      return line();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sets all keys to 0: memcached increments existing keys only. */
  public void setAll(int keys) throws IOException {
    for (int from = 0; from < keys; from += BATCH) {
      StringBuilder sets = new StringBuilder();
      for (int i = from; i < from + BATCH; i++) {
        sets.append("set ").append(Request.key(i)).append(" 0 0 1\r\n0\r\n");
      }
      send(sets.toString());
      for (int i = 0; i < BATCH; i++) {
        String answer = line();
        if (!answer.equals("STORED")) {
          throw new IllegalStateException("set: " + answer);
        }
      }
    }
  }

  /** Adds 1 to other keys than those of a workload, over the Redis protocol. */
  public void addToOthers(int keys) throws IOException {
    pipeline(keys, i -> Request.respText("INCR", "other:" + i));
  }

  /** Creates keys, which expire within some seconds, over the Redis protocol. */
  public void expireAll(int keys, int seconds) throws IOException {
    pipeline(
        keys, i -> Request.respText("SET", "expiring:" + i, "1", "EX", "" + (1 + i % seconds)));
  }

  private void pipeline(int requests, IntFunction<String> request) throws IOException {
    for (int at = 0; at < requests; at += BATCH) {
      int end = Math.min(requests, at + BATCH);
      send(IntStream.range(at, end).mapToObj(request).collect(Collectors.joining()));
      for (int i = at; i < end; i++) {
        String answer = line();
        if (!answer.startsWith(":") && !answer.equals("+OK")) {
          throw new IllegalStateException(answer);
        }
      }
    }
  }

  /** Returns the sum of the counters. */
  public long sum(int keys) throws IOException {
    long sum = 0;
    for (int from = 0; from < keys; from += BATCH) {
      StringBuilder gets = new StringBuilder();
      for (int i = from; i < from + BATCH; i++) {
        String key = Request.key(i);
        gets.append(dialect.isMemcached() ? "get " + key + "\r\n" : Request.respText("GET", key));
      }
      send(gets.toString());
      for (int i = 0; i < BATCH; i++) {
        sum += dialect.isMemcached() ? memcachedValue() : respValue();
      }
    }
    return sum;
  }

  private long respValue() throws IOException {
    String length = line();
    if (length.equals("$-1") || length.equals("_")) {
      return 0;
    }
    if (!length.startsWith("$")) {
      throw new IllegalStateException("GET: " + length);
    }
    return Long.parseLong(line());
  }

  private long memcachedValue() throws IOException {
    String head = line();
    if (head.equals("END")) {
      return 0;
    }
    if (!head.startsWith("VALUE ")) {
      throw new IllegalStateException("get: " + head);
    }
    long value = Long.parseLong(line().strip());
    String end = line();
    if (!end.equals("END")) {
      throw new IllegalStateException("get: " + end);
    }
    return value;
  }

  private void send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int each = in.read(); each != '\n'; each = in.read()) {
      if (each < 0) {
        throw new EOFException("the server closed the connection");
      }
      line.write(each);
    }
    return line.toString(StandardCharsets.US_ASCII).strip();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
