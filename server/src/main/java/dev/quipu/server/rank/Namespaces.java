package dev.quipu.server.rank;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.backend.CounterHistory;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  /**
   * Returns the first namespaces after a place, by the sum of the changes of their counters; those
   * with equal sums by name. A namespace has the number of counters that changed, and that sum.
   *
   * @param movers which counters, since when, and in which order
   * @param mayContinue asked before each page of counters is read
   * @throws IllegalArgumentException as for {@link Movers#page}
   */
  public static Ranked byChange(
      CounterHistory history,
      Counters counters,
      Movers movers,
      Optional<Place> after,
      int limit,
      BooleanSupplier mayContinue) {
    String prefix = movers.selection().prefix();
    Map<String, Namespace> changed = new HashMap<>();
    movers.forEach(
        history,
        counters,
        mayContinue,
        each -> {
          String name = nameOf(each.name(), prefix);
          changed.merge(name, new Namespace(name, 1, each.change()), Namespace::with);
        });
    Best<Namespace> best =
        new Best<>(each -> new Place(each.sum(), each.name()), movers.isDescending(), after, limit);
    changed.values().forEach(best::add);
    return new Ranked(best.page(), best.resumeAfter());
  }

  private static Namespace namespace(CounterPage.Entry counter, String prefix) {
    return new Namespace(nameOf(counter.name(), prefix), 1, counter.reading().decimal());
  }

  private static String nameOf(String counter, String prefix) {
    int end = counter.indexOf(SEPARATOR, prefix.length());
    return end < 0 ? counter : counter.substring(0, end + 1);
  }
}
