package dev.quipu.server.resp.key;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.protocol.PendingCommand;
import dev.quipu.server.resp.wire.Reply;
import io.netty.buffer.ByteBuf;

/**
 * A command and the protocol version of its reply.
 *
 * @param protocol 2 or 3
 */
public record RespPendingCommand(NamedCommand call, int protocol) implements PendingCommand {
  @Override
  public int bytesMax(CounterAccess counters) {
    return call.bytesMax(counters);
  }

  @Override
  public void touch(CounterAccess counters) {
    call.touch(counters);
  }

  @Override
  public void run(CounterAccess counters, ByteBuf out) {
    Reply reply = call.reply(counters);
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
