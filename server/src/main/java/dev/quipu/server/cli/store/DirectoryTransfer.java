package dev.quipu.server.cli.store;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.transfer.DirectoryExport;
import dev.quipu.engine.transfer.DirectoryImport;
import dev.quipu.engine.transfer.Entry;
import dev.quipu.server.cli.input.BoundedLines;
import dev.quipu.server.cli.input.EntryLine;
import dev.quipu.server.cli.output.Output;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/** Exports and imports of complete data directories, as lines of JSON. */
public final class DirectoryTransfer {
  private static final String SHA_256 = "sha256";

  /** Longest line, in characters: an item with many tokens is long. */
  private static final int LINE_LENGTH_MAX = 256 << 20;

  private DirectoryTransfer() {}

  /** Prints a directory, and in the last line the SHA-256 of the lines before it. */
  public static void export(Path directory, Output output) {
    MessageDigest digest = sha256();
    output.together(() ->
        DirectoryExport.read(
            directory,
            entry -> {
              Map<String, Object> members = EntryLine.members(entry);
              if (entry instanceof Entry.End) {
                members.put(SHA_256, HexFormat.of().formatHex(digest.digest()));
                output.printJson(members);
              } else {
                String line = Output.json(members);
                update(digest, line);
                output.printJsonLine(line);
              }
            }));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every platform has it
    }
  }

  private static void update(MessageDigest digest, String line) {
    digest.update((line + "\n").getBytes(StandardCharsets.UTF_8));
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
    MessageDigest digest = sha256();
    try (DirectoryImport target = DirectoryImport.begin(directory)) {
      for (long number = 1; lines.next(); number++) {
        try {
          String line = lines.line();
          EntryLine.Parsed parsed = EntryLine.parse(line);
          if (parsed.entry() instanceof Entry.End) {
            requireSame(HexFormat.of().formatHex(digest.digest()), parsed.sha256());
          }
          update(digest, line);
          target.add(parsed.entry());
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

  private static void requireSame(String found, String stated) {
    if (!found.equals(stated)) {
      throw new IllegalArgumentException(
          "sha256: the lines before it have another one: the file is damaged or was edited; export again");
    }
  }
}
