package dev.quipu.server.cli.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** When lines are flushed: each on its own, or many together. */
final class OutputTest {
  private final Flushed flushed = new Flushed();
  private final Printing command = new Printing();

  OutputTest() {
    new CommandLine(command).setOut(new PrintWriter(flushed, true));
  }

  @Command(name = "printing")
  private static final class Printing implements Callable<Integer> {
    @Mixin private Output output = new Output();

    @Override
    public Integer call() {
      return 0;
    }

    void print(int lines) {
      IntStream.range(0, lines).forEach(i -> output.print("line " + i, Map.of()));
    }
  }

  /** Text that was flushed, and how often. */
  private static final class Flushed extends StringWriter {
    private int times;

    @Override
    public void flush() {
      times++;
    }
  }

  private static String lines(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "line " + i + System.lineSeparator())
        .reduce("", String::concat);
  }

  @Test
  void aLineIsFlushed() {
    command.print(5);
    assertEquals(lines(5), flushed.toString());
    assertEquals(5, flushed.times);
  }

  @Test
  void manyLinesAreFlushedTogether() {
    command.output.together(() -> command.print(2_500));
    assertEquals(lines(2_500), flushed.toString());
    assertEquals(3, flushed.times);
    command.print(1);
    assertEquals(4, flushed.times);
  }

  @Test
  void linesBeforeAFailureAreFlushed() {
    assertThrows(
        IllegalStateException.class,
        () ->
            command.output.together(() -> {
              command.print(2);
              throw new IllegalStateException();
            }));
    assertEquals(lines(2), flushed.toString());
    assertEquals(1, flushed.times);
  }
}
