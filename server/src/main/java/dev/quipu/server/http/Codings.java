package dev.quipu.server.http;

import dev.quipu.server.http.message.Problem;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;

/** Rejects codings and expectations of a request that the server does not support. */
final class Codings {
  private Codings() {}

  /**
   * Throws if the request would be read as something else than the client sent.
   *
   * @throws Problem 400 for another version of HTTP; 501, 417 or 415 for a coding
   */
  static void check(HttpRequest request) {
    HttpVersion version = request.protocolVersion();
    if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
      throw Problem.badRequest(
          "unsupported version " + version.text() + "; use HTTP/1.1 or HTTP/1.0");
    }
    HttpHeaders headers = request.headers();
    if (!headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
        && !headers.contains(HttpHeaderNames.EXPECT)
        && !headers.contains(HttpHeaderNames.CONTENT_ENCODING)) {
      return; // the common case
    }
    List<String> transfer = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
    if (!transfer.isEmpty()
        && !(transfer.size() == 1 && transfer.getFirst().equalsIgnoreCase("chunked"))) {
      throw new Problem(
          501,
          "transfer-coding",
          "Not Implemented",
          "Transfer-Encoding is '%s'; send chunked, or Content-Length"
              .formatted(String.join(", ", transfer)));
    }
    for (String expected : headers.getAll(HttpHeaderNames.EXPECT)) {
      if (!expected.equalsIgnoreCase("100-continue")
          && request.protocolVersion().equals(HttpVersion.HTTP_1_1)) {
        throw new Problem(
            417,
            "expectation",
            "Expectation Failed",
            "Expect is '%s'; send 100-continue, or no such header".formatted(expected));
      }
    }
    for (String coding : headers.getAll(HttpHeaderNames.CONTENT_ENCODING)) {
      if (!coding.equalsIgnoreCase("identity")) {
        throw new Problem(
            415,
            "content-coding",
            "Unsupported Media Type",
            "Content-Encoding is '%s'; send the body without a coding".formatted(coding));
      }
    }
  }
}
