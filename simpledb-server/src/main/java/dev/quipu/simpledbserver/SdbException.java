package dev.quipu.simpledbserver;

/** A documented error of the service. */
final class SdbException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String code;

  private SdbException(int status, String code, String message) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
  }

  int status() {
    return status;
  }

  String code() {
    return code;
  }

  String text() {
    return String.valueOf(getMessage());
  }

  static SdbException bad(String code, String message) {
    return new SdbException(400, code, message);
  }

  static SdbException denied(String code, String message) {
    return new SdbException(403, code, message);
  }

  static SdbException conflict(String code, String message) {
    return new SdbException(409, code, message);
  }

  static SdbException noAttribute(String name) {
    return new SdbException(
        404, "AttributeDoesNotExist", "Attribute (" + name + ") does not exist");
  }

  static SdbException internal() {
    return new SdbException(500, "InternalError", "The request could not be executed");
  }

  static SdbException unavailable() {
    return new SdbException(
        503, "ServiceUnavailable", "Service is currently unavailable. Please try again later");
  }

  static SdbException missing(String parameter) {
    return bad("MissingParameter", "The request must contain the parameter " + parameter);
  }

  static SdbException invalid(String parameter, String value, String why) {
    String shown = value.length() > 64 ? value.substring(0, 64) + "…" : value;
    return bad(
        "InvalidParameterValue",
        "Value (\"%s\") for parameter %s is invalid. %s".formatted(shown, parameter, why));
  }
}
