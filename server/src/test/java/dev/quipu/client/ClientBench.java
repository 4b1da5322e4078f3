package dev.quipu.client;

import dev.quipu.Counter;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Durable adds per second to a server in another process, by ways of sending them. {@code ./dev
 * bench client} runs it, and writes the page.
 */
final class ClientBench implements AutoCloseable {
  private static final int THREADS = 1_000;
  private static final int COUNTERS = 1_000;

  /** Turns of each way before the first that counts: Java compiles the client and the server. */
  private static final int WARM_UP = 4;

  /** Connections of the raw protocols, which share the adds in flight. */
  private static final int CONNECTIONS = 2;

  private static final String CLIENT = "Quipu client";
  private static final String POSTS = "a POST for each add, java.net.http";
  private static final String BULK = "raw bulk requests";
  private static final String LETTUCE = "QUIPU.ADD by Lettuce";
  private static final String RESP = "raw pipelines of QUIPU.ADD";

  private final ServeProcess server;
  private final Quipu quipu;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final RedisClient lettuce;
  private final StatefulRedisConnection<String, String> connection;
  private final AtomicLong ids = new AtomicLong(System.nanoTime());
  private final AtomicLong applied = new AtomicLong();

  /** A way to send adds until the end of a turn. */
  private interface Worker {
    void run(int worker, long end) throws Exception;
  }

  private ClientBench(Path directory) throws IOException {
    server = ServeProcess.start(directory, 0, "--resp", "0");
    quipu = Quipu.connect(server.uri());
    lettuce = RedisClient.create("redis://127.0.0.1:" + server.redisPort());
    connection = lettuce.connect(StringCodec.ASCII);
  }

  /** Arguments: the page, rounds, and seconds of a turn. */
  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createTempDirectory("quipu-bench");
    int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
    int seconds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 3;
    try (ClientBench bench = new ClientBench(directory)) {
      String page = bench.measure(rounds, seconds);
      System.out.println(page);
      Files.writeString(Path.of(arguments[0]), page);
    } finally {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
    System.exit(0); // clients leave threads running
  }

  private String measure(int rounds, int seconds) throws Exception {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    Map<String, Worker> ways = new LinkedHashMap<>();
    ways.put(CLIENT, this::client);
    ways.put(POSTS, this::posts);
    ways.put(BULK, this::bulk);
    ways.put(LETTUCE, this::lettuce);
    ways.put(RESP, this::resp);
    Map<String, double[]> rates = new LinkedHashMap<>();
    for (Map.Entry<String, Worker> way : ways.entrySet()) {
      turn(way.getKey(), way.getValue(), WARM_UP * seconds);
      rates.put(way.getKey(), new double[rounds]);
    }
    for (int round = 0; round < rounds; round++) {
      for (Map.Entry<String, Worker> way : ways.entrySet()) {
        Objects.requireNonNull(rates.get(way.getKey()))[round] =
            turn(way.getKey(), way.getValue(), seconds);
      }
    }
    long counted = 0;
    for (int i = 0; i < COUNTERS; i++) {
      counted += quipu.counter("bench/" + i).read().map(reading -> reading.value()).orElse(0L);
    }
    if (counted != applied.get()) {
      throw new IllegalStateException(counted + " counted, " + applied + " applied");
    }
    return page(rates, rounds, seconds, load);
  }

