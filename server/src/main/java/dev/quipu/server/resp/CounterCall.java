package dev.quipu.server.resp;

import dev.quipu.engine.CounterTurn;

/** One command on counters and its words. */
record CounterCall(RespCommand command, Arguments words) implements Later {
  @Override
  public int bytesMax(CounterTurn turn) {
    return command.bytesMax(turn, words);
  }

  @Override
  public Reply on(CounterTurn turn) {
    RespCommand.OnCounters does = command.onCounters();
    if (does == null) {
      throw new IllegalStateException(command.name() + " is not about counters");
    }
    return does.run(turn, words);
  }
}
