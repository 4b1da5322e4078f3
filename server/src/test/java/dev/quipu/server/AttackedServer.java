package dev.quipu.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server process with all three ports on a small heap. */
record AttackedServer(Process process, int http, int resp, int memcached, Deque<String> log)
    implements AutoCloseable {
  private static final Path JAR = Path.of("target/quipu.jar").toAbsolutePath();
  private static final int LOG_LINES_MAX = 20;
  private static final Pattern READY =
      Pattern.compile(
          ".* is ready: (http://[^,]+), redis://[^,]+:(\\d+), memcached://[^,]+:(\\d+),.*");

  /** Starts the server on a directory and waits until it is ready. */
  static AttackedServer start(Path data) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + System.getProperty("attack.heap", "128m"),
                "--enable-native-access=ALL-UNNAMED"));
    if (Files.exists(JAR)) {
      command.addAll(List.of("-jar", JAR.toString()));
    } else { // before it is packaged
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    }
    command.addAll(List.of("serve", "--http", "0", "--resp", "0", "--memcached", "0", "--data"));
    command.add(data.toString());
    Process process =
        new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    BufferedReader lines = process.errorReader(StandardCharsets.UTF_8);
    Deque<String> log = new ConcurrentLinkedDeque<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Matcher ready = READY.matcher(line);
      if (ready.matches()) {
        Thread.ofPlatform().daemon().start(() -> lines.lines().forEach(each -> keep(log, each)));
        int http = URI.create(ready.group(1)).getPort();
        int resp = Integer.parseInt(ready.group(2));
        return new AttackedServer(process, http, resp, Integer.parseInt(ready.group(3)), log);
      }
      keep(log, line);
    }
    throw new IllegalStateException("it ended before it was ready: " + new ArrayDeque<>(log));
  }

  private static void keep(Deque<String> log, String line) {
    log.addLast(line.length() > 500 ? line.substring(0, 500) : line);
    if (log.size() > LOG_LINES_MAX) {
      log.pollFirst();
    }
  }

  int port(WellBehaved.Protocol protocol) {
    return switch (protocol) {
      case HTTP -> http;
      case RESP -> resp;
      case MEMCACHED -> memcached;
    };
  }

  List<Integer> ports() {
    return List.of(http, resp, memcached);
  }

  /** Kills the process (SIGKILL). */
  @Override
  public void close() {
    process.toHandle().destroyForcibly();
    process.onExit().join();
  }
}
