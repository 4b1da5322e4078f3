package dev.quipu.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process that runs {@code quipu serve} from the class path of the tests. */
record ServeProcess(Process process, URI uri, int redisPort) implements AutoCloseable {
  private static final Pattern READY =
      Pattern.compile("\\S+ is ready: (https?://[^,]+)(?:, rediss?://[^,]+:(\\d+))?,.*");

  /** Starts a server, and waits until it is ready. */
  static ServeProcess start(Path directory, int port, String... options) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.quipu.server.Main",
                "serve",
                "--data",
                directory.toString(),
                "--http",
                Integer.toString(port)));
    command.addAll(List.of(options));
    Process process =
        new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
    List<String> said = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      said.add(line);
      Matcher ready = READY.matcher(line);
      if (ready.matches()) {
        Thread.ofVirtual().start(() -> lines.lines().forEach(each -> {}));
        String redis = ready.group(2);
        return new ServeProcess(
            process, URI.create(ready.group(1)), redis == null ? 0 : Integer.parseInt(redis));
      }
    }
    throw new IllegalStateException("the server ended before it was ready: " + said);
  }

  /** Kills the process (SIGKILL). */
  @Override
  public void close() {
    process.toHandle().destroyForcibly();
    process.onExit().join();
  }
}
