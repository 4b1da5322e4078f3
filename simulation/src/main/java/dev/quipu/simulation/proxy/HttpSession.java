package dev.quipu.simulation.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 connection with independent requests.
 *
 * @param kind classifies a request
 * @param errors the response of the service to a fault
 */
record HttpSession(Function<Head, Protocol.Kind> kind, Function<WireFault, Optional<Answer>> errors)
    implements Protocol.Session {
  /**
   * The part of a request before its body.
   *
   * @param line the request line
   * @param headers by name in lower case
   */
  record Head(String line, Map<String, String> headers) {}

  /**
   * A response of a server, one byte per character of the body.
   *
   * @param status code and reason phrase
   */
  record Answer(String status, String contentType, String body) {}

  @Override
  public Protocol.@Nullable Request read(InputStream client) throws IOException {
    Wire wire = new Wire(client);
    String first = wire.line();
    if (first == null) {
      return null;
    }
    Map<String, String> headers = headers(wire);
    byte[] body = body(wire, headers);
    // dates and signatures differ each time: only the body matters
    return new Protocol.Request(wire.kept(), body, kind.apply(new Head(first, headers)));
  }

  @Override
  public byte[] reply(Protocol.Request request, InputStream store) throws IOException {
    Wire wire = new Wire(store);
    wire.nextLine();
    body(wire, headers(wire));
    return wire.kept();
  }

  private static Map<String, String> headers(Wire wire) throws IOException {
    Map<String, String> headers = new HashMap<>();
    for (String line = wire.nextLine(); !line.isEmpty(); line = wire.nextLine()) {
      int colon = line.indexOf(':');
      if (colon < 0) {
        throw new IOException("a header without a colon: " + line);
      }
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    return headers;
  }

  private static byte[] body(Wire wire, Map<String, String> headers) throws IOException {
    if (!headers.getOrDefault("transfer-encoding", "").equalsIgnoreCase("chunked")) {
      return wire.take(Integer.parseInt(headers.getOrDefault("content-length", "0")));
    }
    StringBuilder body = new StringBuilder();
    while (true) {
      int length = Integer.parseInt(wire.nextLine().split(";", 2)[0].strip(), 16);
      String chunk = Wire.latin1(wire.take(length + 2));
      if (length == 0) {
        return Wire.latin1(body.toString());
      }
      body.append(chunk, 0, length);
    }
  }

  @Override
  public boolean isApplied(Protocol.Request request, byte[] reply) {
    return Wire.latin1(reply).startsWith("HTTP/1.1 200");
  }

  @Override
  public Optional<byte[]> error(WireFault fault) {
    return errors
        .apply(fault)
        .map(answer ->
            Wire.latin1(
                "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
                    .formatted(
                        answer.status, answer.contentType, answer.body.length(), answer.body)));
  }
}
