package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.quipu.testkit.pace.Progress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A line-based interactive process that must produce output, or exit, regularly. */
public final class ToolProcess implements AutoCloseable {
  private final Process process;
  private final BlockingQueue<Optional<String>> coming = new LinkedBlockingQueue<>();
  private final List<String> said = new ArrayList<>();

  private ToolProcess(Process process) {
    this.process = process;
  }

  /** Starts a process; its standard error is merged into its output. */
  public static ToolProcess start(Path directory, List<String> command) throws IOException {
    ToolProcess tool =
        new ToolProcess(
            new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start());
    Thread.ofVirtual().start(tool::read);
    return tool;
  }

  private void read() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        coming.add(Optional.of(line));
      }
    } catch (IOException e) {
      coming.add(Optional.of(e.toString()));
    }
    coming.add(Optional.empty());
  }

  /** Writes to its standard input. */
  public void send(String text) {
    try {
      Writer to = process.outputWriter(StandardCharsets.UTF_8);
      to.write(text);
      to.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("output: " + said, e);
    }
  }

  private boolean takes() throws InterruptedException {
    Optional<String> line = coming.poll(Progress.STALL_MAX.toMillis(), TimeUnit.MILLISECONDS);
    if (line == null) {
      close();
      return fail("no output for %s; before: %s".formatted(Progress.STALL_MAX, said));
    }
    line.ifPresent(said::add);
    return line.isPresent();
  }

  /** Waits for an output line. */
  public void awaitLine(String line) throws InterruptedException {
    while (takes()) {
      if (said.getLast().equals(line)) {
        return;
      }
    }
    fail("it ended without '%s'; output: %s".formatted(line, said));
  }

  /** Closes its input, waits for its exit and returns its output. */
  public List<String> await(int exit) throws InterruptedException, IOException {
    process.outputWriter(StandardCharsets.UTF_8).close();
    while (takes()) {
      // until its end
    }
    assertEquals(exit, process.waitFor(), () -> String.join("\n", said));
    return said;
  }

  /** Kills through the handle: the process object would close the unread stream. */
  @Override
  public void close() {
    process.toHandle().destroyForcibly();
  }
}
