package dev.quipu.engine.state;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Fills a {@link CounterTable} from a snapshot, on all processors. Not thread-safe.
 *
 * <p>Pages are read several at a time. Their names are collected by the part of the index that they
 * belong to, so that each part is in the cache while many names are added to it.
 */
public final class CounterLoader {
  private static final int PAGES_AT_ONCE = 64;
  private static final int NAMES_AT_ONCE_MIN = 1 << 16;
  private static final int NAMES_AT_ONCE_MAX = 1 << 24; // 128 MiB
  private static final int NAMES_SHARE = 8; // one byte for each counter

  private final CounterTable counters;
  private final CounterPages pages;
  private final NameIndex index;
  private final NameOrder order;
  private final List<Image> images = new ArrayList<>();
  private final long[][] names = new long[NameIndex.PARTS][0];
  private final int[] namesOfPart = new int[NameIndex.PARTS];
  private int namesAtOnce = NAMES_AT_ONCE_MIN;
  private int namesCount;

  CounterLoader(CounterTable counters, CounterPages pages, NameIndex index, NameOrder order) {
    this.counters = counters;
    this.pages = pages;
    this.index = index;
    this.order = order;
  }

  private record Image(int number, ByteBuffer bytes) {}

  /** A page and the hashes of its names. */
  private static final class Loaded {
    final int number;
    final CounterTablePage page;
    final int[] hashes = new int[CounterTablePage.SIZE];

    Loaded(Image image, NameIndex index) {
      this.number = image.number;
      this.page = CounterTablePage.read(image.bytes);
      for (int i = 0; i < hashes.length; i++) {
        hashes[i] = page.hasName(i) ? page.hash(i, index) : 0;
      }
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
      load();
    }
  }

  /**
   * Completes the table with the pages that were added.
   *
   * @throws RuntimeException if one of them is invalid
   */
  public void finish() {
    if (!images.isEmpty()) {
      load();
    }
    if (namesCount > 0) {
      index();
    }
  }

  private void load() {
    boolean isLarge = images.size() == PAGES_AT_ONCE; // otherwise one thread is as fast
    List<Loaded> all =
        (isLarge ? images.parallelStream() : images.stream())
            .map(image -> new Loaded(image, index))
            .toList();
    images.clear();
    for (Loaded each : all) {
      counters.load(each.number, each.page);
      for (int i = 0; i < each.hashes.length; i++) {
        if (each.page.hasName(i)) {
          collect(each.hashes[i], each.number * CounterTablePage.SIZE + i);
        }
      }
    }
    if (namesCount >= namesAtOnce) {
      index();
    }
  }

  private void collect(int hash, int ordinal) {
    int part = NameIndex.part(hash);
    int count = namesOfPart[part]++;
    if (count == names[part].length) {
      names[part] = Arrays.copyOf(names[part], count + count / 2 + 16);
    }
    names[part][count] = NameIndex.slot(hash, ordinal);
    namesCount++;
  }

  /** Adds the collected names to the index. */
  private void index() {
    IntStream parts = IntStream.range(0, NameIndex.PARTS);
    List<int[]> present =
        (namesCount < NAMES_AT_ONCE_MIN ? parts : parts.parallel())
            .mapToObj(part -> index.putAll(names[part], namesOfPart[part], pages))
            .toList();
    for (int[] ordinals : present) {
      for (int ordinal : ordinals) {
        // The other was read earlier, before it was removed and its name was used again.
        counters.replaceOlder(ordinal);
      }
    }
    Arrays.fill(namesOfPart, 0);
    namesCount = 0;
  }

  /** Adds ordinals in the order of their names. */
  public void order(IntBuffer ordinals) {
    while (ordinals.hasRemaining()) {
      order.load(ordinals.get());
    }
  }

  /** Declares that all written counters were in the order, except those in the log. */
  public void ordered() {
    order.loaded();
  }
}
