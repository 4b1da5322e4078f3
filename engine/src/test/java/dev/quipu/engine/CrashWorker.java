package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A process to be killed: several clients add to an engine, each request under an id, and print
 * each acknowledgement to standard output.
 */
final class CrashWorker {
  static final int CLIENTS = 4;
  static final int COUNTERS = 5;
  static final int BATCH = 10;

  /** Small sizes, so that segments, generations and snapshots end all the time. */
  static final EngineOptions OPTIONS =
      EngineOptions.defaults()
          .withLog(1 << 20, 2 << 20)
          .withIdsInMemoryMax(2_048)
          .withDurability(durability(System.getProperty("durability", "fsync")));

  private CrashWorker() {}

  private static Durability durability(String name) {
    return switch (name) {
      case "none" -> Durability.NONE;
      case "interval" -> new Durability.Interval(Duration.ofMillis(50));
      default -> Durability.FSYNC;
    };
  }

  /** Returns the {@code number}th request of a client in a run. */
  static Add request(int run, int client, int number) {
    String counter = "counter-" + (client + number) % COUNTERS;
    return new Add(counter, 1 + number % 3, RequestId.of(run + "/" + client + "/" + number));
  }

  /**
   * Arguments: directory, number of the run; to check instead of add, also the number of requests
   * to check per client.
   */
  public static void main(String[] arguments) throws Exception {
    int run = Integer.parseInt(arguments[1]);
    PrintStream out = new PrintStream(System.out, true);
    if (arguments.length > 2) {
      look(Path.of(arguments[0]), run, arguments, out);
      return;
    }
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

  /** Prints the outcomes of requests and the values of all counters. */
  private static void look(Path directory, int run, String[] arguments, PrintStream out) {
    try (Engine engine = Engine.open(directory, OPTIONS)) {
      for (int client = 0; client < CLIENTS; client++) {
        int until = Integer.parseInt(arguments[2 + client]);
        for (int number = 0; number < until; number++) {
          Add add = request(run, client, number);
          RequestOutcome outcome = engine.outcome(add.counter(), Objects.requireNonNull(add.id()));
          long added = outcome instanceof RequestOutcome.Applied applied ? applied.added() : 0;
          out.println("request " + client + " " + number + " " + added);
        }
      }
      for (int i = 0; i < COUNTERS; i++) {
        String counter = "counter-" + i;
        long value = engine.read(counter).map(Reading::value).orElse(0L);
        out.println("value " + counter + " " + value);
      }
      out.println("end");
    }
  }

  private static void work(Engine engine, int run, int client, PrintStream out) {
    for (int number = 0; ; number += BATCH) {
      List<Add> adds = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        adds.add(request(run, client, number + i));
      }
      for (ItemResult result : engine.addAll(adds)) {
        if (!(result.result() instanceof AddResult.Applied)) {
          throw new IllegalStateException("a new request was answered " + result);
        }
      }
      out.println(client + " " + (number + BATCH));
    }
  }
}
