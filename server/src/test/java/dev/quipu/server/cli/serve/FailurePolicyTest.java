package dev.quipu.server.cli.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.QuipuException;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.server.cli.input.Stopping;
import dev.quipu.server.cli.output.ExitCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a process whose engine or memory fails. */
final class FailurePolicyTest {
  private static final Pattern READY = Pattern.compile(".* is ready: (http://[^,]+),.*");

  @TempDir Path directory;

  @Test
  void aStoppedEngineEndsTheProcess() throws Exception {
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      CompletableFuture<Integer> code = new CompletableFuture<>();
      FailurePolicy policy = FailurePolicy.start(FailurePolicy.Action.exit, code::complete);
      policy.watch(engine);
      engine.stop(new IOException("the disk is gone"));
      assertEquals(ExitCode.FAILURE, code.get());
    }
  }

  @Test
  void anErrorOfAThreadStopsTheEngine() throws Exception {
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      CompletableFuture<Integer> code = new CompletableFuture<>();
      FailurePolicy policy = FailurePolicy.start(FailurePolicy.Action.exit, code::complete);
      policy.watch(engine);
      policy.onUncaught(Thread.currentThread(), new IllegalStateException("no reason to stop"));
      engine.add(new Add("a", 1, Bounds.none(), null));
      policy.onUncaught(Thread.currentThread(), new OutOfMemoryError("on purpose"));
      assertEquals("on purpose", engine.failure().orElseThrow().getMessage());
      assertThrows(QuipuException.class, () -> engine.add(new Add("a", 1, Bounds.none(), null)));
      assertEquals(ExitCode.FAILURE, code.get());
    }
  }

  /** Once memory is exhausted, every step may fail again. */
  @Test
  void aSecondErrorStillStopsTheOtherEngineAndTheProcess() throws Exception {
    OutOfMemoryError error = new OutOfMemoryError("on purpose");
    for (boolean isOfMain : new boolean[] {false, true}) {
      Path data = directory.resolve("main " + isOfMain);
      try (Engine first = Engine.open(data.resolve("a"), EngineOptions.defaults());
          Engine second = Engine.open(data.resolve("b"), EngineOptions.defaults())) {
        CompletableFuture<Integer> code = new CompletableFuture<>();
        FailurePolicy policy = FailurePolicy.start(FailurePolicy.Action.exit, code::complete);
        policy.watch(first);
        policy.watch(second);
        first.onFailure(cause -> {
          throw new OutOfMemoryError("again");
        });
        if (isOfMain) {
          policy.endWith(error);
          assertTrue(code.isDone());
        } else {
          policy.onUncaught(Thread.currentThread(), error);
        }
        assertEquals(ExitCode.FAILURE, code.get());
        assertEquals(error, second.failure().orElseThrow());
      }
    }
  }

  /** The policy ends the process; here it continues. */
  @Test
  void anOutOfMemoryErrorAtTheReadyMessageDoesNotEndTheProcess() throws Exception {
    AtomicReference<VirtualMachineError> taken = new AtomicReference<>();
    OutOfMemoryError error = new OutOfMemoryError("on purpose");
    Runnable ready =
        () -> {
          throw error;
        };
    CountDownLatch ended = new CountDownLatch(1);
    Thread main =
        Thread.ofPlatform()
            .start(() -> {
              Stopping.await(ready, () -> {}, taken::set);
              ended.countDown();
            });
    while (main.getState() != Thread.State.WAITING && ended.getCount() > 0) {
      Thread.onSpinWait();
    }
    assertEquals(error, taken.get());
    assertEquals(1, ended.getCount(), "it ended");
    main.interrupt();
    ended.await();
  }

  @ParameterizedTest
  @ValueSource(strings = {"engine", "memory:"})
  void aFullHeapEndsTheProcess(String store) throws Exception {
    String uri = store.equals("engine") ? "engine:" + directory.resolve("data") : store;
    Process process = start(false, "--store", uri);
    try {
      BufferedReader lines = process.errorReader(StandardCharsets.UTF_8);
      fillWhenReady(process, lines);
      List<String> result = lines.lines().toList();
      assertEquals(ExitCode.FAILURE, process.waitFor(), result.toString());
      assertEquals(
          1, result.stream().filter(line -> line.contains("ailed")).count(), result::toString);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void onFailureServeRespondsWithTheReason() throws Exception {
    Process process =
        start(true, "--store", "engine:" + directory.resolve("data"), "--on-failure", "serve");
    try (HttpClient client = HttpClient.newHttpClient()) {
      BufferedReader lines = process.errorReader(StandardCharsets.UTF_8);
      URI uri = fillWhenReady(process, lines);
      awaitFailed(lines);
      HttpRequest add =
          HttpRequest.newBuilder(uri.resolve("/v1/counters/a/add"))
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString("{\"delta\":1}"))
              .build();
      assertEquals(503, answer(process, client, add).statusCode());
      assertTrue(answer(process, client, add).body().contains("OutOfMemoryError"));
      HttpResponse<String> ready = get(process, client, uri.resolve("/readyz"));
      assertEquals(503, ready.statusCode());
      assertTrue(ready.body().contains("OutOfMemoryError"), ready.body());
      assertEquals(503, get(process, client, uri.resolve("/v1/counters/a")).statusCode());
      assertEquals(200, get(process, client, uri.resolve("/livez")).statusCode());
    } finally {
      process.destroyForcibly();
    }
  }

  /** The process ends if its ports no longer respond. */
  @Test
  void aProcessThatCannotRespondEndsInSpiteOfServe() throws Exception {
    Process process =
        start(false, "--store", "engine:" + directory.resolve("data"), "--on-failure", "serve");
    try {
      BufferedReader lines = process.errorReader(StandardCharsets.UTF_8);
      URI unused = fillWhenReady(process, lines);
      List<String> result = lines.lines().toList();
      assertEquals(ExitCode.FAILURE, process.waitFor(), result.toString());
      assertTrue(result.getLast().contains("no longer responds"), result::toString);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void connectionsAreClosedOnlyToFreeMemory() throws Exception {
    CountDownLatch asked = new CountDownLatch(2);
    AtomicInteger closed = new AtomicInteger();
    for (Throwable cause : List.of(new IOException("on purpose"), new OutOfMemoryError("too"))) {
      FailurePolicy policy = FailurePolicy.start(FailurePolicy.Action.serve, code -> {});
      policy.keepAnswering(
          closed::incrementAndGet,
          () -> {
            asked.countDown();
            return true;
          });
      policy.onError(cause);
    }
    asked.await();
    assertEquals(1, closed.get());
  }

  private static URI fillWhenReady(Process process, BufferedReader lines) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Matcher ready = READY.matcher(line);
      if (ready.matches()) {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return URI.create(ready.group(1));
      }
    }
    throw new AssertionError("it ended before it was ready");
  }

  /** The log entry, or the last words of a process that had no memory for it. */
  private static void awaitFailed(BufferedReader lines) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.toLowerCase(Locale.ROOT).contains("restart the process")) {
        return;
      }
    }
    throw new AssertionError("it ended without a word");
  }

  private static HttpResponse<String> get(Process process, HttpClient client, URI uri)
      throws Exception {
    return answer(process, client, HttpRequest.newBuilder(uri).build());
  }

  /** Repeats a request whose connection is closed: the process closes all to free memory. */
  private static HttpResponse<String> answer(
      Process process, HttpClient client, HttpRequest request) throws Exception {
    while (true) {
      try {
        return client.send(request, HttpResponse.BodyHandlers.ofString());
      } catch (IOException closed) {
        assertTrue(process.isAlive(), () -> process.errorReader().lines().toList().toString());
      }
    }
  }

  private static Process start(boolean isHeapFreed, String... options) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-Dheap.is.freed=" + isHeapFreed,
                "-cp",
                System.getProperty("java.class.path"),
                FullHeap.class.getName(),
                "serve",
                "--http",
                "0"));
    command.addAll(List.of(options));
    return new ProcessBuilder(command).start();
  }
}
