package dev.quipu.engine.past;

import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.engine.history.HistoryStep;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The files of past buckets, and the file {@code history/rules}, which states the rules, since when
 * the changes of the counters of each pattern are recorded, and up to when the buckets of each step
 * were merged. Thread-safe.
 *
 * <pre>{@code
 * A file has the entries that were cut off at a boundary of the shortest step, or when a snapshot
 * began: so a bucket may have several, of which that with the lowest frame has the oldest values.
 * A bucket without a file had no changes. The buckets of longer steps are merged from those of
 * shorter ones when their time is over; of several values of a counter the oldest remains. Files
 * are deleted when the time that their step is kept is over.
 *
 * If the rules of a pattern change, or it is new, its history begins again.
 * }</pre>
 */
public final class HistoryFiles {
  private static final String RULES = "rules";

  /** Reads that have begun may still use a file. */
  private static final Duration DELETED_LATER = Duration.ofMinutes(10);

  private static final Comparator<Block> OLDEST_FIRST =
      Comparator.comparingLong(Block::lastFrame).thenComparing(each -> each.path().toString());

  private final Disk disk;
  private final Path directory;
  private final TreeMap<Long, List<Block>> byEnd = new TreeMap<>(); // guarded by this
  private final Map<String, Long> since = new HashMap<>(); // of each pattern; guarded by this
  private final Map<HistoryStep, Long> merged = new HashMap<>(); // guarded by this
  private HistoryRules rules = HistoryRules.none(); // guarded by this
  private SortedMap<HistoryStep, Duration> keptTimes = rules.steps(); // guarded by this
  private long first = Long.MAX_VALUE; // when the first recording began; guarded by this
  private long durableFrame; // guarded by this
  private long ignoredFrame; // guarded by this

  private HistoryFiles(Disk disk, Path directory) {
    this.disk = disk;
    this.directory = directory;
  }

  /** Returns the directory of the files within a data directory. */
  public static Path directory(Path data) {
    return data.resolve("history");
  }

  /** Finds the files of a data directory. Writes nothing. */
  public static HistoryFiles open(Disk disk, Path data) throws IOException {
    HistoryFiles files = new HistoryFiles(disk, directory(data));
    if (!disk.exists(files.directory)) {
      return files;
    }
    for (Path each : disk.list(files.directory)) {
      if (each.getFileName().toString().endsWith(Block.SUFFIX)) {
        files.add(Block.of(disk, each));
      }
    }
    if (disk.exists(files.directory.resolve(RULES))) {
      files.readRules();
    }
    return files;
  }

  private synchronized void add(Block block) {
    byEnd.computeIfAbsent(block.end(), end -> new ArrayList<>()).add(block);
    durableFrame = Math.max(durableFrame, block.lastFrame());
  }

  /** Returns the frame up to which all entries are in files. */
  public synchronized long durableFrame() {
    return durableFrame;
  }

  /** Returns the rules. */
  public synchronized HistoryRules rules() {
    return rules;
  }

  private void readRules() throws IOException {
    Path path = directory.resolve(RULES);
    try {
      readRules(StandardCharsets.UTF_8.decode(disk.read(path)).toString());
    } catch (RuntimeException e) {
      throw new DamageException(
          Damage.HISTORY,
          path,
          0,
          "the file is malformed; the counters are intact: without the directory history, they can"
              + " be used without their past");
    }
  }

  private synchronized void readRules(String text) {
    for (String line : text.split("\n", -1)) {
      String[] parts = line.split("\t", -1);
      switch (parts[0]) {
        case "rules" -> set(HistoryRules.parse(parts[1]));
        case "since" -> since.put(parts[1], Long.parseLong(parts[2]));
        case "first" -> first = Long.parseLong(parts[1]);
        case "ignored" -> {
          ignoredFrame = Long.parseLong(parts[1]);
          durableFrame = Math.max(durableFrame, ignoredFrame);
        }
        case "merged" -> merged.put(HistoryStep.parse(parts[1]), Long.parseLong(parts[2]));
        default -> {}
      }
    }
  }

