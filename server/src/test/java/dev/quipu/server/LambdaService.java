package dev.quipu.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Emulates the environment of a Lambda function: the runtime API, and a process with the runtime of
 * AWS and the handler, restarted after each crash.
 */
final class LambdaService implements AutoCloseable {
  private static final String API = "/2018-06-01/runtime/";
  private static final String RUNTIME =
      "com.amazonaws.services.lambda.runtime.api.client.AWSLambda";
  private static final Path JAR = Path.of("target/quipu.jar").toAbsolutePath();
  private static final long POLL_MILLIS = 100;
  private static final long ANSWER_SECONDS_MAX = Progress.STALL_MAX.toSeconds();

  private final HttpServer api;
  private final SynchronousQueue<String> invocations = new SynchronousQueue<>();
  private final SynchronousQueue<Optional<String>> results = new SynchronousQueue<>();
  private final AtomicInteger waiting = new AtomicInteger(); // runtimes waiting for an invocation
  private final String handler;
  private final Map<String, String> environment;
  private Process process;
  private int starts;

  LambdaService(String handler, Map<String, String> environment) throws IOException {
    this.handler = handler;
    this.environment = environment;
    api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    api.createContext(API, this::answer);
    api.start();
    process = run();
  }

  private Process run() throws IOException {
    starts++;
    String path = System.getProperty("java.class.path");
    if (Files.exists(JAR)) { // otherwise the tests run without a build
      path =
          Arrays.stream(path.split(File.pathSeparator, -1))
                  .filter(each -> each.contains("aws-lambda-java"))
                  .collect(Collectors.joining(File.pathSeparator))
              + File.pathSeparator
              + JAR;
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-Xmx256m", "--enable-native-access=ALL-UNNAMED", "-cp", path, RUNTIME, handler));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder
        .environment()
        .putAll(
            Map.of(
                "AWS_LAMBDA_RUNTIME_API",
                "127.0.0.1:" + api.getAddress().getPort(),
                "_HANDLER",
                handler,
                "LAMBDA_TASK_ROOT",
                Path.of("target").toAbsolutePath().toString(),
                "AWS_LAMBDA_FUNCTION_NAME",
                "views",
                "AWS_LAMBDA_FUNCTION_VERSION",
                "1",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
                "256",
                "AWS_LAMBDA_LOG_GROUP_NAME",
                "group",
                "AWS_LAMBDA_LOG_STREAM_NAME",
                "stream",
                "AWS_REGION",
                "us-east-1"));
    builder.environment().putAll(environment);
    return builder.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath().substring(API.length());
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (path.equals("invocation/next")) {
        waiting.incrementAndGet();
        try {
          give(exchange);
        } finally {
          waiting.decrementAndGet();
        }
        return;
      }
      if (path.endsWith("/response")) {
        results.offer(Optional.of(body), POLL_MILLIS, TimeUnit.MILLISECONDS);
      } else if (path.endsWith("/error")) {
        results.offer(Optional.empty(), POLL_MILLIS, TimeUnit.MILLISECONDS);
      }
      exchange.sendResponseHeaders(202, -1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      exchange.close();
    }
  }

  /** Gives the next invocation to a waiting runtime; nothing to a dead one. */
  private void give(HttpExchange exchange) throws IOException, InterruptedException {
    ProcessHandle runtime = process.toHandle();
    String event = null;
    while (event == null && runtime.isAlive()) {
      event = invocations.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
    }
    if (event == null) {
      return;
    }
    byte[] bytes = event.getBytes(StandardCharsets.UTF_8);
    exchange
        .getResponseHeaders()
        .add("Content-Type", "application/json"); // required by the runtime
    exchange.getResponseHeaders().add("Lambda-Runtime-Aws-Request-Id", "request-" + starts);
    exchange
        .getResponseHeaders()
        .add("Lambda-Runtime-Deadline-Ms", Long.toString(Long.MAX_VALUE / 1_000_000));
    exchange
        .getResponseHeaders()
        .add("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:1:function:views");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  /** Returns a queue message in the form that the function receives. */
  static Map<String, Object> message(String id, String receipt, String body) {
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("messageId", id);
    message.put("receiptHandle", receipt);
    message.put("body", body);
    message.put("attributes", Map.of());
    message.put("messageAttributes", Map.of());
    message.put("eventSource", "aws:sqs");
    message.put("eventSourceARN", "arn:aws:sqs:us-east-1:1:views");
    message.put("awsRegion", "us-east-1");
    return message;
  }

  /** Returns the result of the function; empty if it failed or crashed. */
  Optional<String> invoke(String event) throws Exception {
    if (!process.isAlive()) {
      process = run();
    }
    for (long i = 0; !invocations.offer(event, POLL_MILLIS, TimeUnit.MILLISECONDS); i++) {
      if (!process.isAlive() || i * POLL_MILLIS > ANSWER_SECONDS_MAX * 1_000) {
        return Optional.empty();
      }
    }
    for (long i = 0; i * POLL_MILLIS < ANSWER_SECONDS_MAX * 1_000; i++) {
      Optional<String> result = results.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
      if (result != null) {
        return result;
      }
      if (!process.isAlive()) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /** Kills the process; its successor gets the next invocation. */
  void crash() throws InterruptedException {
    process.destroyForcibly().onExit().join();
    while (waiting.get() > 0) {
      Clock.system().sleep(Duration.ofMillis(10));
    }
  }

  int starts() {
    return starts;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    api.stop(0);
  }
}
