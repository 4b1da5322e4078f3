package dev.quipu.server.http;

import dev.quipu.server.http.message.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;
import java.util.function.BooleanSupplier;

/*
 * Requests that came with one another in one packet are decoded one by one, each when the one
 * before was answered: a thousand decoded requests hold a hundred times the memory of their bytes.
 */

/** Reads requests, within limits, and rejects those that two readers could read differently. */
final class StrictDecoder extends HttpRequestDecoder {
  static final int LINE_BYTES_MAX = 8 << 10;
  static final int HEAD_BYTES_MAX = 16 << 10;
  static final int HEADERS_MAX = 100;

  private final BooleanSupplier isPaused;
  private boolean headBegun;

  /**
   * Creates a decoder.
   *
   * @param isPaused whether to leave what has come as bytes for now
   */
  StrictDecoder(BooleanSupplier isPaused) {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(LINE_BYTES_MAX)
            .setMaxHeaderSize(HEAD_BYTES_MAX)
            .setAllowDuplicateContentLengths(false)
            .setHeadersFactory(new FewHeaders())
            .setTrailersFactory(new FewHeaders()));
    this.isPaused = isPaused;
  }

  /** Returns the bytes that came and are not decoded yet. */
  int waitingBytes() {
    return actualReadableBytes();
  }

  /** Returns whether a head has begun and is not complete. */
  boolean isInHead() {
    return headBegun || waitingBytes() > 0;
  }

  /** Notes that the head was complete. */
  void headEnded() {
    headBegun = false;
  }

  @Override
  protected HttpMessage createMessage(String[] initialLine) throws Exception {
    headBegun = true;
    return super.createMessage(initialLine);
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws Exception {
    if (!isPaused.getAsBoolean()) {
      super.decode(context, in, out);
    }
  }

  @Override
  protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
    throw new IllegalArgumentException("both Content-Length and Transfer-Encoding");
  }

  /** Makes headers that take no more than {@link #HEADERS_MAX}. */
  private static final class FewHeaders implements HttpHeadersFactory {
    @Override
    public HttpHeaders newHeaders() {
      return new Limited();
    }

    @Override
    public HttpHeaders newEmptyHeaders() {
      return new Limited();
    }
  }

  private static final class Limited extends DefaultHttpHeaders {
    Limited() {
      super(); // validates names and values
    }

    @Override
    public HttpHeaders add(CharSequence name, Object value) {
      if (size() >= HEADERS_MAX) {
        throw new TooLongHttpHeaderException("more than " + HEADERS_MAX + " headers");
      }
      return super.add(name, value);
    }
  }

  /** Returns the problem of bytes that are malformed HTTP, or exceed the limits of a request. */
  static Problem problem(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return new Problem(
          414,
          "too-large",
          "URI Too Long",
          "Request line is longer than %d bytes, which is the limit. Shorten it."
              .formatted(LINE_BYTES_MAX));
    }
    if (cause instanceof TooLongHttpHeaderException) {
      return new Problem(
          431,
          "too-large",
          "Request Header Fields Too Large",
          "Header is longer than %d bytes or has more than %d fields, which are the limits."
                  .formatted(HEAD_BYTES_MAX, HEADERS_MAX)
              + " Send fewer.");
    }
    return Problem.badRequest("malformed HTTP request");
  }
}