  private synchronized void writeRules() throws IOException {
    StringBuilder text = new StringBuilder();
    if (!rules.isEmpty()) {
      text.append("rules\t").append(rules).append('\n');
    }
    new TreeMap<>(since)
        .forEach((pattern, time) ->
            text.append("since\t").append(pattern).append('\t').append(time).append('\n'));
    merged.entrySet().stream()
        .sorted(Entry.comparingByKey(HistoryStep.BY_LENGTH))
        .forEach(each ->
            text.append("merged\t")
                .append(each.getKey())
                .append('\t')
                .append(each.getValue())
                .append('\n'));
    if (first != Long.MAX_VALUE) {
      text.append("first\t").append(first).append('\n');
    }
    if (ignoredFrame > 0) {
      text.append("ignored\t").append(ignoredFrame).append('\n');
    }
    Path draft = directory.resolve(RULES + ".tmp");
    try (DiskFile file = disk.create(draft)) {
      file.write(ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.UTF_8)), 0);
      file.sync();
    }
    disk.rename(draft, directory.resolve(RULES));
  }

  /** Sets the rules. The history of a pattern whose rule differs begins now. */
  public synchronized void use(HistoryRules all, long nowMillis) throws IOException {
    if (all.rules().equals(rules.rules())) {
      return;
    }
    disk.createDirectories(directory);
    first = Math.min(first, nowMillis);
    since.keySet().removeIf(each -> !all.rules().containsKey(each));
    all.rules()
        .forEach((pattern, steps) -> {
          if (!steps.equals(rules.rules().get(pattern))) {
            since.put(pattern, nowMillis);
          }
        });
    merged.keySet().retainAll(all.steps().keySet());
    all.steps().keySet().forEach(each -> merged.putIfAbsent(each, each.floor(nowMillis)));
    set(all);
    writeRules();
  }

  private synchronized void set(HistoryRules all) {
    rules = all;
    keptTimes = all.steps();
  }

  /** Returns whether a file is of a time after this one. */
  synchronized boolean isAfter(long millis) {
    return !byEnd.isEmpty() && byEnd.lastKey() > millis;
  }

  /**
   * Begins the history of all counters again, without the files after a time: a clock was wrong.
   *
   * @param frame entries up to this one do not count
   */
  synchronized void beginAgain(long nowMillis, long frame) throws IOException {
    List<Block> gone =
        byEnd.tailMap(nowMillis, false).values().stream().flatMap(List::stream).toList();
    gone.forEach(each -> byEnd.remove(each.end()));
    since.replaceAll((pattern, time) -> nowMillis);
    merged.replaceAll((step, time) -> step.floor(nowMillis));
    durableFrame = Math.max(durableFrame, frame);
    ignoredFrame = frame;
    writeRules();
    for (Block each : gone) {
      disk.delete(each.path());
    }
  }

  /**
   * Returns whether nothing was recorded before a time: then the values before the first changes
   * after it are those of that time.
   */
  synchronized boolean isFirst(long millis) {
    return millis == first;
  }

  /** Returns since when changes of counters with a pattern are recorded. */
  synchronized long since(String pattern) {
    return since.getOrDefault(pattern, Long.MAX_VALUE);
  }

  /** Writes entries to a file. Returns when it is durable. */
  void write(Cut cut) throws IOException {
    Map<byte[], Before> oldest = new TreeMap<>(Arrays::compareUnsigned);
    cut.entries().forEach(each -> oldest.putIfAbsent(each.name(), each));
    Path path = directory.resolve(Block.name(cut.start(), cut.end(), cut.lastFrame()));
    try (BlockWriter writer = new BlockWriter(disk, path)) {
      for (Before each : oldest.values()) {
        writer.add(each);
      }
      writer.end(cut.start(), cut.end(), cut.lastFrame());
    }
    add(Block.of(disk, path));
  }

  /**
   * Returns the files of the buckets between two boundaries, the newest bucket first, those of a
   * bucket together, the oldest values last; of the longest buckets that do not cross {@code via}.
   *
   * @param until a boundary; all buckets up to it are in files
   * @param via boundaries in descending order; the last one is where to end
   * @param nowMillis the time that decides what is past keeping; {@link Long#MIN_VALUE} to ignore
   *     it
   * @throws MissingBoundaryException if one of them was not kept
   */
  List<Block> between(long until, List<Long> via, long nowMillis) throws MissingBoundaryException {
    List<HistoryStep> steps = longestFirst();
    List<Block> found = new ArrayList<>();
    long edge = until;
    for (long each : via) {
      while (edge > each) {
        long start = startOfBucket(edge, each, steps, nowMillis);
        if (start == Long.MIN_VALUE) {
          throw new MissingBoundaryException(each);
        }
        found.addAll(blocks(start, edge));
        edge = start;
      }
    }
    return found;
  }

  private synchronized List<HistoryStep> longestFirst() {
    List<HistoryStep> steps = new ArrayList<>(keptTimes.keySet());
    Collections.reverse(steps);
    return steps;
  }

  /** Returns the start of the longest kept bucket that ends at an edge and leads to a boundary. */
  private long startOfBucket(long edge, long boundary, List<HistoryStep> steps, long nowMillis) {
    long best = Long.MIN_VALUE;
    boolean isBestAligned = false;
    for (HistoryStep each : steps) {
      if (each.isBoundary(edge) && isMerged(each, edge) && isKept(each, edge, nowMillis)) {
        long start = each.floor(edge - 1);
        boolean isAligned = each.isBoundary(boundary);
        if (start >= boundary && (best == Long.MIN_VALUE || (isAligned && !isBestAligned))) {
          best = start;
          isBestAligned = isAligned;
        }
      }
    }
    if (isBestAligned) {
      return best;
    }
    long cut = startOfCut(edge, steps);
    boolean isCutKept = isKept(steps.getLast(), edge, nowMillis) || edge > mergedByAll(steps);
    if (best == Long.MIN_VALUE && isCutKept && cut >= boundary) {
      return cut;
    }
    return best;
  }

  /** Returns the boundary before an edge of the buckets in which entries are cut off. */
  private static long startOfCut(long edge, List<HistoryStep> steps) {
    long start = Long.MIN_VALUE;
    for (HistoryStep each : steps) {
      start = Math.max(start, each.floor(edge - 1));
    }
    return start;
  }

  /** Returns up to when all steps were merged: until then no file is deleted. */
  private synchronized long mergedByAll(List<HistoryStep> steps) {
    return steps.stream()
        .mapToLong(each -> merged.getOrDefault(each, Long.MIN_VALUE))
        .min()
        .orElse(Long.MIN_VALUE);
  }

  private synchronized boolean isMerged(HistoryStep step, long end) {
    return merged.getOrDefault(step, Long.MIN_VALUE) >= end;
  }

  private synchronized boolean isKept(HistoryStep step, long end, long nowMillis) {
    Duration time = keptTimes.get(step);
    return nowMillis == Long.MIN_VALUE || (time != null && end > nowMillis - time.toMillis());
  }

  /** Returns the first boundary of any step after a time, with its step. */
  synchronized String firstAfter(long millis) {
    return keptTimes.keySet().stream()
        .min(Comparator.comparingLong(each -> each.next(millis)))
        .map(each -> "%s (step %s)".formatted(Instant.ofEpochMilli(each.next(millis)), each))
        .orElseThrow();
  }

  /** Returns whether a time is a boundary of any step. */
  synchronized boolean isBoundary(long millis) {
    return keptTimes.keySet().stream().anyMatch(each -> each.isBoundary(millis));
  }

  /** Returns the files of buckets that begin at a time or later, which may be parts of buckets. */
  synchronized List<Block> from(long millis) {
    return byEnd.tailMap(millis, false).values().stream()
        .flatMap(List::stream)
        .filter(each -> each.start() >= millis) // one that begins before was merged meanwhile
        .toList();
  }

  private synchronized List<Block> blocks(long start, long end) {
    List<Block> found = new ArrayList<>();
    for (Block each : byEnd.getOrDefault(end, List.of())) {
      if (each.start() == start) {
        found.add(each);
      }
    }
    found.sort(OLDEST_FIRST.reversed());
    return found;
  }

  /** Returns the shortest step whose boundary at a time is still kept; empty if none is. */
  synchronized Optional<HistoryStep> shortestAt(long millis, long nowMillis) {
    return keptTimes.keySet().stream()
        .filter(each -> isKept(each, each.next(millis), nowMillis))
        .findFirst();
  }

  /**
   * Merges the buckets that are over, and deletes files that are no longer kept.
   *
   * @param until a boundary; all buckets up to it are in files
   */
  void maintain(long until, long nowMillis) throws IOException {
    List<HistoryStep> steps = longestFirst();
    Collections.reverse(steps); // the longer ones are merged from the shorter ones
    boolean isMerged = false;
    for (HistoryStep each : steps) {
      isMerged |= merge(each, until);
    }
    if (isMerged) { // files become too old with the buckets
      delete(steps, nowMillis);
    }
  }

  private void delete(List<HistoryStep> steps, long nowMillis) throws IOException {
    List<Block> gone = new ArrayList<>();
    synchronized (this) {
      for (List<Block> blocks : byEnd.headMap(mergedByAll(steps), true).values()) {
        for (Block each : blocks) {
          if (!isNeeded(each, steps, nowMillis)) {
            gone.add(each);
          }
        }
      }
      for (Block each : gone) {
        List<Block> rest = byEnd.getOrDefault(each.end(), new ArrayList<>());
        rest.remove(each);
        if (rest.isEmpty()) {
          byEnd.remove(each.end());
        }
      }
    }
    for (Block each : gone) {
      disk.delete(each.path());
    }
  }

  private boolean isNeeded(Block block, List<HistoryStep> steps, long nowMillis) {
    long later = nowMillis - DELETED_LATER.toMillis();
    for (HistoryStep each : steps) {
      boolean isOne = each.isBoundary(block.end()) && each.floor(block.end() - 1) == block.start();
      if (isOne && isKept(each, block.end(), later)) {
        return true;
      }
    }
    return startOfCut(block.end(), steps) == block.start()
        && isKept(steps.getFirst(), block.end(), later);
  }

  /** Returns whether a bucket was over. */
  private boolean merge(HistoryStep step, long until) throws IOException {
    long start;
    synchronized (this) {
      start = merged.getOrDefault(step, Long.MAX_VALUE);
    }
    List<HistoryStep> steps = longestFirst();
    long begun = start;
    while (start < until) {
      long first = nextChange(start);
      long end = first > until ? step.floor(until) : step.next(first - 1);
      if (end > until || end <= start) {
        break;
      }
      long before = step.floor(end - 1);
      if (first <= until && startOfCut(end, steps) > before) { // otherwise in one file already
        merge(before, end);
      }
      start = end;
      synchronized (this) {
        merged.put(step, end);
      }
    }
    if (start > begun) {
      writeRules();
    }
    return start > begun;
  }

  /** Returns the end of the next bucket with changes after a time, which may be far away. */
  private synchronized long nextChange(long millis) {
    Long end = byEnd.higherKey(millis);
    return end == null ? Long.MAX_VALUE : end;
  }

  private void merge(long start, long end) throws IOException {
    List<Block> blocks;
    try {
      blocks = between(end, List.of(start), Long.MIN_VALUE);
    } catch (MissingBoundaryException e) { // the step was added since
      return;
    }
    if (blocks.isEmpty()) {
      return;
    }
    long lastFrame = blocks.stream().mapToLong(Block::lastFrame).max().orElseThrow();
    Path path = directory.resolve(Block.name(start, end, lastFrame));
    try (BlockWriter writer = new BlockWriter(disk, path)) {
      PriorityQueue<Source> sources = new PriorityQueue<>();
      for (int i = 0; i < blocks.size(); i++) {
        Source.add(sources, blocks.get(i).from(new byte[0]), -i); // the last one is the oldest
      }
      byte @Nullable [] last = null;
      while (!sources.isEmpty()) {
        Source least = sources.poll();
        if (!Arrays.equals(last, least.entry.name())) {
          writer.add(least.entry);
          last = least.entry.name();
        }
        least.cursor.next();
        Source.add(sources, least.cursor, least.age);
      }
      writer.end(start, end, lastFrame);
    }
    add(Block.of(disk, path));
  }

  /** The next entry of a file that is merged. */
  private record Source(Block.Cursor cursor, Before entry, int age) implements Comparable<Source> {
    static void add(PriorityQueue<Source> sources, Block.Cursor cursor, int age) {
      Before entry = cursor.entry;
      if (entry != null) {
        sources.add(new Source(cursor, entry, age));
      }
    }

    @Override
    public int compareTo(Source other) {
      int byName = Arrays.compareUnsigned(entry.name(), other.entry.name());
      return byName != 0 ? byName : Integer.compare(age, other.age);
    }
  }
}
