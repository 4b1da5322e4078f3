package dev.quipu.server.cli.settings;

import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The names of variables. Loads no library, for commands that start without the model of all. */
public final class Variables {
  /** The variable of the option that names the file. */
  static final String CONFIG = "QUIPU_CONFIG";

  private static final String PREFIX = "QUIPU_";

  private Variables() {}

  /** Returns the variable of an option, {@code QUIPU_ON_FAILURE} for {@code --on-failure}. */
  static String of(String option) {
    return PREFIX + option.replaceFirst("^-+", "").replace('-', '_').toUpperCase(Locale.ROOT);
  }

  /** Returns whether the environment has a variable of Quipu besides the known ones. */
  public static boolean hasOther(Map<String, String> environment, Set<String> known) {
    for (String each : environment.keySet()) {
      if (each.startsWith(PREFIX) && !known.contains(each)) {
        return true;
      }
    }
    return false;
  }
}
