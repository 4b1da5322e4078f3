package dev.quipu.server;

import dev.quipu.server.cli.QuipuCommand;

/** The command {@code quipu}. */
public final class Main {
  private Main() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    System.exit(QuipuCommand.commandLine().execute(args));
  }
}
