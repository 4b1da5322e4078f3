package dev.quipu.server.rank;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Some of the counters, by their names.
 *
 * @param prefix with which the names start
 * @param text which the names contain, in upper or lower case; may be empty
 */
public record Selection(String prefix, String text) {
  /** Maximum number of counters that one call reads; counters are read a page at a time. */
  public static final int READ_MAX = 1_000_000;

  /** Validates the selection. */
  public Selection {
    text = text.toLowerCase(Locale.ROOT);
  }

  boolean hasText(String name) {
    return text.isEmpty() || name.toLowerCase(Locale.ROOT).contains(text);
  }

  /**
   * Passes on what is selected of a listing in the order of their names. Values of different pages
   * are of different moments.
   *
   * @param after only names after this one; empty for all
   * @param mayContinue asked before each page
   * @param action returns whether to continue
   * @return the name after which to resume, if the action ended it
   * @throws IllegalArgumentException if there are more of them than may be read
   */
  public Optional<String> forEach(
      Listing listing,
      String after,
      BooleanSupplier mayContinue,
      Predicate<CounterPage.Entry> action) {
    String last = after;
    for (int read = 0; mayContinue.getAsBoolean(); read += Limits.PAGE_COUNTERS_MAX) {
      if (read >= READ_MAX) {
        throw new IllegalArgumentException(
            prefix.isEmpty()
                ? "there are more than %,d counters; use a prefix".formatted(READ_MAX)
                : "more than %,d names start with '%s'; use a longer prefix"
                    .formatted(READ_MAX, prefix));
      }
      CounterPage page = listing.list(prefix, last, Limits.PAGE_COUNTERS_MAX);
      for (CounterPage.Entry each : page.counters()) {
        if (hasText(each.name()) && !action.test(each)) {
          return Optional.of(last);
        }
        last = each.name();
      }
      if (page.resumeAfter().isEmpty()) {
        return Optional.empty();
      }
      last = page.resumeAfter().get();
    }
    throw noTime();
  }

  /**
   * Returns the first selected names after one, in order.
   *
   * @param mayContinue as for {@link #forEach}, with the same exceptions
   */
  public CounterPage page(Listing listing, String after, int limit, BooleanSupplier mayContinue) {
    List<CounterPage.Entry> found = new ArrayList<>();
    Optional<String> rest =
        forEach(
            listing,
            after,
            mayContinue,
            each -> {
              boolean isFull = found.size() == limit;
              if (!isFull) {
                found.add(each);
              }
              return !isFull;
            });
    return new CounterPage(found, rest);
  }

  /** Returns the error when counters could not be read in time. */
  IllegalArgumentException noTime() {
    return new IllegalArgumentException(
        "the names that start with '%s' could not be read in time; use a longer prefix"
            .formatted(prefix));
  }
}
