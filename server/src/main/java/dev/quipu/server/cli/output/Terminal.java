package dev.quipu.server.cli.output;

import java.io.IOException;
import java.nio.file.Path;

/** Detects a terminal. */
public final class Terminal {
  private Terminal() {}

  /** Returns whether standard error is a terminal that can show progress. */
  public static boolean isStandardError() {
    if ("dumb".equals(System.getenv("TERM"))) {
      return false;
    }
    try {
      String target = Path.of("/proc/self/fd/2").toRealPath().toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException e) { // not Linux, or a pipe
      return false;
    }
  }
}
