package dev.quipu.server.http.message;

/** Where server-sent events of one client go. Thread-safe. */
public interface EventSink {
  /** Returns whether the system has accepted the event before, so that another may be sent. */
  boolean isReady();

  /**
   * Sends bytes, which must not be changed. A client that does not read them in time is
   * disconnected.
   *
   * @param whenSent run once, also if they could not be sent
   */
  void send(byte[] bytes, Runnable whenSent);

  /** Ends the response. The client may come back. */
  void end();

  /** Sets what is run once when the response has ended; at once if it has. */
  void onEnd(Runnable action);
}
