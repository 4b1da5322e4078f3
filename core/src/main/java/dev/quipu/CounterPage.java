package dev.quipu;

import java.util.List;
import java.util.Optional;

/**
 * A page of a listing of counters, ordered by name (by code point).
 *
 * @param counters names and values
 * @param resumeAfter the name after which the next page starts; empty on the last page
 */
public record CounterPage(List<Entry> counters, Optional<String> resumeAfter) {
  /** A counter of the page. */
  public record Entry(String name, Reading reading) {}

  /** Copies the list. */
  public CounterPage {
    counters = List.copyOf(counters);
  }
}
