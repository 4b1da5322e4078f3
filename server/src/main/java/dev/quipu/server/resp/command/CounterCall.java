package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Reply;

/** One command on counters and its words. */
public record CounterCall(RespCommand command, Arguments words) implements DeferredCommand {
  @Override
  public int bytesMax(CounterAccess turn) {
    return command.bytesMax(turn, words);
  }

  @Override
  public Reply on(CounterAccess turn) {
    if (command.handler() instanceof RespCommand.OnCounters onCounters) {
      return onCounters.run(turn, words);
    }
    throw new IllegalStateException(command.name() + " is not about counters");
  }
}
