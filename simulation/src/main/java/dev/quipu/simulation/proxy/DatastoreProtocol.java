package dev.quipu.simulation.proxy;

import java.util.Optional;

/**
 * The HTTP/1.1 protocol of Datastore: the operation follows the colon in the path, and both bodies
 * are Protocol Buffers. A commit is the only write; it names a transaction, which commits once.
 */
public final class DatastoreProtocol implements Protocol {
  private static final String INJECTED = "injected";
  private static final char INTERNAL = 13; // of google.rpc.Code
  private static final char RESOURCE_EXHAUSTED = 8;

  /** Creates the protocol. */
  public DatastoreProtocol() {}

  @Override
  public Session open() {
    return new HttpSession(DatastoreProtocol::kind, DatastoreProtocol::error);
  }

  private static Kind kind(HttpSession.Head head) {
    String path = head.line().split(" ", 3)[1];
    return switch (path.substring(path.lastIndexOf(':') + 1)) {
      case "commit" -> Kind.WRITE;
      case "lookup", "runQuery" -> Kind.READ;
      default -> Kind.OTHER;
    };
  }

  private static Optional<HttpSession.Answer> error(WireFault fault) {
    return switch (fault) {
      case ERROR_BEFORE_APPLY, ERROR_AFTER_APPLY ->
          Optional.of(error("500 Internal Server Error", INTERNAL));
      case THROTTLED -> Optional.of(error("429 Too Many Requests", RESOURCE_EXHAUSTED));
      default -> Optional.empty();
    };
  }

  /** Returns a google.rpc.Status message: field 1 is the code, field 2 the text. */
  private static HttpSession.Answer error(String status, char code) {
    String body = "\b" + code + "\u0012" + (char) INJECTED.length() + INJECTED;
    return new HttpSession.Answer(status, "application/x-protobuf", body);
  }
}
