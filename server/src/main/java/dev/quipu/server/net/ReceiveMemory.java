package dev.quipu.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator.DelegatingHandle;
import io.netty.channel.RecvByteBufAllocator.ExtendedHandle;
import io.netty.util.UncheckedBooleanSupplier;

/*
 * With io_uring, a buffer is allocated for the next read of each connection before its client sends
 * anything, as large as the last reads suggest. Thousands of connections that once sent much, then
 * nothing, would hold all direct memory.
 */

/**
 * Bounds the receive buffers of all connections: each has a small one, larger ones share a limit.
 * Thread-safe.
 */
public final class ReceiveMemory {
  /** Size of a receive buffer that needs no reservation. */
  static final int FREE_BYTES = 4 << 10;

  private static final int BYTES_MIN = 512;
  private static final int BYTES_FIRST = 2 << 10;
  private static final int BYTES_MAX = 64 << 10;

  private final ByteLimit limit;

  ReceiveMemory(long limitBytes) {
    this.limit = new ByteLimit(limitBytes);
  }

  /** Sets the size of the receive buffers of a new connection. */
  public void limit(Channel channel) {
    RecvByteBufAllocator sizes =
        new AdaptiveRecvByteBufAllocator(BYTES_MIN, BYTES_FIRST, BYTES_MAX);
    Sized handle = new Sized((ExtendedHandle) sizes.newHandle());
    channel.config().setRecvByteBufAllocator(() -> handle);
    channel.closeFuture().addListener(closed -> handle.hold(0));
  }

  /** Returns the reserved bytes. */
  long usedBytes() {
    return limit.used().get();
  }

  /** The sizes of one connection. Confined to its event loop. */
  private final class Sized extends DelegatingHandle implements ExtendedHandle {
    private final ExtendedHandle sizes;
    private int held;

    Sized(ExtendedHandle sizes) {
      super(sizes);
      this.sizes = sizes;
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator allocator) {
      int bytes = sizes.guess();
      return allocator.ioBuffer(hold(bytes) ? bytes : FREE_BYTES);
    }

    /** Reserves a buffer of this size in place of the one before; returns whether it could. */
    boolean hold(int bytes) {
      int wanted = Math.max(0, bytes - FREE_BYTES);
      limit.release(held);
      held = limit.tryReserve(wanted) ? wanted : 0;
      return held == wanted;
    }

    @Override
    public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
      return sizes.continueReading(maybeMoreData);
    }
  }
}
