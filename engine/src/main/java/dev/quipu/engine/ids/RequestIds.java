package dev.quipu.engine.ids;

import dev.quipu.engine.damage.DamageException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which requests were seen. Not thread-safe: only the committer calls it.
 *
 * <pre>{@code
 * Ids live in generations: an active table, which accepts new ids; tables that are full or old and
 * wait to be written to disk; and files. A generation ends after an eighth of the window, or when
 * its table is full, or at a checkpoint, and always between two frames of the log. Its ids are
 * remembered for the window and an eighth more after its newest id was added: so a wrong clock may
 * once take an eighth of the window from them (see EngineClock), and they are still remembered for
 * the window. Files are merged (see IdMerge) if their ids are no further apart than an eighth of
 * the window, and a merged file is forgotten after its newest id like any other.
 *
 * Each generation has an epoch, 1 to 254 and then again from 1, by which counters determine whether
 * ids of theirs may be remembered. It is live until the file is dropped, which is not before a
 * snapshot without it is durable.
 * }</pre>
 */
public final class RequestIds {
  /** Maximum number of tables that wait for the disk before new requests with ids are rejected. */
  public static final int WAITING_MAX = 3;

  private static final int GENERATIONS_PER_WINDOW = 8;

  /** Few, since a lookup reads all; more of them are dropped sooner. */
  private static final int INDEXES_PER_WINDOW = 2;

  /** Maximum number of ids of a merged file: a file of 2 GiB cannot be mapped. */
  private static final long MERGED_ENTRIES_MAX = 48_000_000;

  /** Limits the memory for the filter of a file that is written to a share of that of a table. */
  private static final int MERGED_TABLES_MAX = 16;

  /** Number of epochs, including 0 for none. */
  public static final int EPOCHS = 256;

  /** The epoch of all generations that were on disk when the engine was opened. */
  public static final int EPOCH_BEFORE = EPOCHS - 1;

  private final long windowMillis;
  private static final int RESERVED_SHARE = 16; // of a table

  private final int tableMax;
  private boolean isReserved;
  private final Deque<IdTable> waiting = new ArrayDeque<>();
  private final List<IdFile> files = new ArrayList<>();
  private final IdIndexes indexes;
  private List<IdFile> uncovered = List.of(); // files whose ids no index has
  private final List<IdFile> replaced = new ArrayList<>();
  private final IdsAhead ahead = new IdsAhead();
  private @Nullable IdTable spare;
  private final Secret secret;
  private final int[] generations = new int[EPOCHS]; // of each epoch, except the active one
  private IdTable active;
  private long soughtHash; // of the id that was looked up last: mostly it is added next
  private long soughtHigh;
  private long soughtLow;
  private int soughtOrdinal = -1;
  private int epoch = EPOCH_BEFORE;
  private boolean isReady;

  /** Creates it without ids; the indexes of all may take {@code indexBytesMax} of the heap. */
  public RequestIds(Secret secret, long windowMillis, int tableMax, long indexBytesMax) {
    this.secret = secret;
    this.windowMillis = windowMillis;
    this.tableMax = tableMax;
    this.indexes = new IdIndexes(indexBytesMax, windowMillis / INDEXES_PER_WINDOW);
    this.active = new IdTable(secret, tableMax);
    active.begin(epoch);
  }

  /**
   * Ends recovery. Until then all generations share an epoch: they are not read in the order of
   * their creation.
   */
  public void ready() {
    isReady = true;
  }

  /** Returns the epoch of ids that are added now. */
  public int epoch() {
    return epoch;
  }

  /** Returns whether an epoch has a generation. */
  public boolean isLive(int number) {
    return number != 0 && (generations[number] > 0 || number == epoch);
  }

