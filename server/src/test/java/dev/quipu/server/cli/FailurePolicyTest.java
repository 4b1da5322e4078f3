package dev.quipu.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.engine.Engine;
import dev.quipu.engine.EngineOptions;
import dev.quipu.store.StoreException;
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

/** What becomes of a process whose engine, or whose memory, fails. */
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
      assertThrows(StoreException.class, () -> engine.add(new Add("a", 1, Bounds.none(), null)));
      assertEquals(ExitCode.FAILURE, code.get());
    }
  }

  /** Once memory is exhausted, every step may fail again. */
  @Test
  void aSecondErrorKeepsNeitherTheOtherEngineNorTheProcess() throws Exception {
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

  /** How the process ends is then for the policy: here it goes on. */
  @Test
  void noMemoryToSayThatItIsReadyDoesNotEndTheProcess() throws Exception {
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
      List<String> said = lines.lines().toList();
      assertEquals(ExitCode.FAILURE, process.waitFor(), said.toString());
      assertEquals(1, said.stream().filter(line -> line.contains("ailed")).count(), said::toString);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void withOnFailureServeTheReasonIsAnswered() throws Exception {
    Process process =
        start(true, "--store", "engine:" + directory.resolve("data"), "--on-failure", "serve");
    try (HttpClient client = HttpClient.newHttpClient()) {
      BufferedReader lines = process.errorReader(StandardCharsets.UTF_8);
      URI uri = fillWhenReady(process, lines);
      for (String line = lines.readLine(); !line.contains("Restart the process"); ) {
        line = lines.readLine();
      }
      HttpRequest add =
          HttpRequest.newBuilder(uri.resolve("/v1/counters/a/add"))
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString("{\"delta\":1}"))
              .build();
      assertEquals(503, answer(client, add).statusCode());
      assertTrue(answer(client, add).body().contains("OutOfMemoryError"));
      HttpResponse<String> ready = get(client, uri.resolve("/readyz"));
      assertEquals(503, ready.statusCode());
      assertTrue(ready.body().contains("OutOfMemoryError"), ready.body());
      assertEquals(503, get(client, uri.resolve("/v1/counters/a")).statusCode());
      assertEquals(200, get(client, uri.resolve("/livez")).statusCode());
    } finally {
      process.destroyForcibly();
    }
  }

  /** A port that only keeps its clients waiting is worse than none. */
  @Test
  void aProcessThatCannotAnswerEndsThoughItWasToServe() throws Exception {
    Process process =
        start(false, "--store", "engine:" + directory.resolve("data"), "--on-failure", "serve");
    try {
      BufferedReader lines = process.errorReader(StandardCharsets.UTF_8);
      URI unused = fillWhenReady(process, lines);
      List<String> said = lines.lines().toList();
      assertEquals(ExitCode.FAILURE, process.waitFor(), said.toString());
      assertTrue(said.getLast().contains("cannot answer any more"), said::toString);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void connectionsAreClosedForMemoryAlone() throws Exception {
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

  private static HttpResponse<String> get(HttpClient client, URI uri) throws Exception {
    return answer(client, HttpRequest.newBuilder(uri).build());
  }

  private static HttpResponse<String> answer(HttpClient client, HttpRequest request)
      throws Exception {
    return client.send(request, HttpResponse.BodyHandlers.ofString());
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
