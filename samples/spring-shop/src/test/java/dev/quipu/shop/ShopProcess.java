package dev.quipu.shop;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The shop in a process of its own, on one port and one directory over all of its restarts. */
final class ShopProcess implements AutoCloseable {
  /** In Maven, the property of the JVM names a jar that refers to this class path. */
  private static final String CLASS_PATH =
      System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

  private static final Duration CALL = Duration.ofSeconds(20);

  private final HttpClient client = HttpClient.newHttpClient();
  private final Path directory;
  private final int port;
  private final long ordersPerDay;
  private volatile Process process;

  ShopProcess(Path directory, long ordersPerDay) throws Exception {
    this.directory = directory;
    this.ordersPerDay = ordersPerDay;
    try (ServerSocket free = new ServerSocket(0)) {
      this.port = free.getLocalPort();
    }
    this.process = start();
  }

  /** Starts a process, and returns when it is healthy. */
  private Process start() throws Exception {
    Path log = directory.resolve("shop.log");
    Process started =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-Xmx256m",
                    "-cp",
                    CLASS_PATH,
                    ShopApplication.class.getName(),
                    "--server.port=" + port,
                    "--quipu.directory=" + directory.resolve("data"),
                    "--shop.orders-per-day=" + ordersPerDay))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    while (!isHealthy()) {
      if (!started.isAlive()) {
        throw new IllegalStateException("the shop did not start:\n" + Files.readString(log));
      }
      Thread.sleep(50);
    }
    return started;
  }

  private boolean isHealthy() throws InterruptedException {
    try {
      return call("GET", "/actuator/health", "").status() == 200;
    } catch (IOException e) {
      return false; // it does not listen yet
    }
  }

  /** Ends the process at once, as a crash does, and starts another one. */
  void killAndRestart() throws Exception {
    process.destroyForcibly().waitFor();
    process = start();
  }

  /** Ends the process by SIGTERM, after the requests that it has accepted; returns its status. */
  int terminate() throws Exception {
    process.destroy();
    if (!process.waitFor(5, TimeUnit.MINUTES)) {
      throw new IllegalStateException("the shop does not end");
    }
    return process.exitValue();
  }

  void restart() throws Exception {
    process = start();
  }

  /** A response. */
  record Response(int status, String body) {}

  /**
   * Sends a request under an id.
   *
   * @throws IOException if there is no response: the outcome is unknown
   */
  Response call(String method, String path, String id) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(CALL)
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (!id.isEmpty()) {
      request.header("Idempotency-Key", id);
    }
    var response = client.send(request.build(), BodyHandlers.ofString());
    return new Response(response.statusCode(), response.body());
  }

  @Override
  public void close() throws Exception {
    process.destroyForcibly().waitFor();
    client.close();
  }
}
