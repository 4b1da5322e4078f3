package dev.quipu.server.cli.serve;

import dev.quipu.server.cli.QuipuCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** Runs a command in a process where another thread fills the heap, and keeps it full. */
final class FullHeap {
  private static final List<byte[]> KEPT = new ArrayList<>(1 << 20);

  private FullHeap() {}

  /** Arguments: those of the command. With the property "heap.is.freed", the heap is freed. */
  public static void main(String[] arguments) {
    boolean givesBack = Boolean.getBoolean("heap.is.freed");
    Thread.ofPlatform().start(() -> fill(givesBack));
    System.exit(QuipuCommand.commandLine().execute(arguments));
  }

  private static void fill(boolean givesBack) {
    try {
      System.in.read(); // the test has seen that the server is ready
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try {
      for (int bytes = 1 << 20; ; ) {
        try {
          while (true) {
            KEPT.add(new byte[bytes]);
          }
        } catch (OutOfMemoryError full) {
          // To fill the rest takes seconds: a process that is to continue would have ended by then.
          if (givesBack || bytes == 16) {
            throw full; // nothing at all is left
          }
          bytes = Math.max(16, bytes / 16);
        }
      }
    } finally {
      if (givesBack) {
        KEPT.clear();
      }
    }
  }
}
