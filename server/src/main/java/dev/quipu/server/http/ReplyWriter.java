package dev.quipu.server.http;

import dev.quipu.server.http.message.HttpReply;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;

/*
 * Netty copies all written bytes into direct memory at once, even if the client reads slowly. So a
 * long body is written in slices, and only while the channel is writable.
 */

/** Writes one reply as fast as the client reads it. Confined to an event loop. */
final class ReplyWriter {
  private static final int SLICE_BYTES = 16 << 10;
  private static final int HEAD_BYTES = 256;

  /** Names of headers are constants; values may come from a request, and are validated. */
  private static final DefaultHttpHeadersFactory HEADERS =
      DefaultHttpHeadersFactory.headersFactory().withNameValidation(false);

  private static final DefaultHttpHeadersFactory TRAILERS =
      DefaultHttpHeadersFactory.trailersFactory();

  private final ChannelHandlerContext context;
  private final ChannelFutureListener whenWritten;
  private final ByteBuf body;
  private boolean isProceeding;

  private ReplyWriter(
      ChannelHandlerContext context, List<byte[]> parts, ChannelFutureListener whenWritten) {
    this.context = context;
    this.whenWritten = whenWritten;
    this.body = Unpooled.wrappedBuffer(parts.toArray(byte[][]::new));
  }

  /**
   * Starts to write a reply.
   *
   * @param date of the header Date
   * @param whenWritten called when the system accepted the last byte, or the channel closed
   */
  static ReplyWriter write(
      ChannelHandlerContext context,
      HttpRequest request,
      HttpReply reply,
      boolean keepAlive,
      String date,
      ChannelFutureListener whenWritten) {
    boolean withBody = !request.method().equals(HttpMethod.HEAD) && mayHaveBody(reply);
    List<byte[]> parts = withBody ? reply.parts() : List.of();
    ReplyWriter writer = new ReplyWriter(context, parts, whenWritten);
    HttpResponseStatus status = HttpResponseStatus.valueOf(reply.status());
    if (reply.headers().isEmpty()
        && mayHaveBody(reply)
        && writer.body.readableBytes() <= SLICE_BYTES) {
      writer.whole(status, reply, keepAlive, date);
    } else if (writer.body.readableBytes() <= SLICE_BYTES) {
      ByteBuf all = writer.body.readRetainedSlice(writer.body.readableBytes());
      var response =
          new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, all, HEADERS, TRAILERS);
      describe(response, reply, keepAlive, date);
      writer.last(response);
    } else {
      var head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status, HEADERS);
      describe(head, reply, keepAlive, date);
      ChannelFuture unused = context.write(head);
      writer.proceed();
    }
    return writer;
  }

  /**
   * Writes the head and the first parts, which are short, of a response whose body follows, after
   * which the connection is closed.
   */
  static void writeHead(
      ChannelHandlerContext context, HttpRequest request, HttpReply reply, String date) {
    var head =
        new DefaultHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(reply.status()), HEADERS);
    describe(head, reply, false, date);
    HttpUtil.setTransferEncodingChunked(
        head, request.protocolVersion().equals(HttpVersion.HTTP_1_1));
    ChannelFuture unused = context.writeAndFlush(head);
    reply
        .parts()
        .forEach(
            part -> context.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(part))));
  }

  private static boolean mayHaveBody(HttpReply reply) {
    return reply.status() != 204 && reply.status() != 304;
  }

  private static void describe(
      HttpResponse response, HttpReply reply, boolean keepAlive, String date) {
    HttpHeaders headers = response.headers();
    headers.set(HttpHeaderNames.DATE, date);
    headers.set(HttpHeaderNames.CONTENT_TYPE, reply.type());
    if (mayHaveBody(reply) && reply.events().isEmpty()) {
      headers.setInt(HttpHeaderNames.CONTENT_LENGTH, reply.length());
    }
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set(HttpHeaderNames.CACHE_CONTROL, "no-store");
    reply.headers().forEach(headers::set);
    HttpUtil.setKeepAlive(response, keepAlive);
  }

  /** Continues to write while the channel is writable. */
  void proceed() {
    if (isProceeding) {
      return; // called by a write below; Netty's encoder is not reentrant
    }
    isProceeding = true;
    while (body.readableBytes() > SLICE_BYTES && context.channel().isWritable()) {
      ByteBuf slice = body.readRetainedSlice(SLICE_BYTES);
      ChannelFuture unused = context.writeAndFlush(new DefaultHttpContent(slice));
    }
    if (body.isReadable() && body.readableBytes() <= SLICE_BYTES) {
      last(new DefaultLastHttpContent(body.readRetainedSlice(body.readableBytes())));
    }
    isProceeding = false;
  }

  /**
   * Writes the head and the body at once, past Netty's encoder, which takes twice the time: a reply
   * without headers of its own, as that to an add.
   */
  private void whole(HttpResponseStatus status, HttpReply reply, boolean keepAlive, String date) {
    ByteBuf out = context.alloc().buffer(HEAD_BYTES + body.readableBytes());
    ByteBufUtil.writeAscii(
        out,
        "HTTP/1.1 "
            + status
            + "\r\ndate: "
            + date
            + "\r\ncontent-type: "
            + reply.type()
            + "\r\ncontent-length: "
            + reply.length()
            + "\r\nX-Content-Type-Options: nosniff\r\ncache-control: no-store\r\n"
            + (keepAlive ? "\r\n" : "connection: close\r\n\r\n"));
    out.writeBytes(body);
    body.release();
    context
        .pipeline()
        .context(HttpResponseEncoder.class)
        .writeAndFlush(out)
        .addListener(whenWritten);
  }

  private void last(Object message) {
    body.release();
    context.writeAndFlush(message).addListener(whenWritten);
  }
}
