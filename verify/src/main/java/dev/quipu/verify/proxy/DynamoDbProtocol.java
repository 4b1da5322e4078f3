package dev.quipu.verify.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** HTTP/1.1 as DynamoDB speaks it: the operation is in a header, and both bodies are JSON. */
public final class DynamoDbProtocol implements Protocol {
  private static final Set<String> WRITES =
      Set.of("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem");
  private static final Set<String> READS =
      Set.of("GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems");

  /** DynamoDB. */
  public DynamoDbProtocol() {}

  @Override
  public Session open() {
    return new DynamoDbSession();
  }

  private static final class DynamoDbSession implements Session {
    @Override
    public @Nullable Request read(InputStream client) throws IOException {
      Wire wire = new Wire(client);
      String first = wire.line();
      if (first == null) {
        return null;
      }
      Map<String, String> headers = headers(wire);
      byte[] body = body(wire, headers);
      String target = headers.getOrDefault("x-amz-target", "");
      String operation = target.substring(target.indexOf('.') + 1);
      Kind kind =
          WRITES.contains(operation)
              ? Kind.WRITE
              : READS.contains(operation) ? Kind.READ : Kind.OTHER;
      return new Request(wire.kept(), body, kind); // dates and signatures differ each time
    }

    @Override
    public byte[] reply(Request request, InputStream store) throws IOException {
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
    public boolean isApplied(Request request, byte[] reply) {
      return Wire.latin1(reply).startsWith("HTTP/1.1 200");
    }

    @Override
    public Optional<byte[]> error(WireFault fault) {
      return switch (fault) {
        case ERROR_BEFORE_APPLY, ERROR_AFTER_APPLY ->
            Optional.of(error("500 Internal Server Error", "InternalServerError"));
        case THROTTLED ->
            Optional.of(error("400 Bad Request", "ProvisionedThroughputExceededException"));
        default -> Optional.empty();
      };
    }

    private static byte[] error(String status, String type) {
      String body =
          "{\"__type\":\"com.amazonaws.dynamodb.v20120810#%s\",\"message\":\"injected\"}"
              .formatted(type);
      return Wire.latin1(
          "HTTP/1.1 %s\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(status, body.length(), body));
    }
  }
}
