package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Limits;
import dev.quipu.RequestId;
import java.util.Map;

/**
 * A technique that stores attributes with each request: why the counter changed, such as the order
 * and its customer. They are stored atomically with the add, and last as long as its request id.
 */
public interface Attributed extends Technique {
  /** Maximum number of attributes of a request. */
  int ATTRIBUTES_MAX = 16;

  /** Longest name of an attribute, in bytes of UTF-8. */
  int NAME_BYTES_MAX = 64;

  /**
   * Adds exactly once, with attributes. A repeat keeps those of the first, and they do not
   * distinguish one request from another.
   *
   * @param attributes at most {@link #ATTRIBUTES_MAX}; values of 1 to {@link
   *     Limits#REASON_BYTES_MAX} bytes of UTF-8
   * @throws IllegalArgumentException naming the attribute that is outside its limits
   */
  AddResult add(Add add, Map<String, String> attributes);

  /** Returns the attributes of a request, ordered by name; empty if it was not applied. */
  Map<String, String> attributes(String counter, RequestId id);

  /** Checks the limits of attributes. */
  static void check(Map<String, String> attributes) {
    if (attributes.size() > ATTRIBUTES_MAX) {
      throw new IllegalArgumentException(
          "attributes has %d entries; the limit is %d. Merge some of them"
              .formatted(attributes.size(), ATTRIBUTES_MAX));
    }
    attributes.forEach((name, value) -> {
      Limits.checkText("name of an attribute", name, NAME_BYTES_MAX);
      Limits.checkText("attribute " + name, value, Limits.REASON_BYTES_MAX);
    });
  }
}
