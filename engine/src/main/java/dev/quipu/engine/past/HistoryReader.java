package dev.quipu.engine.past;

import dev.quipu.CounterPage;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.backend.CounterHistory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Answers from the present and from the entries since a boundary: see {@link Recorder}.
 * Thread-safe.
 */
public final class HistoryReader implements CounterHistory {
  private static final int LISTINGS_MAX = 5;

  private final HistoryFiles files;
  private final Present present;

  /** The engine at one moment. */
  public interface Present {
    /** Returns the value of a counter, and what is not in files; without a name, only these. */
    Now now(@Nullable String counter);

    /**
     * Returns a page of counters.
     *
     * @param expired receives those that have expired and are not removed yet
     */
    CounterPage list(String prefix, String after, int limit, Consumer<CounterPage.Entry> expired);

    /** Removes the counters that have expired, if changes are accepted. */
    void removeExpired();
  }

  /**
   * A moment in commit order.
   *
   * @param reading the value of the counter
   * @param stored the same, but if it has expired and is not removed yet, the last value: the log
   *     has no change yet, so this is the value at the boundaries before
   */
  public record Now(
      long millis, Optional<Reading> reading, Optional<Reading> stored, Recorder.Recent recent) {}

  public HistoryReader(HistoryFiles files, Present present) {
    this.files = files;
    this.present = present;
  }

  /** Entries of a bucket, or of a part of one. */
  private interface Source {
    long start();

    long lastFrame();

    /** Returns the oldest entry of a counter; null if it did not change. */
    @Nullable Before find(byte[] name) throws IOException;

    /** Adds the oldest entries of the counters with a prefix. */
    void addTo(Map<String, Before> found, byte[] prefix) throws IOException;
  }

  private record InMemory(long start, long lastFrame, Entries.View entries) implements Source {
    @Override
    public @Nullable Before find(byte[] name) {
      Before[] found = {null};
      entries.forEach(each -> {
        if (found[0] == null && Arrays.equals(each.name(), name)) {
          found[0] = each;
        }
      });
      return found[0];
    }

    @Override
    public void addTo(Map<String, Before> found, byte[] prefix) {
      entries.forEach(each -> {
        if (startsWith(each.name(), prefix)) {
          found.putIfAbsent(new String(each.name(), StandardCharsets.UTF_8), each);
        }
      });
    }
  }

  private record InFile(Block block) implements Source {
    @Override
    public long start() {
      return block.start();
    }

    @Override
    public long lastFrame() {
      return block.lastFrame();
    }

    @Override
    public @Nullable Before find(byte[] name) throws IOException {
      return block.find(name);
    }

    @Override
    public void addTo(Map<String, Before> found, byte[] prefix) throws IOException {
      Block.Cursor cursor = block.from(prefix);
      for (Before each = cursor.entry; each != null; each = cursor.entry) {
        if (!startsWith(each.name(), prefix)) {
          break;
        }
        found.putIfAbsent(new String(each.name(), StandardCharsets.UTF_8), each);
        cursor.next();
      }
    }
  }

  private static boolean startsWith(byte[] name, byte[] prefix) {
    return name.length >= prefix.length
        && Arrays.equals(name, 0, prefix.length, prefix, 0, prefix.length);
  }

  @Override
  public List<String> patterns() {
    return List.copyOf(files.rules().rules().keySet());
  }

  @Override
  public boolean isKept(String counter) {
    return files.rules().patternOf(counter).isPresent();
  }

