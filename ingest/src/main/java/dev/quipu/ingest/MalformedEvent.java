package dev.quipu.ingest;

/** What was delivered is no event: it never will be, however often it is delivered. */
public final class MalformedEvent extends Exception {
  private static final long serialVersionUID = 1;

  private final String field;

  MalformedEvent(String field, String problem) {
    super(field + ": " + problem);
    this.field = field;
  }

  /** What is wrong; {@code body} if it is no JSON object at all. */
  public String field() {
    return field;
  }
}
