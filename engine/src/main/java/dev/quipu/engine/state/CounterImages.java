package dev.quipu.engine.state;

import dev.quipu.engine.ids.RequestIds;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;

/**
 * Copies a {@link CounterTable} for a snapshot, piece by piece: its pages, and after them the order
 * of its names; or, if a file has those, only the counters that have changed since. The table may
 * change between the pieces: the log has the changes. Not thread-safe.
 */
public final class CounterImages {
  private static final int BYTES_AT_ONCE = 1 << 20; // about half a millisecond of the leader
  private static final int ORDINALS_AT_ONCE = BYTES_AT_ONCE / Integer.BYTES / 2;
  private static final int CHANGES_AT_ONCE = 4_096; // or up to a page more
  private static final int PAGES_AT_ONCE = 4_096; // most of which have no changes
  private static final int SCANNED_AT_ONCE = 64; // of those with changes: 4 MiB

  private final CounterTable counters;
  private final CounterPages pages;
  private final int size;
  private final boolean isEmpty;

  CounterImages(CounterTable counters, CounterPages pages) {
    this.counters = counters;
    this.pages = pages;
    this.size = counters.named();
    this.isEmpty = pages.size() == 0;
  }

  /**
   * The counters of a page.
   *
   * @param number of the page, from 0
   * @param isLast whether there was no page after it
   * @param image names and values: see {@link PageImage}
   * @param ordinals of the counters with more content than that
   * @param contents of these counters
   */
  public record Page(
      int number,
      boolean isLast,
      ByteBuffer image,
      List<Integer> ordinals,
      List<CounterContent> contents) {}

  /**
   * A part of the order.
   *
   * @param ordinals of written counters in order of their names
   * @param last the name of the last one
   * @param isFull whether others may follow
   */
  public record Part(IntBuffer ordinals, String last, boolean isFull) {}

  /**
   * A counter that has changed since its page was copied to a file.
   *
   * @param content null if it was removed, and its ordinal is free
   * @param mayExpire whether it may have an expiry in the file
   * @param mayHaveScale whether it may have a scale in the file
   */
  public record Change(
      int ordinal, @Nullable CounterContent content, boolean mayExpire, boolean mayHaveScale) {}

  /**
   * Some changed counters.
   *
   * @param nextPage where the next ones are
   * @param isLast whether there are none
   */
  public record Changes(List<Change> changes, int nextPage, boolean isLast) {}

  /** Returns the number of counters when the copy began. */
  public int counters() {
    return size;
  }

  /** Returns whether there was no page when the copy began. */
  public boolean isEmpty() {
    return isEmpty;
  }

  /** Returns the number of counters that have changed since they were copied to a file. */
  public int changed() {
    int changed = 0;
    for (int number = 0; number < pages.size(); number++) {
      changed += pages.get(number).changed();
    }
    return changed;
  }

  /** Returns changed counters from a page on. */
  public Changes changes(int number, RequestIds ids) {
    List<Change> some = new ArrayList<>();
    int next = number;
    int end = Math.min(pages.size(), number + PAGES_AT_ONCE);
    int scanned = 0;
    for (; next < end && scanned < SCANNED_AT_ONCE && some.size() < CHANGES_AT_ONCE; next++) {
      CounterTablePage page = pages.get(next);
      int left = page.changed();
      scanned += left > 0 ? 1 : 0;
      for (int i = 0; left > 0; i++) {
        if (page.is(i, CounterTablePage.CHANGED)) {
          left--;
          int ordinal = next * CounterTablePage.SIZE + i;
          CounterContent content = counters.content(ordinal, ids);
          some.add(new Change(ordinal, content, page.expiries != null, page.scales != null));
        }
      }
    }
    return new Changes(some, next, next >= pages.size());
  }

  /**
   * Returns some pages from a number on, of which the first exists.
   *
   * @param isFile whether they are copied to a file that later snapshots refer to
   */
  public List<Page> pages(int number, RequestIds ids, boolean isFile) {
    List<Page> some = new ArrayList<>();
    int bytes = 0;
    do {
      Page page = page(number + some.size(), ids);
      if (isFile) {
        pages.get(page.number).copied(ids);
      }
      bytes += page.image.remaining();
      some.add(page);
    } while (bytes < BYTES_AT_ONCE && !some.getLast().isLast);
    return some;
  }

  private Page page(int number, RequestIds ids) {
    CounterTablePage page = pages.get(number);
    List<Integer> ordinals = new ArrayList<>();
    List<CounterContent> contents = new ArrayList<>();
    for (int i = 0; i < CounterTablePage.SIZE; i++) {
      int more = CounterTablePage.TEXT | CounterTablePage.EXPIRES | CounterTablePage.SCALED;
      if (page.is(i, more) && page.hasName(i)) {
        int ordinal = number * CounterTablePage.SIZE + i;
        ordinals.add(ordinal);
        contents.add(Objects.requireNonNull(counters.content(ordinal, ids)));
      }
    }
    return new Page(
        number, number + 1 == pages.size(), PageImage.of(page, ids), ordinals, contents);
  }

  /** Returns the part of the order that follows a name; all names follow the empty one. */
  public Part orderAfter(String name) {
    IntBuffer ordinals = IntBuffer.allocate(ORDINALS_AT_ONCE);
    PrimitiveIterator.OfInt following = counters.from(name, false);
    while (ordinals.hasRemaining() && following.hasNext()) {
      ordinals.put(following.nextInt());
    }
    int count = ordinals.position();
    String last = count == 0 ? null : counters.name(ordinals.get(count - 1));
    return new Part(ordinals.flip(), last == null ? name : last, count == ORDINALS_AT_ONCE);
  }
}
