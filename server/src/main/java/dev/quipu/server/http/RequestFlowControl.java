package dev.quipu.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import org.jspecify.annotations.Nullable;

/** Delays pipelined requests until the previous ones have replies. Confined to an event loop. */
final class RequestFlowControl extends ChannelDuplexHandler {
  /**
   * Longest piece that is copied, so that a partial request retains its own bytes and not a larger
   * buffer.
   */
  private static final int COPIED_BYTES_MAX = 1 << 10;

  /**
   * Maximum number of requests of one connection that are decoded before it is the turn of others.
   */
  private static final int TURN_REQUESTS = 16;

  private final Connection connection;
  private final StrictDecoder decoder;
  private @Nullable ChannelHandlerContext context;
  private @Nullable Object inputEnd;
  private boolean decoding;
  private int begun;

  RequestFlowControl(Connection connection, StrictDecoder decoder) {
    this.connection = connection;
    this.decoder = decoder;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void channelRead(ChannelHandlerContext channel, Object message) {
    ByteBuf bytes = compact((ByteBuf) message);
    connection.bytesReceived(bytes.readableBytes());
    if (connection.isPaused()) {
      channel.channel().config().setAutoRead(false);
    }
    decode(channel, bytes);
  }

  /** Ignores read requests of a paused decoder, which reads again whenever it decoded nothing. */
  @Override
  public void read(ChannelHandlerContext channel) {
    if (!connection.isPaused() || channel.channel().config().isAutoRead()) {
      channel.read();
    }
  }

  private static ByteBuf compact(ByteBuf bytes) {
    if (bytes.readableBytes() > COPIED_BYTES_MAX) {
      return bytes;
    }
    try {
      byte[] copy = new byte[bytes.readableBytes()];
      bytes.readBytes(copy);
      return Unpooled.wrappedBuffer(copy);
    } finally {
      bytes.release();
    }
  }

  /** Notes that a request was decoded. */
  void requestBegan() {
    begun++;
  }

  /** Returns whether it is the turn of the other connections of the loop. */
  boolean isTurnOver() {
    return begun >= TURN_REQUESTS;
  }

  private void decode(ChannelHandlerContext channel, ByteBuf bytes) {
    decoding = true;
    try {
      channel.fireChannelRead(bytes);
    } finally {
      decoding = false;
    }
    if (isTurnOver()) {
      channel.channel().config().setAutoRead(false);
      channel.executor().execute(this::nextTurn);
    } else {
      begun = 0;
      connection.decoded(decoder.isInHead());
    }
  }

  private void nextTurn() {
    begun = 0;
    resume();
  }

  /**
   * Decodes waiting bytes, then continues to read. Call when the connection is no longer paused.
   */
  void resume() {
    ChannelHandlerContext channel = context;
    if (decoding || channel == null || connection.isPaused()) {
      return; // the decoder continues by itself, or at the next turn
    }
    if (decoder.waitingBytes() > 0) {
      decode(channel, Unpooled.EMPTY_BUFFER);
    }
    if (connection.isPaused()) {
      return;
    }
    if (!channel.channel().config().isAutoRead()) {
      channel.channel().config().setAutoRead(true);
    }
    Object end = inputEnd;
    inputEnd = null;
    if (end != null) {
      channel.fireUserEventTriggered(end);
    }
  }

  /** Delays the end of the input until all requests before it have replies. */
  @Override
  public void userEventTriggered(ChannelHandlerContext channel, Object event) {
    if (event instanceof ChannelInputShutdownEvent && connection.isPaused()) {
      inputEnd = event;
    } else {
      channel.fireUserEventTriggered(event);
    }
  }
}
