package dev.quipu.server.http;

import dev.quipu.server.http.message.AcceptEncoding;
import dev.quipu.server.http.message.HttpReply;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/**
 * Chooses how the result of a read is sent (RFC 9110, 8.8.3, 12.5.3 and 13.1.2): with a tag of its
 * content, not at all if the client has it already, and compressed if the client accepts that and
 * it is worth it.
 */
final class Representation {
  /** Smaller bodies fit into one packet in any case. */
  private static final int GZIP_BYTES_MIN = 1_400;

  private static final int TAG_BYTES = 16;
  private static final String CACHE_CONTROL = "Cache-Control";

  private Representation() {}

  /** Returns the reply to send for the reply of a read. */
  static HttpReply of(HttpReply reply, HttpHeaders request) {
    if (reply.status() != 200) {
      return reply;
    }
    boolean isGzip = reply.length() >= GZIP_BYTES_MIN && AcceptEncoding.hasGzip(request);
    if (reply.headers().containsKey(CACHE_CONTROL)) { // of a state, or of a read that counts
      return isGzip ? compressed(reply) : reply;
    }
    String digest = digest(reply.parts());
    String tag = isGzip ? "\"%s-gzip\"".formatted(digest) : "\"%s\"".formatted(digest);
    HttpReply chosen = reply;
    if (hasAlready(request, digest)) {
      chosen = notModified(reply);
    } else if (isGzip) {
      chosen = compressed(reply);
    }
    return chosen
        .with("ETag", tag)
        .with(CACHE_CONTROL, "private, no-cache")
        .with("Vary", "Accept-Encoding");
  }

  private static HttpReply notModified(HttpReply reply) {
    return new HttpReply(304, reply.type(), List.of(), reply.headers(), false);
  }

  private static HttpReply compressed(HttpReply reply) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      for (byte[] part : reply.parts()) {
        gzip.write(part);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // never: it is memory
    }
    return new HttpReply(
            reply.status(), reply.type(), List.of(bytes.toByteArray()), reply.headers(), false)
        .with("Content-Encoding", AcceptEncoding.GZIP)
        .with("Vary", "Accept-Encoding");
  }

  /** Either form of the content counts: a client that has one has the content. */
  private static boolean hasAlready(HttpHeaders request, String digest) {
    for (String line : request.getAll(HttpHeaderNames.IF_NONE_MATCH)) {
      for (String each : line.split(",", -1)) {
        String tag = each.strip().replaceFirst("^W/", "");
        if (tag.equals("*")
            || tag.equals("\"%s\"".formatted(digest))
            || tag.equals("\"%s-gzip\"".formatted(digest))) {
          return true;
        }
      }
    }
    return false;
  }

  private static String digest(List<byte[]> parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      parts.forEach(digest::update);
      return HexFormat.of().formatHex(digest.digest(), 0, TAG_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // each JDK has it
    }
  }
}
