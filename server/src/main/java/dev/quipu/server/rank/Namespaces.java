package dev.quipu.server.rank;

import dev.quipu.CounterPage;
import dev.quipu.Counters;
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
  public record Namespace(String name, int counters, BigDecimal sum) {}

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
  public static Page page(
      Counters counters, String prefix, String after, int limit, BooleanSupplier mayContinue) {
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
                  if (isNew) {
                    found.add(one);
                  } else {
                    Namespace before = found.removeLast();
                    found.add(
                        new Namespace(
                            one.name(), before.counters() + 1, before.sum().add(one.sum())));
                  }
                  return true;
                });
    return new Page(found, rest);
  }

  private static Namespace namespace(CounterPage.Entry counter, String prefix) {
    int end = counter.name().indexOf(SEPARATOR, prefix.length());
    String name = end < 0 ? counter.name() : counter.name().substring(0, end + 1);
    return new Namespace(name, 1, counter.reading().decimal());
  }
}
