package dev.quipu.ingest;

/** Thrown when a message is not an event. Another delivery cannot succeed. */
public final class MalformedEvent extends Exception {
  private static final long serialVersionUID = 1;

  private final String field;

  MalformedEvent(String field, String problem) {
    super(field + ": " + problem);
    this.field = field;
  }

  /** Returns the invalid field; {@code body} if the message is not a JSON object. */
  public String field() {
    return field;
  }
}
