package dev.quipu.server.cli.output;

import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that prints a result, as text or as JSON. */
public abstract class ResultCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  protected CommandSpec command;

  @Mixin protected Output output = new Output();
}
