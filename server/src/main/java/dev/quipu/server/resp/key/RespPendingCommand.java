package dev.quipu.server.resp.key;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.protocol.PendingCommand;
import dev.quipu.server.resp.wire.Reply;
import io.netty.buffer.ByteBuf;

/**
 * A command, on its way to its answer.
 *
 * @param protocol that was spoken when it came: 2 or 3
 */
public record RespPendingCommand(NamedCommand call, int protocol) implements PendingCommand {
  @Override
  public int bytesMax(CounterAccess turn) {
    return call.bytesMax(turn);
  }

  @Override
  public void run(CounterAccess turn, ByteBuf out) {
    Reply reply = call.reply(turn);
    if (call.isDone()) {
      reply.write(out, protocol);
    }
  }

  @Override
  public boolean isDone() {
    return call.isDone();
  }

  @Override
  public void failed(RuntimeException why, ByteBuf out) {
    call.failure(why).write(out, protocol);
  }
}
