package dev.quipu.simulation.proxy;

import java.util.Optional;

/** HTTP/1.1 where POST writes and everything else reads, as Quipu's own server speaks it. */
public final class HttpProtocol implements Protocol {
  /** HTTP. */
  public HttpProtocol() {}

  @Override
  public Session open() {
    return new HttpSession(
        head -> head.line().startsWith("POST ") ? Kind.WRITE : Kind.READ,
        fault -> Optional.empty());
  }
}
