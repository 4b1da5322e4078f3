package dev.quipu.server.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A headless Chromium that shows one page, and runs until it is closed. */
final class Chromium implements AutoCloseable {
  /** The site of the pages, which the browser resolves to a port of this machine. */
  static final String SITE = "blog.example";

  private final Process process;
  private final Path log;

  private Chromium(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /**
   * Starts a browser as visitors use it: without the marks of headless and automated browsers.
   *
   * @param program path of the program
   * @param directory empty directory of the profile
   * @param sitePort port of the server of {@link #SITE} on 127.0.0.1
   */
  static Chromium open(String program, Path directory, int sitePort, String path)
      throws IOException {
    Path log = directory.resolve("log");
    ProcessBuilder builder =
        new ProcessBuilder(
                program,
                "--headless",
                "--no-sandbox", // which root does not have
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-blink-features=AutomationControlled",
                "--user-agent=Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0",
                "--host-resolver-rules=MAP %s 127.0.0.1:%d, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
                    .formatted(SITE, sitePort),
                "--user-data-dir=" + directory.resolve("profile"),
                "http://" + SITE + path)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().put("HOME", directory.toString());
    builder.environment().put("TMPDIR", directory.toString());
    return new Chromium(builder.start(), log);
  }

  /**
   * Checks that the browser runs.
   *
   * @throws AssertionError with its output, if it does not
   */
  void check() throws IOException {
    if (!process.isAlive()) {
      List<String> lines = Files.readAllLines(log);
      throw new AssertionError(
          "the browser exited with %d: %s".formatted(process.exitValue(), lines));
    }
  }

  /** Kills it, and waits until none of its processes writes to the profile. */
  @Override
  public void close() {
    List<ProcessHandle> all =
        Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    all.forEach(each -> each.onExit().join());
  }
}
