package dev.quipu.engine.ids;

import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Merges files of request ids that follow each other in the log. Not thread-safe.
 *
 * <pre>{@code
 * Sizes are in tiers, each 8 times the last one. When there are 8 files of a tier, with only
 * smaller ones between them, all these become one file: so there are few files, and each id is
 * mostly written twice. In a small heap, where more files are needed for as many ids, it is 4
 * times and 4 files: then most ids are written three times. The ids of a merged file are not
 * further apart than those of one generation may be, for they are forgotten together.
 * }</pre>
 */
public final class IdMerge {
  private static final int FILES_OF_A_TIER = 8;
  private static final int FILES_OF_A_SMALL_TIER = 4;

  /** Files of smaller tables are in smaller tiers. */
  private static final int SMALL_TABLE = 1 << 17;

  private static final long BYTES_PER_PIECE = 1 << 20;
  private static final long BYTES_PER_SYNC = 1 << 23;

  /** Waits between two pieces of a merge. */
  public interface Pace {
    /** Returns whether to continue. */
    boolean next();
  }

  private final Disk disk;
  private final Path data;
  private final Secret secret;

  public IdMerge(Disk disk, Path data, long identity) {
    this.disk = disk;
    this.data = data;
    this.secret = new Secret(identity);
  }

  /** Returns how many files of a tier are merged if a table has at most this number of ids. */
  static int filesOfATier(int tableMax) {
    return tableMax < SMALL_TABLE ? FILES_OF_A_SMALL_TIER : FILES_OF_A_TIER;
  }

  /**
   * Returns files to be merged into one, in order of their frames; empty if there are none.
   *
   * @param files in order of their frames
   * @param except files that are not merged, nor others across them: a merged file has all ids
   *     between its first and its last frame
   * @param spanMillis how far their ids may be apart
   * @param entriesMax how many ids they may have
   * @param ofATier how many files of a tier are merged, and how much larger the next one is
   */
  static List<IdFile> choose(
      List<IdFile> files, Set<IdFile> except, long spanMillis, long entriesMax, int ofATier) {
    List<IdFile> best = List.of();
    int least = Integer.MAX_VALUE;
    for (int first = 0; first < files.size(); first++) {
      int tier = tier(files.get(first), ofATier);
      if (tier < least) { // the smallest first: that is the least work for one file less
        List<IdFile> rest = files.subList(first, files.size());
        List<IdFile> run = run(rest, except, spanMillis, entriesMax, ofATier);
        best = run.isEmpty() ? best : run;
        least = run.isEmpty() ? least : tier;
      }
    }
    return best;
  }

  /** Returns the first files up to the last one of the tier of the first one, or none. */
  private static List<IdFile> run(
      List<IdFile> files, Set<IdFile> except, long spanMillis, long entriesMax, int ofATier) {
    int tier = tier(files.getFirst(), ofATier);
    long oldest = Long.MAX_VALUE;
    long newest = Long.MIN_VALUE;
    long entries = 0;
    int found = 0;
    for (int i = 0; i < files.size(); i++) {
      IdFile file = files.get(i);
      oldest = Math.min(oldest, file.oldestMillis());
      newest = Math.max(newest, file.newestMillis());
      entries += file.entries();
      boolean isApart = newest - oldest > spanMillis || tier(file, ofATier) > tier;
      if (isApart || entries > entriesMax || except.contains(file)) {
        return List.of();
      }
      if (tier(file, ofATier) == tier && ++found == ofATier) {
        return List.copyOf(files.subList(0, i + 1));
      }
    }
    return List.of();
  }

  private static int tier(IdFile file, int ofATier) {
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(file.entries());
    return bits / Integer.numberOfTrailingZeros(ofATier);
  }

  /**
   * Writes the ids of files to a new one. The files remain: they are still in use, and a snapshot
   * lists them.
   *
   * @return the new file, which is durable; null if {@code pace} ended the merge
   * @throws DamageException if a page is damaged
   */
  public @Nullable IdFile merge(List<IdFile> files, Pace pace) throws IOException {
    long firstFrame = files.getFirst().firstFrame();
    long lastFrame = files.getLast().lastFrame();
    Path path = IdFiles.merged(data, firstFrame, lastFrame);
    boolean isWritten = false;
    try (IdFileWriter out = new IdFileWriter(disk, path, entries(files))) {
      if (!write(files, out, pace)) {
        return null;
      }
      long oldest = files.stream().mapToLong(IdFile::oldestMillis).min().orElseThrow();
      long newest = files.stream().mapToLong(IdFile::newestMillis).max().orElseThrow();
      out.end(oldest, newest, firstFrame, lastFrame);
      isWritten = true;
    } finally {
      if (!isWritten) {
        disk.delete(IdFileWriter.draft(path));
      }
    }
    return IdFile.open(disk, path);
  }

  /**
   * Returns an index of the ids of files, which it reads as slowly as a merge does.
   *
   * @return null if {@code pace} ended it
   * @throws DamageException if a page is damaged
   */
  public @Nullable IdIndex index(List<IdFile> files, Pace pace) {
    return IdIndex.of(files, secret, pace);
  }

  private static int entries(List<IdFile> files) {
    return Math.toIntExact(files.stream().mapToLong(IdFile::entries).sum());
  }

  /** Returns whether all was written. */
  private boolean write(List<IdFile> files, IdFileWriter out, Pace pace) throws IOException {
    List<IdCursor> cursors = new ArrayList<>();
    for (IdFile file : files.reversed()) { // the newest first
      IdCursor cursor = new IdCursor(file, secret);
      if (cursor.next()) {
        cursors.add(cursor);
      }
    }
    Written written = new Written();
    long paced = 0;
    long synced = 0;
    while (!cursors.isEmpty()) {
      IdCursor least = cursors.getFirst();
      for (IdCursor each : cursors) { // a few; of equal ones the first, which is the newest
        if (Long.compareUnsigned(each.hash(), least.hash()) < 0) {
          least = each;
        }
      }
      if (written.isNew(least)) {
        least.addTo(out);
      }
      if (!least.next()) {
        cursors.remove(least);
      }
      if (out.bytes() - paced >= BYTES_PER_PIECE) {
        paced = out.bytes();
        if (paced - synced >= BYTES_PER_SYNC) {
          synced = paced;
          out.sync(); // often, so that no sync is long: the log shares the disk
        }
        if (!pace.next()) {
          return false;
        }
      }
    }
    return true;
  }

  /** The ids that were written last, which have one hash: in practice, one. */
  private static final class Written {
    private final List<long[]> others = new ArrayList<>();
    private long hash;
    private long high;
    private long low;
    private int ordinal = -1;

    /** Returns whether an id was not written yet: it may have been forgotten and used again. */
    boolean isNew(IdCursor next) {
      if (next.hash() != hash || ordinal < 0) {
        others.clear();
      } else if (next.high() == high && next.low() == low && next.ordinal() == ordinal) {
        return false;
      } else {
        for (long[] each : others) {
          if (each[0] == next.high() && each[1] == next.low() && each[2] == next.ordinal()) {
            return false;
          }
        }
        others.add(new long[] {high, low, ordinal});
      }
      hash = next.hash();
      high = next.high();
      low = next.low();
      ordinal = next.ordinal();
      return true;
    }
  }
}
