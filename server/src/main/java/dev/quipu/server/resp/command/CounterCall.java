package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Reply;

/** A command on counters with its arguments. */
public record CounterCall(RespCommand command, Arguments words) implements DeferredCommand {
  @Override
  public int bytesMax(CounterAccess counters) {
    return command.bytesMax(counters, words);
  }

  @Override
  public Reply run(CounterAccess counters) {
    if (command.handler() instanceof RespCommand.OnCounters onCounters) {
      return onCounters.run(counters, words);
    }
    throw new IllegalStateException(command.name() + " is not a command on counters");
  }
}
