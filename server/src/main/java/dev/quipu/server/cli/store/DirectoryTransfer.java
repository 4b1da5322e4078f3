package dev.quipu.server.cli.store;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.transfer.DirectoryExport;
import dev.quipu.engine.transfer.DirectoryImport;
import dev.quipu.server.cli.input.BoundedLines;
import dev.quipu.server.cli.input.EntryLine;
import dev.quipu.server.cli.output.Output;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Exports and imports of complete data directories, as lines of JSON. */
public final class DirectoryTransfer {
  /** Longest line, in characters: an item with many tokens is long. */
  private static final int LINE_LENGTH_MAX = 256 << 20;

  private DirectoryTransfer() {}

  /** Prints a directory. */
  public static void export(Path directory, Output output) {
    DirectoryExport.read(directory, entry -> output.printJson(EntryLine.members(entry)));
  }

  /**
   * Creates a directory from the lines of an export; creates none if it fails.
   *
   * @return the number of entries
   * @throws IllegalArgumentException if a line is invalid, or the last one is missing
   */
  public static long importAll(InputStream in, Path directory) throws IOException {
    BoundedLines lines =
        new BoundedLines(
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)), LINE_LENGTH_MAX);
    try (DirectoryImport target = DirectoryImport.begin(directory)) {
      for (long number = 1; lines.next(); number++) {
        try {
          target.add(EntryLine.parse(lines.line()));
        } catch (IllegalArgumentException | ArithmeticException e) {
          throw new NotAppliedException(
              Reason.INVALID,
              "line %d: %s; the directory was not created".formatted(number, e.getMessage()),
              e);
        }
      }
      return target.end();
    } catch (IllegalArgumentException e) {
      throw new NotAppliedException(
          Reason.INVALID, e.getMessage() + "; the directory was not created", e);
    }
  }
}
