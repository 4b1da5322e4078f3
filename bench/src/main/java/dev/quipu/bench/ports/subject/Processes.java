package dev.quipu.bench.ports.subject;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads the processor time of processes and sets their affinity. */
public final class Processes {
  /** The core of the measured servers. */
  public static final int SERVERS_CORE = 0;

  /** The core of this process, which generates the load. */
  public static final int OWN_CORE = 1;

  private static final double TICKS_PER_SECOND = 100; // USER_HZ of Linux
  private static final int USER_TIME = 11; // index after the name; the next three are times too
  private static final int TIMES = 4;

  private Processes() {}

  /** Returns whether processes can be pinned to a core; call it before this one is pinned. */
  public static boolean canPin() {
    return Runtime.getRuntime().availableProcessors() > 1 && isThere("taskset");
  }

  /** Returns the prefix of a command that pins it to a core from its start. */
  public static List<String> pinned(int core) {
    return List.of("taskset", "--cpu-list", Integer.toString(core));
  }

  /** Returns whether a command is installed. */
  public static boolean isThere(String command) {
    String path = System.getenv("PATH");
    return path != null
        && Stream.of(path.split(":", -1))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, command)));
  }

  /** Pins all threads of a process and of its children, also future ones, to a core. */
  public static void pin(long pid, int core) throws IOException, InterruptedException {
    for (long each : family(pid)) {
      pinOne(each, core);
    }
  }

  /** Pins all threads of a process, without its existing children, to a core. */
  public static void pinOne(long pid, int core) throws IOException, InterruptedException {
    run(List.of("taskset", "--all-tasks", "--cpu-list", "--pid", "" + core, Long.toString(pid)));
  }

  private static List<Long> family(long pid) {
    List<Long> pids = new ArrayList<>(List.of(pid));
    ProcessHandle.of(pid).stream()
        .flatMap(ProcessHandle::descendants)
        .forEach(each -> pids.add(each.pid()));
    return pids;
  }

  /** Runs a command; returns its output. */
  public static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    if (code != 0) {
      throw new IOException("%s exited with code %d: %s".formatted(command, code, printed));
    }
    return printed;
  }

  /** Returns the processor time of a process and its children. */
  static Cpu cpu(long pid) throws IOException {
    if (!Files.exists(Path.of("/proc/self/stat"))) {
      return Cpu.UNKNOWN;
    }
    long user = 0;
    long kernel = 0;
    for (long each : family(pid)) {
      List<Long> ticks = ticks(each); // its own, and that of terminated children
      user += ticks.get(0) + ticks.get(2);
      kernel += ticks.get(1) + ticks.get(3);
    }
    return new Cpu((user + kernel) / TICKS_PER_SECOND, kernel / TICKS_PER_SECOND);
  }

  private static List<Long> ticks(long pid) throws IOException {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      // The name, in parentheses, may contain blanks.
      List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
      return fields.subList(USER_TIME, USER_TIME + TIMES).stream().map(Long::valueOf).toList();
    } catch (NoSuchFileException e) {
      return List.of(0L, 0L, 0L, 0L); // a terminated child: its parent includes its time
    }
  }
}
