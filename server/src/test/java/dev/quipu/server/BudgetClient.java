package dev.quipu.server;

import dev.quipu.server.BudgetPort.Answer;
import dev.quipu.server.BudgetPort.Outcome;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A client that reserves and settles, in a process that may be killed. It writes each step to a
 * file of its own, before and after; its successor repeats the cycle that is not complete.
 *
 * <p>Lines of the file, with times in nanoseconds that all processes share: {@code B n time} before
 * a hold is placed and {@code b n time} before it is settled; {@code P}, {@code S} and {@code R}
 * with {@code n, begin, end, outcome, counter} when it was placed, settled or released, where the
 * times are those of the answered attempt; {@code E n} after the cycle.
 */
final class BudgetClient {
  private static final Duration RETRY = Duration.ofMillis(5);
  private static final Clock CLOCK = Clock.system();

  private final String run;
  private final int number;
  private final int port;
  private final OutputStream journal;
  private @Nullable BudgetPort connection;

  private BudgetClient(String run, int number, int port, OutputStream journal) {
    this.run = run;
    this.number = number;
    this.port = port;
    this.journal = journal;
  }

  /** Returns whether a client uses the HTTP port; others use the Redis port. */
  static boolean isHttp(int client) {
    return client % 2 == 0;
  }

  /** Returns the file of a client of a run. */
  static Path journal(Path directory, String run, int client) {
    return directory.resolve(run + "-" + client);
  }

  /** Runs clients; arguments: run, HTTP port, Redis port, directory, cycles, clients. */
  public static void main(String[] args) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 5; i < args.length; i++) {
      int client = Integer.parseInt(args[i]);
      int port = Integer.parseInt(args[isHttp(client) ? 1 : 2]);
      threads.add(
          Thread.ofPlatform()
              .start(() ->
                  run(
                      args[0],
                      client,
                      port,
                      Path.of(args[3]),
                      Integer.parseInt(args[4]),
                      BudgetClient::print)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void print(int cycle) {
    System.out.print("\n"); // one line for each cycle
    System.out.flush();
  }

  /**
   * Runs the cycles of a client that its file does not contain.
   *
   * @param eachCycle receives the number of each complete cycle
   */
  static void run(
      String run, int client, int port, Path directory, int cycles, IntConsumer eachCycle) {
    Path file = journal(directory, run, client);
    try (OutputStream journal =
        Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      BudgetClient running = new BudgetClient(run, client, port, journal);
      for (int cycle = next(file); cycle < cycles; cycle++) {
        running.run(cycle);
        running.log("E " + cycle);
        eachCycle.accept(cycle);
      }
      running.disconnect();
    } catch (IOException e) {
      throw new IllegalStateException(file + " cannot be written", e);
    }
  }

  /** Returns the first cycle that the file does not contain completely. */
  private static int next(Path file) throws IOException {
    int next = 0;
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith("E ")) {
        next = Integer.parseInt(line.substring(2)) + 1;
      }
    }
    return next;
  }

  private void log(String line) throws IOException {
    journal.write((line + "\n").getBytes(StandardCharsets.UTF_8)); // not buffered
  }

  private BudgetCycle cycle(int cycle) {
    return BudgetCycle.of(run, number, cycle, !isHttp(number));
  }

  private void run(int number) throws IOException {
    BudgetCycle cycle = cycle(number);
    log("B " + number + " " + CLOCK.nanoTime());
    switch (cycle.kind()) {
      case LEAVES_EARLY -> sendAndLeave(BudgetPort.place(isHttp(), cycle));
      case LEAVES, LATE -> place(number, cycle);
      case CANCELED_PLACE -> {
        sendAndLeave(BudgetPort.place(isHttp(), cycle));
        place(number, cycle);
        release(number, cycle);
      }
      case SETTLE -> {
        if (place(number, cycle)) {
          settle(number, cycle, false);
        }
      }
      case EXTEND -> {
        if (place(number, cycle)) {
          Answer unused = ask(BudgetPort.extend(isHttp(), cycle)).answer;
          settle(number, cycle, false);
        }
      }
      case CANCELED_SETTLE -> {
        if (place(number, cycle)) {
          settle(number, cycle, true);
        }
      }
      case RELEASE -> {
        if (place(number, cycle)) {
          release(number, cycle);
          settle(number, cycle, false);
        }
      }
    }
    settleLate(number - BudgetCycle.LATE_BY);
  }

  /** Settles an earlier hold that expires about now, if it was placed. */
  private void settleLate(int number) throws IOException {
    BudgetCycle late = number < 0 ? null : cycle(number);
    if (late != null && late.kind() == BudgetCycle.Kind.LATE) {
      settle(number, late, false);
    }
  }

  private boolean isHttp() {
    return isHttp(number);
  }

  /** A definite answer and the times of its attempt. */
  private record Call(Answer answer, long begin, long end) {}

  private boolean place(int number, BudgetCycle cycle) throws IOException {
    Call call = ask(BudgetPort.place(isHttp(), cycle));
    log('P', number, call);
    return call.answer.outcome() == Outcome.DONE;
  }

  private void settle(int number, BudgetCycle cycle, boolean isCanceledFirst) throws IOException {
    String request = BudgetPort.settle(isHttp(), cycle);
    log("b " + number + " " + CLOCK.nanoTime());
    if (isCanceledFirst) {
      sendAndLeave(request);
    }
    log('S', number, ask(request));
  }

  private void release(int number, BudgetCycle cycle) throws IOException {
    log('R', number, ask(BudgetPort.release(isHttp(), cycle)));
  }

  private void log(char what, int number, Call call) throws IOException {
    log(
        "%c %d %d %d %s %s"
            .formatted(
                what, number, call.begin, call.end, call.answer.outcome(), call.answer.counter()));
  }

  /** Repeats a request until its answer is definite. */
  private Call ask(String request) {
    while (true) {
      long begin = CLOCK.nanoTime();
      try {
        Answer answer = connected().ask(request);
        return new Call(answer, begin, CLOCK.nanoTime());
      } catch (IOException e) {
        disconnect();
        pause();
      }
    }
  }

  /** Sends a request and closes the connection without reading the reply. */
  private void sendAndLeave(String request) {
    try {
      connected().send(request);
    } catch (IOException e) {
      // as if it were canceled before it was sent
    }
    disconnect();
  }

  private BudgetPort connected() throws IOException {
    BudgetPort open = connection;
    if (open == null) {
      open = new BudgetPort(port, isHttp());
      connection = open;
    }
    return open;
  }

  private void disconnect() {
    BudgetPort open = connection;
    connection = null;
    try {
      if (open != null) {
        open.close();
      }
    } catch (IOException e) {
      // closed anyway
    }
  }

  private static void pause() {
    try {
      CLOCK.sleep(RETRY);
    } catch (InterruptedException e) {
      throw new IllegalStateException("a client is killed, not interrupted", e);
    }
  }
}
