package dev.quipu.bench.ports.subject;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;

/**
 * The least that a server on Netty does for a request: it reads all of it, and sends the same bytes
 * each time. It counts nothing, and is the upper limit of what a server on Netty can reach.
 */
public final class MinimalHttp {
  private static final int BODY_BYTES_MAX = 64 << 10;
  private static final byte[] REPLY =
      "{\"name\":\"c:00000000\",\"value\":\"123456\",\"added\":\"1\",\"replayed\":false}"
          .getBytes(StandardCharsets.US_ASCII);

  private MinimalHttp() {}

  /** Serves until the process ends; prints its port on a line of its own. */
  public static void main(String[] arguments) {
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    Channel listener =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .childHandler(new Handlers())
            .bind(InetAddress.getLoopbackAddress(), 0)
            .syncUninterruptibly()
            .channel();
    System.out.println(((java.net.InetSocketAddress) listener.localAddress()).getPort());
  }

  private static final class Handlers extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      channel
          .pipeline()
          .addLast(new HttpServerCodec(), new HttpObjectAggregator(BODY_BYTES_MAX), new Replies());
    }
  }

  private static final class Replies extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      ByteBuf body = Unpooled.wrappedBuffer(REPLY);
      FullHttpResponse reply =
          new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
      reply
          .headers()
          .set(HttpHeaderNames.CONTENT_TYPE, "application/json")
          .setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
      context.writeAndFlush(reply, context.voidPromise());
    }
  }
}
