package dev.quipu.store;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** What acknowledged writes in a store survive, from the weakest to the strongest. */
public enum Survival {
  /** Nothing for certain: the end of the store's process, or an eviction, may lose them. */
  NONE,
  /** The end of the store's process, but not a power failure. */
  PROCESS,
  /** A power failure. */
  FSYNC;

  /** Returns the value as in a URI: {@code none}, {@code process} or {@code fsync}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the value of a text; empty if there is none. */
  static Optional<Survival> of(String text) {
    return Arrays.stream(values()).filter(each -> each.text().equals(text)).findFirst();
  }

  /** Returns all texts, for errors. */
  static String texts() {
    return Arrays.stream(values()).map(Survival::text).collect(Collectors.joining(", "));
  }
}
