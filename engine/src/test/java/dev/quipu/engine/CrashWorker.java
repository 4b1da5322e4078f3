package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.RequestId;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A process to be killed: several clients add on an engine, each request under an id, and each
 * acknowledgement is told on standard output.
 */
final class CrashWorker {
  static final int CLIENTS = 4;
  static final int COUNTERS = 5;
  static final int BATCH = 10;

  /** Small enough that segments, generations and snapshots end all the time. */
  static final EngineOptions OPTIONS =
      EngineOptions.defaults().withLog(1 << 20, 2 << 20).withIdsInMemoryMax(2_048);

  private CrashWorker() {}

  /** The request that a client makes as its {@code number}th of a run. */
  static Add request(int run, int client, int number) {
    String counter = "counter-" + (client + number) % COUNTERS;
    return new Add(counter, 1 + number % 3, RequestId.of(run + "/" + client + "/" + number));
  }

  /** Arguments: directory, number of the run. */
  public static void main(String[] arguments) throws Exception {
    int run = Integer.parseInt(arguments[1]);
    PrintStream out = new PrintStream(System.out, true);
    try (Engine engine = Engine.open(Path.of(arguments[0]), OPTIONS)) {
      List<Thread> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        clients.add(Thread.ofPlatform().start(() -> work(engine, run, client, out)));
      }
      out.println("ready");
      for (Thread each : clients) {
        each.join();
      }
    }
  }

  private static void work(Engine engine, int run, int client, PrintStream out) {
    for (int number = 0; ; number += BATCH) {
      List<Add> adds = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        adds.add(request(run, client, number + i));
      }
      for (AddResult result : engine.addAll(adds)) {
        if (!(result instanceof AddResult.Applied)) {
          throw new IllegalStateException("a new request was answered " + result);
        }
      }
      out.println(client + " " + (number + BATCH));
    }
  }
}
