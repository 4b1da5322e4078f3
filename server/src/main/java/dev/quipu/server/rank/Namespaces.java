package dev.quipu.server.rank;

import dev.quipu.CounterPage;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** The namespaces under a prefix: names up to the next slash, with the sums of their counters. */
public final class Namespaces {
  private static final char SEPARATOR = '/';

  private Namespaces() {}

  /**
   * A namespace, or a single counter.
   *
   * @param name with a slash at its end, unless it is a counter
   * @param counters the number of counters in it; 1 for a counter
   * @param sum of their values
   */
  public record Namespace(String name, int counters, BigDecimal sum) {
    private Namespace with(Namespace other) {
      return new Namespace(name, counters + other.counters, sum.add(other.sum));
    }
  }

  /**
   * Some of the namespaces.
   *
   * @param resumeAfter the name of a counter after which the next ones start; empty at the end
   */
  public record Page(List<Namespace> namespaces, Optional<String> resumeAfter) {
    /** Copies the list. */
    public Page {
      namespaces = List.copyOf(namespaces);
    }
  }

  /**
   * Returns the first namespaces after a counter, in the order of names. Reads all counters in
   * them.
   *
   * @param mayContinue asked before each page of counters is read
   * @throws IllegalArgumentException if there are more counters than may be read, or no time
   */
  public static Page byName(
      Listing counters, String prefix, String after, int limit, BooleanSupplier mayContinue) {
    List<Namespace> found = new ArrayList<>();
    Optional<String> rest =
        new Selection(prefix, "")
            .forEach(
                counters,
                after,
                mayContinue,
                counter -> {
                  Namespace one = namespace(counter, prefix);
                  boolean isNew = found.isEmpty() || !found.getLast().name().equals(one.name());
                  if (isNew && found.size() == limit) {
                    return false;
                  }
                  found.add(isNew ? one : found.removeLast().with(one));
                  return true;
                });
    return new Page(found, rest);
  }

  /**
   * A part of the namespaces by their sums.
   *
   * @param resumeAfter the place after which the next part starts; empty on the last one
   */
  public record Ranked(List<Namespace> namespaces, Optional<Place> resumeAfter) {
    /** Copies the list. */
    public Ranked {
      namespaces = List.copyOf(namespaces);
    }
  }

  /**
   * Returns the first namespaces after a place, by their sums; those with equal sums by name. Reads
   * all counters with the prefix.
   *
   * @param isDescending whether the greatest come first
   * @param mayContinue asked before each page of counters is read
   * @throws IllegalArgumentException if there are more counters than may be read, or no time
   */
  public static Ranked bySum(
      Listing counters,
      String prefix,
      boolean isDescending,
      Optional<Place> after,
      int limit,
      BooleanSupplier mayContinue) {
    Best<Namespace> best =
        new Best<>(each -> new Place(each.sum(), each.name()), isDescending, after, limit);
    List<Namespace> open = new ArrayList<>(); // the one whose counters are being read
    new Selection(prefix, "")
        .forEach(
            counters,
            "",
            mayContinue,
            counter -> {
              Namespace one = namespace(counter, prefix);
              if (!open.isEmpty() && open.getLast().name().equals(one.name())) {
                one = open.removeLast().with(one);
              }
              open.forEach(best::add);
              open.clear();
              open.add(one);
              return true;
            });
    open.forEach(best::add);
    return new Ranked(best.page(), best.resumeAfter());
  }

  private static Namespace namespace(CounterPage.Entry counter, String prefix) {
    int end = counter.name().indexOf(SEPARATOR, prefix.length());
    String name = end < 0 ? counter.name() : counter.name().substring(0, end + 1);
    return new Namespace(name, 1, counter.reading().decimal());
  }
}
