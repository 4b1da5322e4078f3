package dev.quipu.server.memcache;

import dev.quipu.server.memcache.Line.Rejected;
import java.util.Base64;

/*
 * Flags of a meta command: each a letter, some with a token behind it. They are answered in the
 * order in which they were asked.
 */

/** What follows the key of a meta command. */
final class MetaFlags {
  private static final String INVALID = "CLIENT_ERROR invalid or duplicate flag";
  private static final int OPAQUE_BYTES_MAX = 32;

  private final Request request;
  private final int first;
  private final String key;

  /**
   * Of a request.
   *
   * @param first place of the first flag
   * @param known letters that the command knows
   */
  MetaFlags(Request request, int first, String known) {
    this.request = request;
    this.first = first;
    long seen = 0;
    for (int i = first; i < size(); i++) {
      char letter = letter(i);
      if (known.indexOf(letter) < 0) {
        throw new Rejected(isCount() ? INVALID : "CLIENT_ERROR invalid flag");
      }
      long bit = 1L << (letter & 0x3f);
      if ((seen & bit) != 0) {
        throw new Rejected(isCount() ? INVALID : "CLIENT_ERROR duplicate flag");
      }
      seen |= bit;
    }
    if (has('O') && token('O').length() > OPAQUE_BYTES_MAX) {
      throw new Rejected("CLIENT_ERROR opaque token too long");
    }
    check(); // what is wrong is wrong before anything is done
    this.key = has('b') ? decoded(request.line().text(1)) : request.line().key(1);
  }

  private void check() {
    for (int i = first; i < size(); i++) {
      switch (letter(i)) {
        case 'N', 'T' -> time(letter(i));
        case 'C', 'D', 'F', 'J' -> unsigned(letter(i), 0);
        default -> {
          // has no number
        }
      }
    }
  }

  boolean isStore() {
    return request.line().text(0).equals("ms");
  }

  private boolean isCount() {
    return request.line().text(0).equals("ma");
  }

  private static String decoded(String key) {
    try {
      return Line.key(Base64.getDecoder().decode(key));
    } catch (IllegalArgumentException e) {
      throw new Rejected("CLIENT_ERROR error decoding key");
    }
  }

  String key() {
    return key;
  }

  boolean isUnsigned() {
    return request.shared().isUnsigned(key);
  }

  int size() {
    return request.line().size();
  }

  int first() {
    return first;
  }

  char letter(int index) {
    return (char) (request.line().bytes()[request.line().start(index)] & 0xff);
  }

  /** The place of a letter; -1 if it was not given. */
  int at(char letter) {
    for (int i = first; i < size(); i++) {
      if (letter(i) == letter) {
        return i;
      }
    }
    return -1;
  }

  boolean has(char letter) {
    return at(letter) >= 0;
  }

  /** What is behind a letter; empty if it was not given. */
  String token(char letter) {
    int at = at(letter);
    return at < 0 ? "" : request.line().text(at).substring(1);
  }

  /** A number behind a letter. */
  long unsigned(char letter, long otherwise) {
    return has(letter)
        ? Line.unsigned(token(letter), isCount() ? INVALID : Line.BAD_FORMAT)
        : otherwise;
  }

  /** A time behind a letter, in seconds. */
  long time(char letter) {
    try {
      return Long.parseLong(token(letter));
    } catch (NumberFormatException e) {
      throw new Rejected(isCount() ? INVALID : "CLIENT_ERROR bad token in command line format");
    }
  }
}
