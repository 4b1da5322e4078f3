package dev.quipu.engine.state;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Fills a {@link CounterTable} from a snapshot, on all processors. Not thread-safe.
 *
 * <p>Pages are decoded several at a time, while the next ones are read from disk. Their names are
 * collected by the part of the index that they belong to, so that each part is in the cache while
 * many names are added to it.
 */
public final class CounterLoader {
  private static final int PAGES_AT_ONCE = 64;
  private static final int PAGES_OF_A_RUN = 8;
  private static final int NAMES_AT_ONCE_MIN = 1 << 16;
  private static final int NAMES_AT_ONCE_MAX = 1 << 24; // 128 MiB
  private static final int NAMES_SHARE = 8; // one byte for each counter

  private final CounterTable counters;
  private final CounterPages pages;
  private final NameIndex index;
  private final NameOrder order;
  private List<Image> images = new ArrayList<>();
  private @Nullable Batch decoding;
  private final List<Run> unindexed = new ArrayList<>();
  private int namesAtOnce = NAMES_AT_ONCE_MIN;
  private int namesCount; // that are not in the index

  CounterLoader(CounterTable counters, CounterPages pages, NameIndex index, NameOrder order) {
    this.counters = counters;
    this.pages = pages;
    this.index = index;
    this.order = order;
  }

  private record Image(int number, ByteBuffer bytes) {}

  /** Some pages, and the slots of their names in the index, part by part. */
  private static final class Run {
    final List<CounterTablePage> pages = new ArrayList<>();
    final List<PageImage.Summary> summaries = new ArrayList<>();
    final long[] slots;
    final int[] ends = new int[NameIndex.PARTS]; // of the slots of each part

    Run(List<Image> images, NameIndex index) {
      int names = 0;
      for (Image image : images) {
        CounterTablePage page = PageImage.read(image.bytes);
        pages.add(page);
        summaries.add(PageImage.summary(page));
        names += summaries.getLast().named();
      }
      long[] unsorted = new long[names];
      int count = 0;
      for (int i = 0; i < images.size(); i++) {
        CounterTablePage page = pages.get(i);
        for (int at = 0; at < summaries.get(i).end(); at++) {
          if (page.hasName(at)) {
            int hash = page.hash(at, index);
            ends[NameIndex.part(hash)]++;
            int ordinal = images.get(i).number * CounterTablePage.SIZE + at;
            unsorted[count++] = NameIndex.slot(hash, ordinal);
          }
        }
      }
      for (int part = 1; part < NameIndex.PARTS; part++) {
        ends[part] += ends[part - 1];
      }
      slots = new long[names];
      int[] next = ends.clone();
      for (int i = names - 1; i >= 0; i--) { // from the end of each part to its start
        slots[--next[NameIndex.partOf(unsorted[i])]] = unsorted[i];
      }
    }

    int[] addTo(NameIndex index, int part, CounterPages names) {
      return index.putAll(slots, part == 0 ? 0 : ends[part - 1], ends[part], names);
    }
  }

  /** Pages that are decoded by all processors. */
  private static final class Batch {
    private final List<Image> images;
    private final NameIndex index;
    private final Run[] runs;
    private final AtomicInteger next = new AtomicInteger();
    private final List<ForkJoinTask<?>> others = new ArrayList<>();

    Batch(List<Image> images, NameIndex index) {
      this.images = images;
      this.index = index;
      this.runs = new Run[Math.ceilDiv(images.size(), PAGES_OF_A_RUN)];
    }

    /** Begins in other threads. */
    void begin() {
      for (int i = 0; i < ForkJoinPool.getCommonPoolParallelism(); i++) {
        others.add(ForkJoinPool.commonPool().submit(this::work));
      }
    }

    private void work() {
      for (int i = next.getAndIncrement(); i < runs.length; i = next.getAndIncrement()) {
        int first = i * PAGES_OF_A_RUN;
        int end = Math.min(images.size(), first + PAGES_OF_A_RUN);
        runs[i] = new Run(images.subList(first, end), index);
      }
    }

    /**
     * Decodes the rest.
     *
     * @throws RuntimeException if one of them is invalid
     */
    void end() {
      try {
        work();
      } finally {
        others.forEach(ForkJoinTask::quietlyJoin);
      }
      others.forEach(ForkJoinTask::join); // which throws what it has thrown
    }
  }

  /** Makes room for this number of counters. */
  public void expect(long counters) {
    index.reserve(counters);
    namesAtOnce = Math.clamp(counters / NAMES_SHARE, NAMES_AT_ONCE_MIN, NAMES_AT_ONCE_MAX);
  }

  /** Adds a page; {@link #finish} must be called before the table is used. */
  public void add(int number, ByteBuffer image) {
    images.add(new Image(number, image));
    if (images.size() == PAGES_AT_ONCE) {
      takeDecoded();
      decoding = decode();
      decoding.begin();
    }
  }

  /**
   * Completes the table with the pages that were added.
   *
   * @throws RuntimeException if one of them is invalid
   */
  public void finish() {
    takeDecoded();
    if (!images.isEmpty()) {
      decoding = decode(); // here: for a few pages one thread is as fast
      takeDecoded();
    }
    if (!unindexed.isEmpty()) {
      index();
    }
  }

  private Batch decode() {
    Batch batch = new Batch(images, index);
    images = new ArrayList<>();
    return batch;
  }

  private void takeDecoded() {
    Batch batch = decoding;
    if (batch == null) {
      return;
    }
    decoding = null;
    batch.end();
    int page = 0;
    for (Run run : batch.runs) {
      for (int i = 0; i < run.pages.size(); i++) {
        int number = batch.images.get(page++).number;
        counters.load(number, run.pages.get(i), run.summaries.get(i));
      }
      unindexed.add(run);
      namesCount += run.slots.length;
    }
    if (namesCount >= namesAtOnce) {
      index();
    }
  }

  /** Adds the names of the pages to the index. */
  private void index() {
    IntStream parts = IntStream.range(0, NameIndex.PARTS);
    List<int[]> present =
        (namesCount < NAMES_AT_ONCE_MIN ? parts : parts.parallel())
            .boxed()
            .flatMap(part ->
                unindexed.stream()
                    .map(each -> each.addTo(index, part, pages))
                    .filter(each -> each.length > 0))
            .toList();
    for (int[] ordinals : present) {
      for (int ordinal : ordinals) {
        // The other was read earlier, before it was removed and its name was used again.
        counters.replaceOlder(ordinal);
      }
    }
    unindexed.clear();
    namesCount = 0;
  }

  /** Adds ordinals in the order of their names. */
  public void order(IntBuffer ordinals) {
    order.load(ordinals);
  }

  /**
   * Declares that a counter has changed since the order was written. It may be as it was when its
   * page was written, which is earlier.
   */
  public void changed(int ordinal) {
    order.changed(ordinal);
  }

  /** Declares that all written counters were in the order, except those in the log. */
  public void ordered() {
    order.loaded();
  }
}
