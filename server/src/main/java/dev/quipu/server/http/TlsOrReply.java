package dev.quipu.server.http;

import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.OptionalSslHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * Encrypts a connection. A client that sends HTTP without TLS gets an error: after a close without
 * a reply, it would repeat its request until a timeout.
 */
final class TlsOrReply extends OptionalSslHandler {
  /** Time in which the client can read the reply. */
  private static final int LINGER_SECONDS = 2;

  /** Time until the first bytes, after which Netty limits the handshake. */
  private static final int FIRST_SECONDS_MAX = 10;

  TlsOrReply(SslContext context) {
    super(context);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) throws Exception {
    super.handlerAdded(context);
    Runnable check =
        () -> {
          if (!context.isRemoved()) {
            context.close();
          }
        };
    context.executor().schedule(check, FIRST_SECONDS_MAX, TimeUnit.SECONDS);
  }

  @Override
  protected ChannelHandler newNonSslHandler(ChannelHandlerContext context) {
    return new Reply();
  }

  /** Replies to the first bytes, and ignores the others. */
  private static final class Reply extends ChannelInboundHandlerAdapter {
    private boolean isDone;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ReferenceCountUtil.release(message);
      if (!isDone) {
        isDone = true;
        context.writeAndFlush(reply()).addListener(written -> end(context));
      }
    }

    private static void end(ChannelHandlerContext context) {
      ((DuplexChannel) context.channel()).shutdownOutput();
      context.executor().schedule(() -> context.close(), LINGER_SECONDS, TimeUnit.SECONDS);
    }

    private static ByteBuf reply() {
      Problem problem =
          new Problem(
                  400,
                  "tls-required",
                  "TLS required",
                  "this port accepts HTTPS only; use a URL with https://")
              .ofWrite();
      HttpReply reply = HttpReply.of(problem);
      String head =
          ("HTTP/1.1 400 Bad Request\r\nContent-Type: %s\r\n"
                  + "Content-Length: %d\r\nConnection: close\r\n\r\n")
              .formatted(reply.type(), reply.length());
      return Unpooled.wrappedBuffer(
          head.getBytes(StandardCharsets.US_ASCII), reply.parts().getFirst());
    }
  }
}
