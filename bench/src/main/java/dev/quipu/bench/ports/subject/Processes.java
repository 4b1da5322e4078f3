package dev.quipu.bench.ports.subject;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What the system says of processes, and where they may run. */
public final class Processes {
  /** Where each server runs that is measured. */
  public static final int SERVERS_CORE = 0;

  /** Where this process runs, which asks them. */
  public static final int OWN_CORE = 1;

  private static final double TICKS_PER_SECOND = 100; // on every Linux that there is
  private static final int USER_TIME = 11; // fields after the name; the next three are alike
  private static final int TIMES = 4;

  private Processes() {}

  /** Whether processes can be kept to one core each. Asked before this one is. */
  public static boolean canPin() {
    return Runtime.getRuntime().availableProcessors() > 1 && isThere("taskset");
  }

  /** What to put before a command to keep it to one core from its start. */
  public static List<String> pinned(int core) {
    return List.of("taskset", "--cpu-list", Integer.toString(core));
  }

  /** Whether there is such a command. */
  public static boolean isThere(String command) {
    String path = System.getenv("PATH");
    return path != null
        && Stream.of(path.split(":", -1))
            .anyMatch(directory -> Files.isExecutable(Path.of(directory, command)));
  }

  /** Keeps all threads of a process and of its children, and those to come, to one core. */
  public static void pin(long pid, int core) throws IOException, InterruptedException {
    for (long each : family(pid)) {
      pinOne(each, core);
    }
  }

  /** The same, without the children that it has. */
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

  /** Runs a command to its end; returns what it printed. */
  public static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    if (code != 0) {
      throw new IOException("%s ended with %d: %s".formatted(command, code, printed));
    }
    return printed;
  }

  /** What a process and its children have taken. */
  static Cpu cpu(long pid) throws IOException {
    if (!Files.exists(Path.of("/proc/self/stat"))) {
      return Cpu.UNKNOWN;
    }
    long user = 0;
    long kernel = 0;
    for (long each : family(pid)) {
      List<Long> ticks = ticks(each); // its own, and that of children that have ended
      user += ticks.get(0) + ticks.get(2);
      kernel += ticks.get(1) + ticks.get(3);
    }
    return new Cpu((user + kernel) / TICKS_PER_SECOND, kernel / TICKS_PER_SECOND);
  }

  private static List<Long> ticks(long pid) throws IOException {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      // The name, in brackets, may have blanks in it.
      List<String> fields = List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
      return fields.subList(USER_TIME, USER_TIME + TIMES).stream().map(Long::valueOf).toList();
    } catch (NoSuchFileException e) {
      return List.of(0L, 0L, 0L, 0L); // a child that has ended: its parent has its time
    }
  }
}
