package dev.quipu.server.http.message;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Locale;

/** The codings of a response that a client accepts (RFC 9110, 12.5.3). */
public final class AcceptEncoding {
  /** The only coding of responses. */
  public static final String GZIP = "gzip";

  private AcceptEncoding() {}

  /** Returns whether a client accepts {@link #GZIP}. */
  public static boolean hasGzip(HttpHeaders request) {
    boolean accepts = false;
    for (String line : request.getAll(HttpHeaderNames.ACCEPT_ENCODING)) {
      for (String each : line.toLowerCase(Locale.ROOT).split(",", -1)) {
        String[] parts = each.split(";", -1);
        String coding = parts[0].strip();
        boolean isRefused = parts.length > 1 && parts[1].strip().matches("q\\s*=\\s*0(\\.0{0,3})?");
        if (coding.equals(GZIP)) {
          return !isRefused;
        }
        accepts |= coding.equals("*") && !isRefused;
      }
    }
    return accepts;
  }
}