  /** Returns adds per second in a turn. */
  private double turn(String name, Worker worker, int seconds) throws Exception {
    boolean isRaw = name.equals(BULK) || name.equals(RESP);
    long before = applied.get();
    long start = System.nanoTime();
    long end = start + seconds * 1_000_000_000L;
    List<Future<?>> running = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < (isRaw ? CONNECTIONS : THREADS); i++) {
        int place = i;
        running.add(
            executor.submit(() -> {
              worker.run(place, end);
              return 0;
            }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    double rate = (applied.get() - before) * 1e9 / (System.nanoTime() - start);
    System.err.printf(Locale.ROOT, "%-36s %,.0f%n", name, rate);
    return rate;
  }

  private RequestId id() {
    return RequestId.of(7, ids.getAndIncrement());
  }

  private void client(int worker, long end) {
    Counter counter = quipu.counter("bench/" + worker);
    while (System.nanoTime() < end) {
      applied.addAndGet(counter.add(1).orElseThrow().added());
    }
  }

  private void posts(int worker, long end) throws Exception {
    URI uri = server.uri().resolve("/v1/counters/bench%2F" + worker + "/add");
    while (System.nanoTime() < end) {
      HttpRequest request =
          HttpRequest.newBuilder(uri)
              .header("Content-Type", "application/json")
              .header("Idempotency-Key", id().text())
              .POST(HttpRequest.BodyPublishers.ofString("{\"delta\":1}"))
              .build();
      if (http.send(request, HttpResponse.BodyHandlers.ofByteArray()).statusCode() == 200) {
        applied.incrementAndGet();
      }
    }
  }

  private void bulk(int worker, long end) throws IOException {
    int each = THREADS / CONNECTIONS;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.uri().getPort())) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      while (System.nanoTime() < end) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < each; i++) {
          lines.append("{\"name\":\"bench/").append(worker * each + i);
          lines.append("\",\"delta\":1,\"id\":\"raw-").append(ids.getAndIncrement());
          lines.append("\"}\n");
        }
        String head =
            "POST /v1/counters/bulk HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type:"
                + " application/x-ndjson\r\nContent-Length: "
                + lines.length()
                + "\r\n\r\n";
        socket.getOutputStream().write((head + lines).getBytes(StandardCharsets.US_ASCII));
        byte[] reply = body(in);
        applied.addAndGet(count(reply, "\"status\":200"));
      }
    }
  }

  private static byte[] body(InputStream in) throws IOException {
    int length = 0;
    while (true) {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      for (int b = in.read(); b != '\n'; b = in.read()) {
        line.write(b);
      }
      String text = line.toString(StandardCharsets.US_ASCII).strip().toLowerCase(Locale.ROOT);
      if (text.isEmpty()) {
        return in.readNBytes(length);
      }
      if (text.startsWith("content-length:")) {
        length = Integer.parseInt(text.substring(15).strip());
      }
    }
  }

  private static int count(byte[] in, String word) {
    byte[] sought = word.getBytes(StandardCharsets.US_ASCII);
    int found = 0;
    for (int i = 0; i + sought.length <= in.length; i++) {
      if (in[i] == sought[0] && Arrays.equals(in, i, i + sought.length, sought, 0, sought.length)) {
        found++;
        i += sought.length;
      }
    }
    return found;
  }

  private static final ProtocolKeyword ADD =
      new ProtocolKeyword() {
        @Override
        public byte[] getBytes() {
          return "QUIPU.ADD".getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public String toString() {
          return "QUIPU.ADD";
        }
      };

  private void lettuce(int worker, long end) throws Exception {
    while (System.nanoTime() < end) {
      CommandArgs<String, String> arguments =
          new CommandArgs<>(StringCodec.ASCII)
              .addKey("bench/" + worker)
              .add(1)
              .add("ID")
              .add("l-" + ids.getAndIncrement());
      AsyncCommand<String, String, List<Object>> command =
          new AsyncCommand<>(
              new Command<>(ADD, new NestedMultiOutput<>(StringCodec.ASCII), arguments));
      connection.dispatch(command);
      command.get();
      applied.incrementAndGet();
    }
  }

  private void resp(int worker, long end) throws IOException {
    int each = THREADS / CONNECTIONS;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.redisPort())) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      while (System.nanoTime() < end) {
        StringBuilder commands = new StringBuilder();
        for (int i = 0; i < each; i++) {
          String key = "bench/" + (worker * each + i);
          String id = "r-" + ids.getAndIncrement();
          commands.append("*5\r\n$9\r\nQUIPU.ADD\r\n$").append(key.length()).append("\r\n");
          commands.append(key).append("\r\n$1\r\n1\r\n$2\r\nID\r\n$").append(id.length());
          commands.append("\r\n").append(id).append("\r\n");
        }
        socket.getOutputStream().write(commands.toString().getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i < each; i++) {
          applied.addAndGet(in.read() == '*' ? 1 : -1_000_000);
          for (int lines = 0; lines < 4; lines += in.read() == '\n' ? 1 : 0) {
            // the head of the array, and three numbers
          }
        }
      }
    }
  }

  private static String page(Map<String, double[]> rates, int rounds, int seconds, double load)
      throws IOException {
    StringBuilder page = new StringBuilder();
    page.append("# Benchmark of the client\n\n");
    page.append(
        """
        Durable adds per second, each under its own request id, to a server with an embedded
        engine in another process, by %,d virtual threads that add to a counter each. The raw
        protocols have as many adds in flight on %d connections, and no client: they build bytes,
        and count replies.

        Ways take turns of %d s, %d in each row: medians, and the ratio of the client to each way in
        the same round, with the least and the greatest. Only the ratios carry over to other
        machines. The counters are summed at the end: if they differ from the adds that were
        reported as applied, the run fails.

        Measured by `./dev bench client` on %s, %d cores, Java %s. The load
        average, of all that ran beside, was %.1f before the start.

        | way | adds per second | client's ratio | of rounds |
        |---|---|---|---|
        """
            .formatted(
                THREADS,
                CONNECTIONS,
                seconds,
                rounds,
                LocalDate.now(ZoneOffset.UTC),
                Runtime.getRuntime().availableProcessors(),
                Runtime.version().feature(),
                load));
    double[] client = Objects.requireNonNull(rates.get(CLIENT));
    for (Map.Entry<String, double[]> each : rates.entrySet()) {
      double[] ratios = new double[rounds];
      for (int i = 0; i < rounds; i++) {
        ratios[i] = client[i] / each.getValue()[i];
      }
      double[] sorted = Arrays.stream(each.getValue()).sorted().toArray();
      Arrays.sort(ratios);
      page.append(
          String.format(
              Locale.ROOT,
              "| %s | %,.0f | %.2f | %.2f..%.2f |%n",
              each.getKey(),
              sorted[rounds / 2],
              ratios[rounds / 2],
              ratios[0],
              ratios[rounds - 1]));
    }
    return page.toString();
  }

  @Override
  public void close() {
    quipu.close();
    http.shutdownNow();
    connection.close();
    lettuce.shutdown();
    server.close();
  }
}
