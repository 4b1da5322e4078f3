package dev.quipu.server;

import dev.quipu.server.cli.QuipuCommand;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import picocli.CommandLine;

/** The command {@code quipu}. */
public final class Main {
  private Main() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    CommandLine line = QuipuCommand.commandLine();
    // Not System.out, which keeps failures to itself: what cannot be written must end badly.
    line.setOut(
        new PrintWriter(new FileOutputStream(FileDescriptor.out), true, System.out.charset()));
    System.exit(line.execute(args));
  }
}
