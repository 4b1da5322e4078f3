package dev.quipu.simpledb;

/** Thrown when SimpleDB replies with an error. */
final class SimpleDbException extends Exception {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String code;

  SimpleDbException(int status, String code, String message) {
    super("%s (%d): %s".formatted(code, status, message));
    this.status = status;
    this.code = code;
  }

  int status() {
    return status;
  }

  String code() {
    return code;
  }

  /** Returns whether a condition did not hold, so that nothing was written. */
  boolean isUnmet() {
    return switch (code) {
      case "ConditionalCheckFailed", "AttributeDoesNotExist", "MultiValuedAttribute" -> true;
      default -> false;
    };
  }
}
