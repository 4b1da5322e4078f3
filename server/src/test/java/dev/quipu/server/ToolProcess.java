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

/** A program that is told lines and says lines; it must say something, or end, now and then. */
public final class ToolProcess implements AutoCloseable {
  private final Process process;
  private final BlockingQueue<Optional<String>> coming = new LinkedBlockingQueue<>();
  private final List<String> said = new ArrayList<>();

  private ToolProcess(Process process) {
    this.process = process;
  }

  /** Starts it; what it says on standard error counts as said too. */
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

  /** Tells it something. */
  public void tell(String text) {
    try {
      Writer to = process.outputWriter(StandardCharsets.UTF_8);
      to.write(text);
      to.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("it said " + said, e);
    }
  }

  private boolean takes() throws InterruptedException {
    Optional<String> line = coming.poll(Progress.STALL_MAX.toMillis(), TimeUnit.MILLISECONDS);
    if (line == null) {
      close();
      return fail("it said nothing for %s, and before: %s".formatted(Progress.STALL_MAX, said));
    }
    line.ifPresent(said::add);
    return line.isPresent();
  }

  /** Waits until it has said this line. */
  public void awaitLine(String line) throws InterruptedException {
    while (takes()) {
      if (said.getLast().equals(line)) {
        return;
      }
    }
    fail("it ended without '%s', and had said %s".formatted(line, said));
  }

  /** Tells it that no more comes, waits for its end, and gives all it said. */
  public List<String> await(int exit) throws InterruptedException, IOException {
    process.outputWriter(StandardCharsets.UTF_8).close();
    while (takes()) {
      // until its end
    }
    assertEquals(exit, process.waitFor(), () -> String.join("\n", said));
    return said;
  }

  /** By its handle: the process itself would close the stream that is still to be read. */
  @Override
  public void close() {
    process.toHandle().destroyForcibly();
  }
}
