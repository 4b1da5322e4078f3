package dev.quipu.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.quipu.server.http.message.HttpReply;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpVersion;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A long reply to a client that did not read for a while. */
final class ReplyWriterTest {
  private static final int HIGH_WATER_BYTES = 8 << 10; // each slice passes it

  /** Continues the reply when the channel is writable again, as a connection does. */
  private static final class Writing extends ChannelInboundHandlerAdapter {
    private final List<ChannelFuture> written = new ArrayList<>();
    private final HttpReply answer;
    private final boolean keepAlive;
    private @Nullable ReplyWriter writer;

    private Writing(HttpReply answer, boolean keepAlive) {
      this.answer = answer;
      this.keepAlive = keepAlive;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object request) {
      writer =
          ReplyWriter.write(context, (HttpRequest) request, answer, keepAlive, "now", written::add);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      ReplyWriter begun = writer;
      if (begun != null) {
        begun.proceed();
      }
    }
  }

  private static byte[] body(int bytes) {
    byte[] body = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      body[i] = (byte) (i >>> 12);
    }
    return body;
  }

  /** Each write makes the channel unwritable, and writable again, within the write. */
  @ParameterizedTest
  @ValueSource(ints = {16_385, 32_768, 40_000, 100_000, 4_000_000})
  void everyByteIsSentOnce(int bytes) {
    Writing handler = new Writing(HttpReply.bytes(200, "text/plain", List.of(body(bytes))), true);
    EmbeddedChannel channel = new EmbeddedChannel(new HttpResponseEncoder(), handler);
    channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, HIGH_WATER_BYTES));
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    channel.writeInbound(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/"));
    assertEquals(0, handler.written.size(), "the client does not read");
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    channel.runPendingTasks();
    assertEquals(1, handler.written.size());
    byte[] sent = sent(channel);
    assertArrayEquals(body(bytes), Arrays.copyOfRange(sent, sent.length - bytes, sent.length));
    String head = new String(sent, 0, sent.length - bytes, StandardCharsets.US_ASCII);
    assertEquals(head.length(), head.indexOf("\r\n\r\n") + 4, "more than the body was sent");
    channel.close();
  }

  /** A reply with a header of its own is encoded by Netty, here with one that it has anyway. */
  @ParameterizedTest
  @ValueSource(ints = {200, 201, 204, 304, 404, 409, 503})
  void aReplyThatIsEncodedHereIsThatOfNetty(int status) {
    for (HttpMethod method : List.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.POST)) {
      for (int length : new int[] {0, 1, 300, 16_384}) {
        for (boolean keepAlive : new boolean[] {true, false}) {
          List<byte[]> parts = List.of(body(length / 3), body(length - length / 3));
          HttpReply reply = HttpReply.bytes(status, HttpReply.JSON, parts);
          byte[] here = answered(reply, method, keepAlive);
          byte[] netty = answered(reply.with("cache-control", "no-store"), method, keepAlive);
          String what = "%d %s %d %s".formatted(status, method, length, keepAlive);
          assertEquals(text(netty), text(here), what);
        }
      }
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private static byte[] answered(HttpReply reply, HttpMethod method, boolean keepAlive) {
    Writing handler = new Writing(reply, keepAlive);
    EmbeddedChannel channel = new EmbeddedChannel(new HttpResponseEncoder(), handler);
    channel.writeInbound(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, method, "/"));
    assertEquals(1, handler.written.size());
    byte[] sent = sent(channel);
    channel.close();
    return sent;
  }

  private static byte[] sent(EmbeddedChannel channel) {
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
      sent.writeBytes(ByteBufUtil.getBytes(part));
      part.release();
    }
    return sent.toByteArray();
  }
}
