package dev.quipu.simulation.proxy;

import java.util.Optional;

/** The HTTP/1.1 protocol of Quipu's own server, of which only POST is treated as a write. */
public final class HttpProtocol implements Protocol {
  /** Creates the protocol. */
  public HttpProtocol() {}

  @Override
  public Session open() {
    return new HttpSession(
        head -> head.line().startsWith("POST ") ? Kind.WRITE : Kind.READ,
        fault -> Optional.empty());
  }
}
