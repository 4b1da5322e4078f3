package dev.quipu.server.resp.key;

import dev.quipu.server.resp.key.Arguments.Rejected;
import java.util.Set;

/** Parses expiries: EX, PX, EXAT or PXAT and a number. */
public final class Expiry {
  private static final Set<String> UNITS = Set.of("EX", "PX", "EXAT", "PXAT");

  private Expiry() {}

  /** Returns whether a word is one of the units. */
  public static boolean isUnit(String word) {
    return UNITS.contains(word);
  }

  /**
   * Converts a positive time to milliseconds since 1970.
   *
   * @param unit EX, PX, EXAT or PXAT
   * @param command name of the command, for the message
   */
  public static long at(long now, String unit, long time, String command) {
    if (time <= 0) {
      throw invalid(command);
    }
    return anyAt(now, unit, time, command);
  }

  /** Converts a time, possibly in the past, to milliseconds since 1970. */
  public static long anyAt(long now, String unit, long time, String command) {
    boolean inSeconds = unit.startsWith("EX");
    boolean isAbsolute = unit.endsWith("AT");
    long most = Long.MAX_VALUE / 1_000;
    if (inSeconds && (time > most || time < -most)) {
      throw invalid(command);
    }
    long millis = inSeconds ? time * 1_000 : time;
    if (!isAbsolute && millis > Long.MAX_VALUE - now) {
      throw invalid(command);
    }
    return isAbsolute ? millis : now + millis;
  }

  private static Rejected invalid(String command) {
    return new Rejected("ERR invalid expire time in '%s' command".formatted(command));
  }
}
