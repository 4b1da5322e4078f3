package dev.quipu.engine.state;

import dev.quipu.engine.ids.RequestIds;
import dev.quipu.engine.log.Records;
import java.nio.ByteBuffer;

/**
 * A page of counters in bytes, for snapshots.
 *
 * <pre>{@code
 * IMAGE: bytes of all names with their lengths, counters with a name.
 * COUNTER: flags, number of free ordinals before it (if flagged), name after its length, value (if
 * flagged). Numbers are variable-length integers, as in Records. The length of a name is one byte
 * below 128, otherwise two, with the highest bit set.
 * }</pre>
 */
final class PageImage {
  /** Flag: the ordinals before it have no name; their number follows. */
  private static final int GAP = 1;

  /** Flag: it holds a number, which follows the name. */
  private static final int WRITTEN = 2;

  /** Flag: it may have request ids. */
  private static final int IDS = 4;

  private static final int SHORT_MAX = 0x7f; // length of a name that takes one byte
  private static final int COUNTER_BYTES_MAX = 16; // without its name

  private PageImage() {}

  /** Returns the image of a page. */
  static ByteBuffer of(CounterTablePage page, RequestIds ids) {
    int names = 0;
    for (int i = 0; i < CounterTablePage.SIZE; i++) {
      int length = page.length(i);
      names += length + (length == 0 ? 0 : length <= SHORT_MAX ? 1 : 2);
    }
    int bytes = names + CounterTablePage.SIZE * COUNTER_BYTES_MAX + CounterTablePage.START;
    ByteBuffer out = ByteBuffer.allocate(bytes);
    Records.unsigned(out, names);
    int next = 0;
    for (int i = 0; i < CounterTablePage.SIZE; i++) {
      int length = page.length(i);
      if (length == 0) {
        continue;
      }
      boolean isWritten = page.is(i, CounterTablePage.WRITTEN);
      int gap = i > next ? GAP : 0;
      int idsFlag = ids.isLive(page.epoch(i)) ? IDS : 0;
      out.put((byte) (gap | (isWritten ? WRITTEN : 0) | idsFlag));
      if (i > next) {
        Records.unsigned(out, i - next);
      }
      if (length > SHORT_MAX) {
        out.put((byte) (~SHORT_MAX | length >>> Byte.SIZE));
      }
      out.put((byte) length);
      page.putName(i, out);
      if (isWritten) {
        Records.signed(out, page.value(i));
      }
      next = i + 1;
    }
    return out.flip();
  }

  /**
   * Returns the page with this image.
   *
   * @throws RuntimeException if it is not an image
   */
  static CounterTablePage read(ByteBuffer image) {
    CounterTablePage page = new CounterTablePage();
    byte[] name = new byte[CounterTablePage.LENGTH_MAX];
    int names = Math.toIntExact(Records.unsigned(image));
    int index = 0;
    while (image.hasRemaining()) {
      int flags = image.get();
      index += (flags & GAP) == 0 ? 0 : Math.toIntExact(Records.unsigned(image));
      int first = image.get();
      int length = first >= 0 ? first : ((first & SHORT_MAX) << Byte.SIZE) | (image.get() & 0xff);
      image.get(name, 0, length);
      page.loadName(index, name, length, names);
      page.value(index, (flags & WRITTEN) == 0 ? 0 : Records.signed(image));
      int epoch = (flags & IDS) == 0 ? 0 : RequestIds.EPOCH_BEFORE;
      page.load(index, epoch, (flags & WRITTEN) == 0 ? 0 : CounterTablePage.WRITTEN);
      index++;
    }
    page.trim();
    return page;
  }

  /**
   * The counters of a page.
   *
   * @param end index after the last one
   * @param named with a name
   * @param written of these, those that hold a number or a text
   * @param memoryBytes their estimated heap
   */
  record Summary(int end, int named, int written, long memoryBytes) {}

  /** Returns the summary of a page. */
  static Summary summary(CounterTablePage page) {
    int end = 0;
    int named = 0;
    int written = 0;
    long memoryBytes = 0;
    for (int i = 0; i < CounterTablePage.SIZE; i++) {
      if (page.hasName(i)) {
        end = i + 1;
        named++;
        written += page.flags(i, CounterTablePage.WRITTEN);
        memoryBytes += CounterMemory.ofName(page.length(i));
      }
    }
    return new Summary(end, named, written, memoryBytes);
  }
}