  /** Copies the entry of an id to {@code entry}; returns false if it is not remembered. */
  public boolean find(long high, long low, int ordinal, long nowMillis, long[] entry) {
    long hash = secret.hash(high, low, ordinal);
    soughtHash = hash;
    soughtHigh = high;
    soughtLow = low;
    soughtOrdinal = ordinal;
    if (find(active, hash, high, low, ordinal, nowMillis, entry)) {
      return true;
    }
    if (!waiting.isEmpty() && findWaiting(hash, high, low, ordinal, nowMillis, entry)) {
      return true;
    }
    boolean mayBeIndexed = indexes.mayHold(hash);
    boolean mayBeUncovered = !uncovered.isEmpty() && !ahead.isInNoFile(hash);
    if (!mayBeIndexed && !mayBeUncovered) {
      return false;
    }
    for (int i = files.size() - 1; i >= 0; i--) { // the newest first: repeats arrive soon
      IdFile file = files.get(i);
      if ((indexes.cover(file.index()) ? mayBeIndexed : mayBeUncovered)
          && isRemembered(file.newestMillis(), nowMillis)
          && file.find(hash, high, low, ordinal, entry)) {
        return true;
      }
    }
    return false;
  }

  private boolean findWaiting(
      long hash, long high, long low, int ordinal, long nowMillis, long[] entry) {
    for (Iterator<IdTable> tables = waiting.descendingIterator(); tables.hasNext(); ) {
      if (find(tables.next(), hash, high, low, ordinal, nowMillis, entry)) { // the newest first
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether a file of later frames has an id. For recovery, which reads earlier log frames
   * after the files of later ones.
   */
  public boolean isInLaterFile(long high, long low, int ordinal, long frame, long[] entry) {
    long hash = secret.hash(high, low, ordinal);
    for (int i = files.size() - 1; i >= 0 && files.get(i).firstFrame() > frame; i--) {
      if (files.get(i).find(hash, high, low, ordinal, entry)) {
        return true;
      }
    }
    return false;
  }

  /** Announces an id that will be looked up soon: see {@link #readAhead}. */
  public void expect(long high, long low, int ordinal) {
    ahead.expect(secret.hash(high, low, ordinal));
  }

  /**
   * Reads the memory of the announced ids. Consecutive lookups would each wait for memory; reading
   * that of several ids first overlaps the cache misses.
   */
  public void readAhead() {
    ahead.read(indexes, active, waiting, uncovered);
  }

  /** Returns the sum of all memory that was read ahead, for tests. */
  public long touched() {
    return ahead.touched();
  }

  /** Remembers an id that is not remembered yet. */
  public void add(
      long high, long low, long meta, long delta, long value, long nowMillis, long frame) {
    int ordinal = IdTable.ordinal(meta);
    boolean isSought = high == soughtHigh && low == soughtLow && ordinal == soughtOrdinal;
    long hash = isSought ? soughtHash : secret.hash(high, low, ordinal);
    active.add(hash, high, low, meta, delta, value, nowMillis, frame);
  }

  /**
   * Makes room for a full table once there are many ids: a log with many has more, and growing the
   * table step by step would take longer than reading them.
   */
  public void reserve() {
    if (!isReserved && active.size() > tableMax / RESERVED_SHARE) {
      isReserved = true;
      active.reserve();
    }
  }

  /**
   * Ends the active generation if it is full or old.
   *
   * @return whether a table now waits for the disk
   */
  public boolean advance(long nowMillis) {
    boolean old = nowMillis - active.oldestMillis() > windowMillis / GENERATIONS_PER_WINDOW;
    if (active.size() > 0 && (active.size() >= tableMax || old) && hasRoom()) {
      rotate();
    }
    return !waiting.isEmpty();
  }

  /** Ends the active generation. */
  public void rotate() {
    if (active.size() > 0) {
      IdTable cleared = spare;
      IdTable next = cleared == null ? new IdTable(secret, tableMax) : cleared;
      indexes.choose(active);
      waiting.addLast(active);
      generations[epoch]++;
      spare = null;
      active = next;
      if (isReady) {
        epoch = epoch >= EPOCH_BEFORE - 1 ? 1 : epoch + 1;
      }
      next.begin(epoch);
      filesChanged();
    }
  }

  /** Returns whether new ids are accepted: false while the disk is too far behind. */
  public boolean hasRoom() {
    return waiting.size() < WAITING_MAX || active.size() < tableMax;
  }

  /** Returns the number of tables that wait for the disk. */
  public int waiting() {
    return waiting.size();
  }

  /** Returns the oldest table that waits for the disk; null if none does. */
  public @Nullable IdTable nextWaiting() {
    return waiting.peekFirst();
  }

  /** Replaces a table with the file that it was written to. */
  public void sealed(IdTable table, IdFile file) {
    file.setEpochs(table.epoch());
    file.setIndex(table.indexNumber());
    waiting.remove(table);
    insert(file);
  }

  /** Replaces a table with the file that it was written to, while nothing else reads the table. */
  public void replaced(IdTable table, IdFile file) {
    sealed(table, file);
    table.clear();
    reuse(table);
  }

  /** Accepts a cleared table, whose memory is reused for another generation. */
  void reuse(IdTable cleared) {
    spare = cleared;
  }

  /** Inserts a file found at the start. */
  public void add(IdFile file) {
    file.setEpochs(EPOCH_BEFORE);
    generations[EPOCH_BEFORE]++;
    insert(file);
  }

  /** Returns the newest files found at the start whose ids can be in one index. */
  public List<IdFile> unindexed() {
    List<IdFile> found = new ArrayList<>();
    long ids = 0;
    for (IdFile file : files.reversed()) {
      ids += file.entries();
      if (file.index() == IdIndexes.NONE && ids <= indexes.idsMax()) {
        found.add(file);
      }
    }
    return found;
  }

  /** Looks ids of {@link #unindexed} files up in an index from now on. */
  public boolean indexed(List<IdFile> found, IdIndex index) {
    if (!indexes.addBefore(index)) {
      return false; // there is no memory for it
    }
    found.forEach(file -> file.setIndex(IdIndexes.BEFORE));
    filesChanged();
    return true;
  }

  /** Keeps files in order of their frames, so that recent ids are found first. */
  private void insert(IdFile file) {
    int at = files.size();
    while (at > 0 && files.get(at - 1).firstFrame() > file.firstFrame()) {
      at--;
    }
    files.add(at, file);
    filesChanged();
  }

  /** Drops indexes that are no longer needed, or too large, and notes which files have none. */
  private void filesChanged() {
    int least = waiting.isEmpty() ? indexes.last() : waiting.getFirst().indexNumber();
    for (IdFile file : files) {
      if (indexes.cover(file.index())) {
        least = Math.min(least, file.index());
      }
    }
    indexes.trim(least);
    uncovered = files.stream().filter(file -> !indexes.cover(file.index())).toList();
    ahead.clear();
  }

  /**
   * Passes on the newest entry of each id, of {@link IdTable#STRIDE} longs: an id that was
   * forgotten and used again is in two generations.
   *
   * @throws DamageException if a page of a file is damaged
   */
  public void forEach(Consumer<long[]> action) {
    List<IdTable> tables = new ArrayList<>(waiting);
    tables.add(active);
    for (int i = 0; i < files.size(); i++) {
      List<IdFile> later = files.subList(i + 1, files.size());
      files.get(i).forEach(entry -> passOn(entry, later, tables, action));
    }
    for (int i = 0; i < tables.size(); i++) {
      List<IdTable> later = tables.subList(i + 1, tables.size());
      tables.get(i).forEach(entry -> passOn(entry, List.of(), later, action));
    }
  }

  private void passOn(
      long[] entry, List<IdFile> laterFiles, List<IdTable> laterTables, Consumer<long[]> action) {
    long high = entry[0];
    long low = entry[1];
    int ordinal = IdTable.ordinal(entry[2]);
    long hash = secret.hash(high, low, ordinal);
    long[] other = new long[IdTable.STRIDE];
    boolean isReplaced =
        laterFiles.stream().anyMatch(each -> each.find(hash, high, low, ordinal, other))
            || laterTables.stream().anyMatch(each -> each.find(hash, high, low, ordinal, other));
    if (!isReplaced) {
      action.accept(entry);
    }
  }

  /** Returns all files, oldest first. */
  public List<IdFile> files() {
    return List.copyOf(files);
  }

  /** Returns the files whose ids have all been forgotten. */
  public List<IdFile> forgotten(long nowMillis) {
    return files.stream().filter(file -> !isRemembered(file.newestMillis(), nowMillis)).toList();
  }

  /** Drops files that no durable snapshot lists any more. */
  public void drop(List<IdFile> gone) {
    for (IdFile file : gone) {
      files.remove(file);
      for (int each : file.epochs()) {
        generations[each]--;
      }
    }
    filesChanged();
  }

  /**
   * Returns files to be merged into one; empty if there are none. No table that waits for the disk
   * has ids of frames between those of the files: they would be taken to be in the merged file.
   */
  public List<IdFile> mergeable(Set<IdFile> except) {
    long end = waiting.isEmpty() ? Long.MAX_VALUE : waiting.getFirst().firstFrame();
    if (active.size() > 0) {
      end = Math.min(end, active.firstFrame());
    }
    long until = end;
    List<IdFile> all = new ArrayList<>(files);
    all.removeIf(file -> file.lastFrame() >= until);
    long entriesMax = Math.min(MERGED_ENTRIES_MAX, (long) MERGED_TABLES_MAX * tableMax);
    return IdMerge.choose(
        all,
        except,
        windowMillis / GENERATIONS_PER_WINDOW,
        entriesMax,
        IdMerge.filesOfATier(tableMax));
  }

  /**
   * Replaces files with one that has all their ids.
   *
   * @return false if they are no longer in use
   */
  public boolean merged(List<IdFile> old, IdFile file) {
    if (!files.containsAll(old)) {
      return false;
    }
    file.setEpochs(old.stream().flatMapToInt(each -> Arrays.stream(each.epochs())).toArray());
    file.setIndex(old.stream().mapToInt(IdFile::index).min().orElseThrow());
    files.removeAll(old);
    insert(file);
    replaced.addAll(old);
    return true;
  }

  /** Returns whether a file has the ids of all frames of another one, which it was merged from. */
  public boolean covers(IdFile other) {
    return files.stream()
        .anyMatch(file ->
            file.firstFrame() <= other.firstFrame() && file.lastFrame() >= other.lastFrame());
  }

  /** Returns the files whose ids are in merged ones; a snapshot may still list them. */
  public List<IdFile> replaced() {
    return List.copyOf(replaced);
  }

  /** Forgets replaced files, which no durable snapshot lists any more. */
  public void dropReplaced(List<IdFile> gone) {
    replaced.removeAll(gone);
  }

  /** Returns whether an id added at {@code millis} is still remembered. */
  boolean isRemembered(long millis, long nowMillis) {
    return nowMillis - millis <= windowMillis + windowMillis / GENERATIONS_PER_WINDOW;
  }

  /** Returns the number of ids in memory. */
  public long sizeInMemory() {
    long size = active.size();
    for (IdTable table : waiting) {
      size += table.size();
    }
    return size;
  }

  /** Returns the number of ids in memory and on disk, including forgotten generations. */
  public long size() {
    long size = sizeInMemory();
    for (IdFile file : files) {
      size += file.entries();
    }
    return size;
  }

  private boolean find(
      IdTable table, long hash, long high, long low, int ordinal, long nowMillis, long[] entry) {
    return table.size() > 0
        && isRemembered(table.newestMillis(), nowMillis)
        && table.find(hash, high, low, ordinal, entry);
  }
}
