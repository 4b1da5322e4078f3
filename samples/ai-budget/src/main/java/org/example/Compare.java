package org.example;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * Runs the same load on holds and on the usual Redis script, kills gateways meanwhile, and prints
 * what the model bills and what each counts.
 */
final class Compare {
  private static final int GATEWAYS = 3;
  private static final int PAUSE_MILLIS = 20;

  private final String server;
  private final int calls;
  private final int kills;
  private final String run = UUID.randomUUID().toString().substring(0, 8);
  private final LocalDate day = LocalDate.ofInstant(Instant.now(), ZoneOffset.UTC);
  private final Path log;
  private final AtomicInteger done = new AtomicInteger();
  private int starts;

  private Compare(String server, Path log, int calls, int kills) {
    this.server = server;
    this.log = log;
    this.calls = calls;
    this.kills = kills;
  }

  /** A process of a gateway, and the number of its calls that ended. */
  private record Running(Process process, Thread reader, AtomicInteger ended) {}

  /** What is left of a run, in millionths of a dollar. */
  private record Result(long calls, long billed, long counted, long loop, long held) {}

  /** Arguments: address of the server, that of Redis, number of calls, number of kills. */
  public static void main(String[] args) throws Exception {
    int calls = args.length > 2 ? Integer.parseInt(args[2]) : 150;
    int kills = args.length > 3 ? Integer.parseInt(args[3]) : 2;
    for (String each : List.of(args[0], args[1])) {
      requireServer(URI.create(each));
    }
    Result holds = result(args[0], calls, kills);
    Result script = result(args[1], calls, kills);
    row("", "holds", "script");
    row("calls that reached the model", "" + holds.calls, "" + script.calls);
    money("billed by the model", holds.billed, script.billed);
    money("counted", holds.counted, script.counted);
    money("drift", holds.counted - holds.billed, script.counted - script.billed);
    money("spent of the $1.00 of a loop", holds.loop, script.loop);
    money("still reserved", holds.held, script.held);
  }

  private static void requireServer(URI server) {
    try (Socket socket = new Socket(server.getHost(), server.getPort())) {
      socket.shutdownOutput();
    } catch (IOException e) {
      System.err.println("there is no server at " + server + "; start one");
      System.exit(1);
    }
  }

  private static Result result(String server, int calls, int kills) throws Exception {
    Path log = Files.createTempDirectory("spent");
    try {
      return new Compare(server, log, calls, kills).run();
    } finally {
      try (Stream<Path> files = Files.list(log)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(log);
    }
  }

  private static void money(String name, long one, long other) {
    row(name, Budget.dollars(one), Budget.dollars(other));
  }

  private static void row(String name, String one, String other) {
    System.out.printf("%-28s %12s %12s%n", name, one, other);
  }

  private Result run() throws Exception {
    try (Model model = new Model(false)) {
      List<Running> gateways = new ArrayList<>();
      for (int i = 0; i < GATEWAYS; i++) {
        gateways.add(start(model, calls / GATEWAYS));
      }
      for (int kill = 0; kill < kills; kill++) {
        while (done.get() < calls * (kill + 1L) / (kills + 2)
            && gateways.stream().anyMatch(each -> each.process.isAlive())) {
          Thread.sleep(PAUSE_MILLIS);
        }
        Running victim = gateways.get(kill % GATEWAYS);
        victim.process.destroyForcibly();
        victim.reader.join();
        System.err.println("a gateway was killed");
        gateways.set(
            kill % GATEWAYS, start(model, Math.max(0, calls / GATEWAYS - victim.ended.get())));
      }
      for (Running each : gateways) {
        each.reader.join();
      }
      return result(model);
    }
  }

  private Running start(Model model, int count) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Worker.class.getName(),
                server,
                model.uri().toString(),
                log.toString(),
                day.toString(),
                run,
                run + "/" + starts++,
                Integer.toString(count))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    AtomicInteger ended = new AtomicInteger();
    Thread reader =
        Thread.ofVirtual()
            .start(() -> {
              try (BufferedReader lines = process.inputReader()) {
                while (lines.readLine() != null) {
                  ended.incrementAndGet();
                  done.incrementAndGet();
                }
              } catch (IOException e) {
                // killed
              }
            });
    return new Running(process, reader, ended);
  }

  /** Returns what is left when all calls have ended and those of killed gateways are settled. */
  private Result result(Model model) throws Exception {
    List<List<Budget>> budgets = Worker.budgets(day, run);
    Budget team = budgets.getFirst().get(2);
    while (model.isBusy()) {
      Thread.sleep(PAUSE_MILLIS);
    }
    try (Guard guard = Worker.guard(server, log);
        ModelClient client = new ModelClient(model.uri())) {
      for (List<Budget> each : budgets) {
        guard.recover(each, client, true);
      }
      long loop = guard.spent(budgets.getLast().getFirst());
      return new Result(
          model.callCount(), model.invoice(), guard.spent(team), loop, guard.held(team));
    }
  }
}
