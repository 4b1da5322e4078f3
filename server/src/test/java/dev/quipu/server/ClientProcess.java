package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A client process whose output lines are read as they appear. */
final class ClientProcess {
  private final Process process;
  private final Thread reader;

  private ClientProcess(Process process, Thread reader) {
    this.process = process;
    this.reader = reader;
  }

  static ClientProcess start(Class<?> main, List<String> arguments, Consumer<String> eachLine)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    return new ClientProcess(process, Thread.ofVirtual().start(() -> read(process, eachLine)));
  }

  private static void read(Process process, Consumer<String> eachLine) {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        eachLine.accept(line);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Kills through the handle: the process object would close the unread stream. */
  void kill() throws InterruptedException {
    process.toHandle().destroyForcibly();
    reader.join(); // until all output is read
  }

  void await() throws InterruptedException {
    reader.join();
    assertEquals(0, process.waitFor());
  }
}
