package dev.quipu.server.http;

import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/** Reads requests, within limits, and refuses those that two readers could read differently. */
final class StrictDecoder extends HttpRequestDecoder {
  static final int LINE_BYTES_MAX = 8 << 10;
  static final int HEAD_BYTES_MAX = 16 << 10;

  StrictDecoder() {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(LINE_BYTES_MAX)
            .setMaxHeaderSize(HEAD_BYTES_MAX)
            .setAllowDuplicateContentLengths(false));
  }

  @Override
  protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
    throw new IllegalArgumentException("both Content-Length and Transfer-Encoding");
  }
}
