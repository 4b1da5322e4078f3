package dev.quipu.simpledbserver;

/** The documented limits of the service. */
final class Limits {
  static final int DOMAINS_MAX = 250;
  static final int DOMAIN_NAME_MIN = 3;
  static final int DOMAIN_NAME_MAX = 255;
  static final int TEXT_BYTES_MAX = 1_024;
  static final int ITEM_PAIRS_MAX = 256;
  static final int PUT_PAIRS_MAX = 256;
  static final int BATCH_ITEMS_MAX = 25;
  static final int LIST_MAX = 100;
  static final int SELECT_DEFAULT = 100;
  static final int SELECT_MAX = 2_500;
  static final int ANSWER_BYTES_MAX = 1 << 20;
  static final int COMPARISONS_MAX = 20;
  static final int REQUEST_BYTES_MAX = 1 << 20;
  static final long CLOCK_MILLIS_MAX = 15 * 60_000;

  private Limits() {}

  /** Checks a name or a value. */
  static String checkText(String parameter, String text) {
    if (dev.quipu.Limits.utf8Length(text) > TEXT_BYTES_MAX) {
      throw SdbException.invalid(
          parameter, text, "Value exceeds maximum length of " + TEXT_BYTES_MAX + ".");
    }
    return text;
  }

  static String checkName(String parameter, String text) {
    if (text.isEmpty()) {
      throw SdbException.invalid(parameter, text, "It must not be empty.");
    }
    return checkText(parameter, text);
  }
}
