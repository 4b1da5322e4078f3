package dev.quipu.server.http;

import dev.quipu.server.http.message.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpHeadersFactory;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;

/*
 * Pipelined requests in one packet are decoded one by one, each after the reply to the previous
 * one: a thousand decoded requests would take a hundred times the memory of their bytes.
 */

/** Decodes requests within limits, and rejects ambiguous ones (request smuggling). */
final class StrictDecoder extends HttpRequestDecoder {
  static final int LINE_BYTES_MAX = 8 << 10;
  static final int HEAD_BYTES_MAX = 16 << 10;
  static final int HEADERS_MAX = 100;
  private static final byte LINE_END = '\n';

  private final BooleanSupplier isPaused;
  private boolean headBegun;
  private boolean hasFold;

  /**
   * Creates a decoder.
   *
   * @param isPaused returns whether to leave received bytes undecoded for now
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

  /** Returns the number of received bytes that are not decoded yet. */
  int waitingBytes() {
    return actualReadableBytes();
  }

  /** Returns whether a header has begun and is not complete. */
  boolean isInHead() {
    return headBegun || waitingBytes() > 0;
  }

  /** Notes that the header is complete. */
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
    if (isPaused.getAsBoolean()) {
      return;
    }
    int before = out.size();
    int start = in.readerIndex();
    boolean inHeaders = headBegun;
    super.decode(context, in, out);
    // Consumes whole lines, and at most those of one header.
    boolean isHead = out.size() > before && out.get(before) instanceof HttpRequest;
    if (isHead || headBegun) {
      hasFold |= folds(in, start, in.readerIndex(), inHeaders);
    }
    if (isHead && hasFold && out.get(before) instanceof HttpRequest request) {
      request.setDecoderResult(DecoderResult.failure(new FoldException()));
    }
    hasFold &= !isHead;
  }

  /** Returns whether a header line in these bytes begins with a space (obs-fold, RFC 9112). */
  private static boolean folds(ByteBuf in, int start, int end, boolean afterLine) {
    int line = afterLine ? start : lineAfter(in, start, end);
    while (line < end) {
      byte first = in.getByte(line);
      if (first == ' ' || first == '\t') {
        return true;
      }
      line = lineAfter(in, line, end);
    }
    return false;
  }

  private static int lineAfter(ByteBuf in, int from, int end) {
    int found = in.indexOf(from, end, LINE_END);
    return found < 0 ? end : found + 1;
  }

  private static final class FoldException extends RuntimeException {
    private static final long serialVersionUID = 1;

    FoldException() {
      super("a header field continues on a second line", null, false, false);
    }
  }

  @Override
  protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
    throw new IllegalArgumentException("both Content-Length and Transfer-Encoding");
  }

  /** Creates headers that hold at most {@link #HEADERS_MAX} fields. */
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
        throw new TooLongHttpHeaderException("more than " + HEADERS_MAX + " header fields");
      }
      return super.add(name, value);
    }
  }

  /** Returns the problem of malformed HTTP, or of a request above the limits. */
  static Problem problem(Throwable cause) {
    if (cause instanceof TooLongHttpLineException) {
      return new Problem(
          414,
          "too-large",
          "URI Too Long",
          "request line is longer than %d bytes, which is the limit; shorten it"
              .formatted(LINE_BYTES_MAX));
    }
    if (cause instanceof TooLongHttpHeaderException) {
      return new Problem(
          431,
          "too-large",
          "Request Header Fields Too Large",
          "header is longer than %d bytes or has more than %d fields, which are the limits."
                  .formatted(HEAD_BYTES_MAX, HEADERS_MAX)
              + " Send fewer");
    }
    String message = String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
    if (message.contains("content-length")) {
      return Problem.badRequest(
          "header Content-Length is malformed, repeated, or combined with Transfer-Encoding;"
              + " send one number of bytes, at least 0, or chunks");
    }
    return Problem.badRequest(
        cause instanceof FoldException
            ? cause.getMessage() + "; send each field on one line"
            : "malformed HTTP request");
  }
}
