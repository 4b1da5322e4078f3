package dev.quipu.server.memcache;

import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Rejected;
import java.util.Base64;

/*
 * Flags of a meta command: each is a letter, some followed by a token. The reply returns them in
 * the order of the request.
 */

/** The key and flags of a meta command. */
final class MetaFlags {
  private static final String INVALID = "CLIENT_ERROR invalid or duplicate flag";
  private static final int OPAQUE_BYTES_MAX = 32;

  private final Request request;
  private final int first;
  private final String key;

  /**
   * Parses the flags of a request.
   *
   * @param first index of the first flag
   * @param known letters that the command accepts
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
    checkOpaque();
    check(); // before anything is changed
    this.key = has('b') ? decoded(request.line().text(1)) : request.line().key(1);
  }

  /** A token is a request id of ma; two tokens that differ must not be replaced by one. */
  private void checkOpaque() {
    int at = at('O');
    if (at < 0) {
      return;
    }
    if (request.line().length(at) - 1 > OPAQUE_BYTES_MAX) {
      throw new Rejected("CLIENT_ERROR opaque token too long");
    }
    if (!request.line().isUtf8(at)) {
      throw new Rejected("CLIENT_ERROR opaque token is not valid UTF-8");
    }
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

  Slot slot(CounterAccess counters) {
    return request.shared().slot(counters, key);
  }

  /** Returns the key as a reply with flag k repeats it. */
  String returnedKey() {
    return " k" + request.line().text(1) + (has('b') ? " b" : "");
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

  /** Returns the index of a flag; -1 if it is absent. */
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

  /** Returns the token of a flag; empty if the flag is absent. */
  String token(char letter) {
    int at = at(letter);
    return at < 0 ? "" : request.line().text(at).substring(1);
  }

  /** Returns the unsigned number of a flag; {@code otherwise} if the flag is absent. */
  long unsigned(char letter, long otherwise) {
    return has(letter)
        ? Line.unsigned(token(letter), isCount() ? INVALID : Line.BAD_FORMAT)
        : otherwise;
  }

  /** Returns the time of a flag, in seconds. */
  long time(char letter) {
    try {
      return Long.parseLong(token(letter));
    } catch (NumberFormatException e) {
      throw new Rejected(isCount() ? INVALID : "CLIENT_ERROR bad token in command line format");
    }
  }
}
