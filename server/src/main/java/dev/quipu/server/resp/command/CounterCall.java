package dev.quipu.server.resp.command;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.wire.Later;
import dev.quipu.server.resp.wire.Reply;

/** One command on counters and its words. */
public record CounterCall(RespCommand command, Arguments words) implements Later {
  @Override
  public int bytesMax(CounterAccess turn) {
    return command.bytesMax(turn, words);
  }

  @Override
  public Reply on(CounterAccess turn) {
    RespCommand.OnCounters does = command.onCounters();
    if (does == null) {
      throw new IllegalStateException(command.name() + " is not about counters");
    }
    return does.run(turn, words);
  }
}
