package dev.quipu.server.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator.ExtendedHandle;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Receive buffers of connections that once sent much. */
final class ReceiveMemoryTest {
  private static final int LIMIT = 100_000;
  private static final int BYTES_MAX = 64 << 10;

  private final ReceiveMemory memory = new ReceiveMemory(LIMIT);

  private ExtendedHandle handle(Channel channel) {
    memory.limit(channel);
    return (ExtendedHandle)
        channel.config().<RecvByteBufAllocator>getRecvByteBufAllocator().newHandle();
  }

  /** Receives as much as fits, and returns the size of the last buffer. */
  private static int receive(ExtendedHandle handle, int reads) {
    int size = 0;
    for (int i = 0; i < reads; i++) {
      ByteBuf buffer = handle.allocate(UnpooledByteBufAllocator.DEFAULT);
      size = buffer.capacity();
      handle.attemptedBytesRead(size);
      handle.lastBytesRead(size);
      handle.readComplete();
      buffer.release();
    }
    return size;
  }

  @Test
  void largeBuffersShareALimit() {
    List<ExtendedHandle> handles = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      handles.add(handle(new EmbeddedChannel()));
    }
    assertEquals(BYTES_MAX, receive(handles.getFirst(), 20));
    handles.stream().skip(1).forEach(each -> receive(each, 20));
    assertEquals(ReceiveMemory.FREE_BYTES, receive(handles.getLast(), 1));
    assertEquals(BYTES_MAX, receive(handles.getFirst(), 1), "it keeps its share");
    assertTrue(memory.usedBytes() <= LIMIT);
  }

  @Test
  void aClosedConnectionReturnsItsShare() {
    EmbeddedChannel closing = new EmbeddedChannel();
    ExtendedHandle handle = handle(closing);
    receive(handle, 20);
    assertEquals(BYTES_MAX - ReceiveMemory.FREE_BYTES, memory.usedBytes());
    closing.close();
    assertEquals(0, memory.usedBytes());
  }
}
