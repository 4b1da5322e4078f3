package dev.quipu.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A process that runs the packaged jar.
 *
 * @param said the lines that it logged before it was ready
 */
record QuipuProcess(Process process, URI uri, int redisPort, int memcachedPort, List<String> said)
    implements AutoCloseable {
  /** Not a variable of the process, but its maximum heap, as 64m; otherwise 512m. */
  static final String HEAP = "-Xmx";

  private static final Path JAR = Path.of("target/quipu.jar").toAbsolutePath();
  private static final Duration ANSWER_MAX = Duration.ofMinutes(5);
  private static final Pattern READY =
      Pattern.compile(
          "\\S+ is ready: (http://[^,]+)(?:, redis://[^,]+:(\\d+))?"
              + "(?:, memcached://[^,]+:(\\d+))?,.*");

  /** Starts a command and appends its output to {@code out}. */
  static Process run(Path out, String... arguments) throws IOException {
    return start(Map.of(), out, ProcessBuilder.Redirect.PIPE, arguments);
  }

  /** Starts a command with additional environment variables and discards its log. */
  static Process runWith(Map<String, String> environment, Path out, String... arguments)
      throws IOException {
    return start(environment, out, ProcessBuilder.Redirect.DISCARD, arguments);
  }

  private static Process start(
      Map<String, String> environment,
      Path out,
      ProcessBuilder.Redirect errors,
      String... arguments)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                HEAP + environment.getOrDefault(HEAP, "512m"),
                "-XX:TieredStopAtLevel=1", // short-lived
                "-jar",
                JAR.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(out.toFile()))
            .redirectError(errors);
    builder.environment().putAll(environment);
    builder.environment().remove(HEAP);
    return builder.start();
  }

  /** Starts a server on a free port and waits until it is ready. */
  static QuipuProcess serve(Path out, String... options) throws IOException {
    return serveAt(0, out, options);
  }

  /** Starts a server on a port, 0 for a free one, and waits until it is ready. */
  static QuipuProcess serveAt(int port, Path out, String... options) throws IOException {
    return serveAt(port, Map.of(), out, options);
  }

  /** Starts a server with additional environment variables and waits until it is ready. */
  static QuipuProcess serveAt(
      int port, Map<String, String> environment, Path out, String... options) throws IOException {
    List<String> command = List.of("serve", "--http", Integer.toString(port));
    return startAndAwait(environment, out, command, options);
  }

  /** Starts a SimpleDB test server on a free port and waits until it is ready. */
  static QuipuProcess simpleDb(Path out, String... options) throws IOException {
    return startAndAwait(Map.of(), out, List.of("simpledb-local", "--port", "0"), options);
  }

  private static QuipuProcess startAndAwait(
      Map<String, String> environment, Path out, List<String> command, String... options)
      throws IOException {
    List<String> arguments = new ArrayList<>(command);
    arguments.addAll(List.of(options));
    Process process =
        start(environment, out, ProcessBuilder.Redirect.PIPE, arguments.toArray(String[]::new));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
    List<String> said = new CopyOnWriteArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Matcher ready = READY.matcher(line);
      if (ready.matches()) {
        Thread.ofVirtual().start(() -> lines.lines().forEach(said::add));
        URI uri = URI.create(ready.group(1));
        return new QuipuProcess(process, uri, port(ready.group(2)), port(ready.group(3)), said);
      }
      said.add(line);
    }
    throw new IllegalStateException("it ended before it was ready: " + said);
  }

  /** Returns the port; 0 if it was not requested. */
  private static int port(@Nullable String digits) {
    return digits == null ? 0 : Integer.parseInt(digits);
  }

  /** An HTTP response. */
  record Answer(int status, String body) {}

  /** Sends a POST with JSON, or a GET without a body. */
  Answer send(String path, String body) throws IOException, InterruptedException {
    return send(path, "application/json", body);
  }

  /** Sends a POST with NDJSON. */
  Answer sendLines(String path, String lines) throws IOException, InterruptedException {
    return send(path, "application/x-ndjson", lines);
  }

  private Answer send(String path, String type, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri.resolve(path)).timeout(ANSWER_MAX);
    if (!body.isEmpty()) {
      request.header("Content-Type", type);
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return new Answer(response.statusCode(), response.body());
    }
  }

  /** Kills the process (SIGKILL). */
  @Override
  public void close() {
    process.toHandle().destroyForcibly();
    process.onExit().join();
  }
}
