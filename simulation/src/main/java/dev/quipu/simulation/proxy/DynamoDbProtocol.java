package dev.quipu.simulation.proxy;

import java.util.Optional;
import java.util.Set;

/** The HTTP/1.1 protocol of DynamoDB: the operation is in a header, and both bodies are JSON. */
public final class DynamoDbProtocol implements Protocol {
  private static final Set<String> WRITES =
      Set.of("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem");
  private static final Set<String> READS =
      Set.of("GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems");

  /** Creates the protocol. */
  public DynamoDbProtocol() {}

  @Override
  public Session open() {
    return new HttpSession(DynamoDbProtocol::kind, DynamoDbProtocol::error);
  }

  private static Kind kind(HttpSession.Head head) {
    String target = head.headers().getOrDefault("x-amz-target", "");
    String operation = target.substring(target.indexOf('.') + 1);
    return WRITES.contains(operation)
        ? Kind.WRITE
        : READS.contains(operation) ? Kind.READ : Kind.OTHER;
  }

  private static Optional<HttpSession.Answer> error(WireFault fault) {
    return switch (fault) {
      case ERROR_BEFORE_APPLY, ERROR_AFTER_APPLY ->
          Optional.of(error("500 Internal Server Error", "InternalServerError"));
      case THROTTLED ->
          Optional.of(error("400 Bad Request", "ProvisionedThroughputExceededException"));
      default -> Optional.empty();
    };
  }

  private static HttpSession.Answer error(String status, String type) {
    String body =
        "{\"__type\":\"com.amazonaws.dynamodb.v20120810#%s\",\"message\":\"injected\"}"
            .formatted(type);
    return new HttpSession.Answer(status, "application/x-amz-json-1.0", body);
  }
}
