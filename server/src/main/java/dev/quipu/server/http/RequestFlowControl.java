package dev.quipu.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import org.jspecify.annotations.Nullable;

/** Holds back what a client sends ahead of the answers. Lives on an event loop. */
final class RequestFlowControl extends ChannelDuplexHandler {
  /**
   * What comes in pieces up to here is copied: until the request is complete, it then holds its own
   * bytes, and not a buffer for many more.
   */
  private static final int COPIED_BYTES_MAX = 1 << 10;

  /** Requests of one connection that are decoded before others have their turn. */
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
    connection.bytesCame(bytes.readableBytes());
    if (connection.isPaused()) {
      channel.channel().config().setAutoRead(false);
    }
    decode(channel, bytes);
  }

  /**
   * A decoder asks for more when it has decoded nothing; while it is paused, it must not have it.
   */
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

  /** Takes note that a request was decoded. */
  void requestBegan() {
    begun++;
  }

  /** Whether the other connections of the loop have their turn. */
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

  /** Decodes what has waited, then reads on. To be called when the connection is paused no more. */
  void resume() {
    ChannelHandlerContext channel = context;
    if (decoding || channel == null || connection.isPaused()) {
      return; // the decoder goes on by itself, or at the next turn
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

  /** The end of the input counts when all requests before it were answered. */
  @Override
  public void userEventTriggered(ChannelHandlerContext channel, Object event) {
    if (event instanceof ChannelInputShutdownEvent && connection.isPaused()) {
      inputEnd = event;
    } else {
      channel.fireUserEventTriggered(event);
    }
  }
}
