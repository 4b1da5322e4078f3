package dev.quipu.server.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.NotAppliedException;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.net.MemoryBudget;
import dev.quipu.server.net.PortMeter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/** Commands whose commit fails are counted by what is known about their effect. */
final class PortMeterTest {
  private static PortMeter afterCommit(QuipuException failure) {
    PortMeter meter = new PortMeter();
    MemoryBudget budget = new MemoryBudget(1 << 20);
    Deque<Runnable> later = new ArrayDeque<>();
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new CommandConnection(
                new Bytes(),
                new LoopCommits(
                    later::add,
                    later::add,
                    operations -> {
                      throw failure;
                    },
                    cause -> {}),
                new ConnectionMemory(budget, 0),
                budget.connections().enter("a port", new EmbeddedChannel(), 0, false).orElseThrow(),
                meter,
                cause -> {}));
    channel.writeInbound(Unpooled.wrappedBuffer(new byte[3]));
    while (!later.isEmpty()) {
      later.poll().run();
    }
    return meter;
  }

  @Test
  void aCommitWithAnUnknownOutcomeIsCounted() {
    PortMeter meter = afterCommit(new OutcomeUnknownException(Reason.TIMEOUT, "lost", null));
    assertEquals(3, meter.unknowns());
    assertEquals(0, meter.errors());
    assertEquals(0, meter.successes());
  }

  @Test
  void aCommitWithoutEffectIsAnError() {
    PortMeter meter = afterCommit(new NotAppliedException(Reason.UNAVAILABLE, "stopped"));
    assertEquals(0, meter.unknowns());
    assertEquals(3, meter.errors());
    assertEquals(0, meter.successes());
  }

  /** Each byte is a command. */
  private static final class Bytes implements CommandDecoder {
    @Override
    public boolean decode(ByteBuf in, Batch batch) {
      if (!in.isReadable()) {
        return false;
      }
      in.skipBytes(1);
      batch.add(new Nothing());
      return true;
    }

    @Override
    public boolean isError(ByteBuf replies, int at) {
      return false;
    }

    @Override
    public boolean isEnding() {
      return false;
    }

    @Override
    public boolean hasPartialCommand() {
      return false;
    }

    @Override
    public long heldBytes() {
      return 0;
    }

    @Override
    public long keptBytes() {
      return 0;
    }

    @Override
    public void answered() {}

    @Override
    public void trim() {}

    @Override
    public void outOfMemory(Batch batch) {}

    @Override
    public void closed(Batch last) {}
  }

  /** Does and answers nothing. */
  private static final class Nothing implements PendingCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      return 0;
    }

    @Override
    public void run(CounterAccess counters, ByteBuf out) {}

    @Override
    public void failed(RuntimeException why, ByteBuf out) {}
  }
}