  @Override
  public List<Point> values(String counter, List<Instant> boundaries) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    checkBoundaries(boundaries);
    String pattern =
        files
            .rules()
            .patternOf(counter)
            .orElseThrow(() ->
                new IllegalArgumentException(
                    "no history of %s is kept; add it to serve --history".formatted(counter)));
    byte[] name = counter.getBytes(StandardCharsets.UTF_8);
    Now now = present.now(counter);
    Point[] points = new Point[boundaries.size()];
    Optional<Reading> value = now.reading();
    int next = boundaries.size() - 1;
    for (; next >= 0 && millis(boundaries, next) >= now.millis(); next--) {
      points[next] = new Point(boundaries.get(next), true, value, Optional.empty());
    }
    value = now.stored();
    long since = files.since(pattern);
    int first = firstToRead(now, boundaries, next, since);
    try {
      Walk walk = new Walk(now, descending(boundaries, first, next));
      for (; next >= first; next--) {
        for (Source each : walk.until(millis(boundaries, next))) {
          Before entry = each.find(name);
          value = entry == null ? value : reading(entry);
        }
        Instant at = boundaries.get(next);
        points[next] = new Point(at, at.toEpochMilli() >= since, value, sinceOf(at, since));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (; next >= 0; next--) {
      points[next] = new Point(boundaries.get(next), false, Optional.empty(), Optional.empty());
    }
    return List.of(points);
  }

  private static Optional<Reading> reading(Before entry) {
    return entry.exists()
        ? Optional.of(Reading.exact(entry.value(), entry.scale()))
        : Optional.empty();
  }

  @Override
  public List<Sum> sums(String prefix, List<Instant> boundaries) {
    checkBoundaries(boundaries);
    List<String> patterns = files.rules().patternsWithin(prefix);
    if (patterns.stream().noneMatch(each -> covers(each, prefix))) {
      throw new IllegalArgumentException(
          "not all counters that start with '%s' have a history; add '%s*' to serve --history"
              .formatted(prefix, prefix));
    }
    long since = patterns.stream().mapToLong(files::since).max().orElseThrow();
    Map<String, BigDecimal> values = new HashMap<>();
    Map<String, BigDecimal> expired = new HashMap<>();
    Now now = list(prefix, values, expired);
    BigDecimal sum = values.values().stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    Sum[] sums = new Sum[boundaries.size()];
    int next = boundaries.size() - 1;
    for (; next >= 0 && millis(boundaries, next) >= now.millis(); next--) {
      sums[next] = new Sum(boundaries.get(next), true, Optional.of(sum), Optional.empty());
    }
    values.putAll(expired); // as the log has it: see Now
    sum = expired.values().stream().reduce(sum, BigDecimal::add);
    int first = firstToRead(now, boundaries, next, since);
    byte[] start = prefix.getBytes(StandardCharsets.UTF_8);
    try {
      Walk walk = new Walk(now, descending(boundaries, first, next));
      for (; next >= first; next--) {
        for (Source each : walk.until(millis(boundaries, next))) {
          Map<String, Before> found = new HashMap<>();
          each.addTo(found, start);
          for (Map.Entry<String, Before> entry : found.entrySet()) {
            BigDecimal before =
                entry.getValue().exists()
                    ? BigDecimal.valueOf(entry.getValue().value(), entry.getValue().scale())
                    : BigDecimal.ZERO;
            BigDecimal after = values.put(entry.getKey(), before);
            sum = sum.add(before).subtract(after == null ? BigDecimal.ZERO : after);
          }
        }
        Instant at = boundaries.get(next);
        sums[next] = new Sum(at, at.toEpochMilli() >= since, Optional.of(sum), sinceOf(at, since));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (; next >= 0; next--) {
      sums[next] = new Sum(boundaries.get(next), false, Optional.empty(), Optional.empty());
    }
    return List.of(sums);
  }

  @Override
  public Optional<Instant> began(String prefix) {
    return files.rules().patternsWithin(prefix).stream()
        .map(files::since)
        .filter(files::isFirst)
        .findFirst()
        .map(Instant::ofEpochMilli);
  }

  @Override
  public List<Changed> changedSince(String prefix, Instant boundary) {
    List<String> patterns = files.rules().patternsWithin(prefix);
    if (patterns.isEmpty()) {
      throw new IllegalArgumentException(
          "no past of counters that start with '%s' is kept; add a rule such as '%s*=hour:90d' to serve --history"
              .formatted(prefix, prefix));
    }
    List<String> known =
        patterns.stream().filter(each -> isKnown(each, boundary.toEpochMilli())).toList();
    if (known.isEmpty()) {
      long since = patterns.stream().mapToLong(files::since).min().orElseThrow();
      throw new IllegalArgumentException(
          "the values at %s are not known: the recording of %s began at %s; the first that are known are those at %s"
              .formatted(
                  boundary,
                  String.join(", ", patterns),
                  Instant.ofEpochMilli(since),
                  files.firstAfter(since)));
    }
    present.removeExpired(); // so that they are among those that changed
    Now now = present.now(null);
    if (boundary.toEpochMilli() >= now.millis()) {
      return List.of();
    }
    Map<String, Before> oldest = new HashMap<>();
    byte[] start = prefix.getBytes(StandardCharsets.UTF_8);
    try {
      Walk walk = new Walk(now, List.of(boundary.toEpochMilli()));
      for (Source each : walk.until(boundary.toEpochMilli())) { // the newest first
        Map<String, Before> found = new HashMap<>();
        each.addTo(found, start);
        oldest.putAll(found);
        if (oldest.size() > COUNTERS_MAX) {
          throw new IllegalArgumentException(
              "more than %d counters that start with '%s' changed; use a longer prefix"
                  .formatted(COUNTERS_MAX, prefix));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<Changed> changed = new ArrayList<>();
    oldest.forEach((name, before) -> {
      if (files.rules().patternOf(name).filter(known::contains).isPresent()) {
        changed.add(new Changed(name, reading(before)));
      }
    });
    return changed;
  }

  /**
   * Returns whether the values at a boundary, or those when the first recording began, are known.
   */
  private boolean isKnown(String pattern, long boundary) {
    long since = files.since(pattern);
    return since <= boundary || files.isFirst(since);
  }

  private static boolean covers(String pattern, String prefix) {
    return pattern.endsWith("*") && prefix.startsWith(pattern.substring(0, pattern.length() - 1));
  }

  /** Lists counters within one bucket; returns a moment after that, in the same bucket. */
  private Now list(String prefix, Map<String, BigDecimal> values, Map<String, BigDecimal> expired) {
    for (int i = 0; i < LISTINGS_MAX; i++) {
      values.clear();
      expired.clear();
      long start = present.now(null).recent().start();
      String after = "";
      for (boolean isLast = false; !isLast; ) {
        CounterPage page =
            present.list(
                prefix,
                after,
                Limits.PAGE_COUNTERS_MAX,
                each -> expired.put(each.name(), each.reading().decimal()));
        for (CounterPage.Entry each : page.counters()) {
          values.put(each.name(), each.reading().decimal());
        }
        if (values.size() + expired.size() > COUNTERS_MAX) {
          throw new IllegalArgumentException(
              "more than %d counters start with '%s'; use a longer prefix"
                  .formatted(COUNTERS_MAX, prefix));
        }
        isLast = page.resumeAfter().isEmpty();
        after = page.resumeAfter().orElse("");
      }
      Now now = present.now(null);
      if (now.recent().start() == start) {
        return now;
      }
    }
    throw new IllegalArgumentException(
        "the counters that start with '%s' cannot be read between two boundaries; use a longer prefix"
            .formatted(prefix));
  }

  private static void checkBoundaries(List<Instant> boundaries) {
    if (boundaries.isEmpty() || boundaries.size() > BOUNDARIES_MAX) {
      throw new IllegalArgumentException(
          "%d boundaries; the number must be from 1 to %d; use a longer step"
              .formatted(boundaries.size(), BOUNDARIES_MAX));
    }
    for (int i = 1; i < boundaries.size(); i++) {
      if (!boundaries.get(i - 1).isBefore(boundaries.get(i))) {
        throw new IllegalArgumentException("boundaries must be in ascending order");
      }
    }
  }

  private static long millis(List<Instant> boundaries, int index) {
    return boundaries.get(index).toEpochMilli();
  }

  /**
   * Returns the first boundary for which entries are read: the first one at which changes were
   * recorded; if there were none before, that before it, unless files of then are deleted.
   */
  private int firstToRead(Now now, List<Instant> boundaries, int last, long since) {
    int first = 0;
    while (first < boundaries.size() && millis(boundaries, first) < since) {
      first++;
    }
    if (first == 0 || !files.isFirst(since)) {
      return first;
    }
    try {
      var unused = new Walk(now, descending(boundaries, first - 1, last));
      return first - 1;
    } catch (IllegalArgumentException e) {
      return first;
    }
  }

  private static Optional<Instant> sinceOf(Instant at, long since) {
    Instant began = Instant.ofEpochMilli(since);
    return at.isBefore(began) ? Optional.of(began) : Optional.empty();
  }

  private static List<Long> descending(List<Instant> boundaries, int first, int last) {
    List<Long> found = new ArrayList<>();
    for (int i = last; i >= first; i--) {
      found.add(millis(boundaries, i));
    }
    return found;
  }

  /** The way back from the present. */
  private final class Walk {
    private static final Comparator<Source> NEWEST_FIRST =
        Comparator.comparingLong(Source::start).thenComparingLong(Source::lastFrame).reversed();

    private final List<Source> sources;
    private int next;

    /** Finds what lies between the present and some boundaries, in descending order. */
    Walk(Now now, List<Long> boundaries) {
      Recorder.Recent recent = now.recent();
      sources = new ArrayList<>();
      sources.add(new InMemory(recent.start(), Long.MAX_VALUE, recent.entries()));
      long until = recent.start();
      for (Cut each : recent.waiting()) {
        sources.add(new InMemory(each.start(), each.lastFrame(), each.entries()));
        until = Math.min(until, each.start());
      }
      for (Block each : files.from(until)) {
        sources.add(new InFile(each));
      }
      sources.sort(NEWEST_FIRST);
      List<Long> older = new ArrayList<>();
      for (long each : boundaries) {
        if (each < until) {
          older.add(each);
        } else if (each > recent.start() || !files.isBoundary(each)) {
          throw missing(each, now.millis());
        }
      }
      try {
        for (Block each : files.between(until, older, now.millis())) {
          sources.add(new InFile(each));
        }
      } catch (MissingBoundaryException e) {
        throw missing(e.millis(), now.millis());
      }
    }

    private IllegalArgumentException missing(long boundary, long nowMillis) {
      return new IllegalArgumentException(
          "the values at %s were not kept; %s"
              .formatted(
                  Instant.ofEpochMilli(boundary),
                  files
                      .shortestAt(boundary, nowMillis)
                      .map(step -> "the shortest step there is " + step)
                      .orElse("the recording began later, or they have been deleted since")));
    }

    /** Returns the next sources, back to a boundary. */
    List<Source> until(long boundary) {
      List<Source> found = new ArrayList<>();
      while (next < sources.size() && sources.get(next).start() >= boundary) {
        found.add(sources.get(next++));
      }
      return found;
    }
  }
}
