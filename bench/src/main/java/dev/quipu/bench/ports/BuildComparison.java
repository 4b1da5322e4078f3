package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.AddKind;
import dev.quipu.bench.ports.load.Dialect;
import dev.quipu.bench.ports.load.RequestNumbers;
import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Processes;
import dev.quipu.bench.ports.subject.QuipuServer;
import dev.quipu.bench.ports.subject.WireSubject;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Compares this build of the server with another one. */
public final class BuildComparison implements AutoCloseable {
  private static final int ROUNDS = 10;
  private static final int SECONDS = 1;

  private final Deque<Closeable> running = new ArrayDeque<>();
  private final RequestNumbers numbers = new RequestNumbers();
  private final boolean pinned = Processes.canPin();
  private final Path other;

  private BuildComparison(Path other) throws Exception {
    this.other = other;
    if (pinned) {
      Processes.pinOne(ProcessHandle.current().pid(), Processes.OWN_CORE);
    }
  }

  /**
   * Runs all measurements of the comparison.
   *
   * @param arguments the other build's jar; then rounds and seconds per turn, if not the defaults
   * @param machine date and machine, for the header
   * @return the page
   */
  public static String measure(List<String> arguments, String machine) throws Exception {
    Path other = Path.of(arguments.isEmpty() ? "" : arguments.getFirst());
    if (!Files.isRegularFile(other)) {
      throw new IllegalArgumentException("the first argument must be the jar of another build");
    }
    int rounds = arguments.size() < 2 ? ROUNDS : Integer.parseInt(arguments.get(1));
    int seconds = arguments.size() < 3 ? SECONDS : Integer.parseInt(arguments.get(2));
    StringBuilder page =
        new StringBuilder(
            """
            # This build compared with another

            Adds per second over the wire, %d rounds in turns of %d s, on %s. The other build runs
            twice: a difference between its two rows is noise.
            %s\
            """
                .formatted(rounds, seconds, machine, Ports.COLUMNS));
    for (String durability : List.of("fsync", "none")) {
      try (BuildComparison compare = new BuildComparison(other)) {
        List<WireSubject> subjects = compare.subjects(durability);
        for (AddKind kind : AddKind.values()) {
          for (int pipeline : durability.equals("fsync") ? List.of(1, 16, 128) : List.of(128)) {
            Workload workload = new Workload(kind, Workload.KEYS_MAX, pipeline);
            page.append(
                new Comparison(workload, subjects).run(rounds, Duration.ofSeconds(seconds)).rows());
          }
        }
      }
    }
    return page.toString();
  }

  private List<WireSubject> subjects(String durability) throws Exception {
    List<WireSubject> subjects = new ArrayList<>();
    Path own = Path.of(QuipuServer.jar());
    for (Path jar : List.of(own, other, other)) {
      List<String> before = pinned ? Processes.pinned(Processes.SERVERS_CORE) : List.of();
      QuipuServer server =
          QuipuServer.start(jar.toString(), before, false, List.of("--durability", durability));
      running.push(server::close);
      String name = (jar.equals(own) ? "this, " : "other, ") + durability;
      subjects.add(new WireSubject(name, Dialect.QUIPU, server.port(), server.pid(), numbers));
    }
    return subjects;
  }

  @Override
  public void close() throws IOException {
    while (!running.isEmpty()) {
      running.pop().close();
    }
  }
}
