package dev.quipu.engine;

import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import dev.quipu.engine.environment.Disk;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Explains why a directory cannot be opened. */
final class OpenFailure {
  private OpenFailure() {}

  static NotAppliedException of(Disk disk, Path directory, IOException e) {
    Reason reason = isFull(disk, directory, e) ? Reason.FULL : Reason.UNAVAILABLE;
    String message =
        "cannot open %s: %s".formatted(directory, why(e, "it cannot be created there"));
    return new NotAppliedException(reason, message, e);
  }

  /** Returns the failure of a command that only reads. */
  static NotAppliedException unreadable(Path directory, IOException e) {
    String message =
        "cannot read %s: %s".formatted(directory, why(e, "a file is missing: " + e.getMessage()));
    return new NotAppliedException(Reason.UNAVAILABLE, message, e);
  }

  /** Returns the failure for data that exceed the heap. */
  static NotAppliedException tooLarge(Path directory, OutOfMemoryError e) {
    long heap = Runtime.getRuntime().maxMemory() >> 20;
    return new NotAppliedException(
        Reason.FULL,
        ("cannot open %s: its data do not fit into the heap of %d MiB. Start with a larger one, such"
                + " as JAVA_OPTS=-Xmx%dm")
            .formatted(directory, heap, 2 * heap),
        e);
  }

  private static String why(IOException e, String ifMissing) {
    return switch (e) {
      case FileAlreadyExistsException isFile -> "it is a file, not a directory";
      case AccessDeniedException denied -> "no permission for " + denied.getFile();
      case NoSuchFileException ignored -> ifMissing;
      default -> String.valueOf(e.getMessage());
    };
  }

  private static boolean isFull(Disk disk, Path directory, IOException e) {
    try {
      return disk.usableBytes(directory) < 1 << 20
          || String.valueOf(e.getMessage()).contains("No space left");
    } catch (IOException unreadable) {
      return false;
    }
  }
}
