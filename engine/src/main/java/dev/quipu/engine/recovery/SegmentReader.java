package dev.quipu.engine.recovery;

import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HighWater;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Finds frames in the segments of the log, one after the other. All are read into one buffer,
 * because a segment may be as large as a small heap. All of a segment is read and examined, but its
 * last pages are not kept if they are zeros, which contain no frame: most of a segment that was not
 * used before.
 */
final class SegmentReader {
  private static final long HEAP_BESIDES_BYTES = 8 << 20; // memory besides a log segment
  private static final int PAGE_BYTES = 4_096;
  private static final int PIECE_BYTES_MAX = 1 << 20;
  private static final int PIECES = 64;
  private static final ByteBuffer ZEROS = ByteBuffer.allocate(PAGE_BYTES).asReadOnlyBuffer();

  private final Disk disk;
  private final Frame frame;
  private Path path = Path.of("");
  private int size; // of the segment
  private boolean isPart; // the segment was not examined after the end of the log
  private HighWater.@Nullable Mark mark; // where the log was closed
  private boolean isWhole; // the buffer has the zeros at the end too
  private ByteBuffer bytes = ByteBuffer.allocate(0);

  SegmentReader(Disk disk, long identity) {
    this.disk = disk;
    this.frame = new Frame(identity);
  }

  /**
   * Intact frames.
   *
   * @param highest number of the last of them; 0 if there is none
   * @param commands number of commands in all of them
   */
  record Following(long highest, long commands) {}

  /**
   * Reads another segment.
   *
   * @param closed if the log was closed in this segment, where it ended: the rest is not read
   */
  void read(Path segment, HighWater.@Nullable Mark closed) throws IOException {
    open(segment);
    mark = closed;
    int end = closed == null ? 0 : closed.end();
    isPart = end > 0 && end < size;
    if (isPart) {
      keep(end);
    } else {
      readAll();
    }
  }

  /** Reads the rest too if only a part of the segment was read; returns whether it was. */
  boolean readRest() throws IOException {
    boolean wasPart = isPart;
    if (wasPart) {
      readAll();
    }
    return wasPart;
  }

  private void open(Path segment) throws IOException {
    path = segment;
    size = Math.toIntExact(disk.size(path));
    long heap = Runtime.getRuntime().maxMemory();
    if (size + HEAP_BESIDES_BYTES > heap) {
      throw new IOException(
          "%s is too large for a heap of %d MiB: start with a larger one (-Xmx)"
              .formatted(path, heap >> 20));
    }
  }

  private void readAll() throws IOException {
    isPart = false;
    int used = usedBytes();
    // One page more than is used, so that all heads of frames are in the buffer.
    keep((int) Math.min(size, (long) used + PAGE_BYTES));
  }

  /** Fills the buffer with the first bytes of the segment. */
  private void keep(int length) throws IOException {
    if (bytes.capacity() < length) {
      bytes = ByteBuffer.allocate(0); // there may not be memory for two
      bytes = disk.buffer(length);
    }
    bytes.clear().limit(length);
    disk.read(path, 0, bytes);
    bytes.flip();
    isWhole = length == size;
  }

  /** Reads the segment from its end on, and returns where its last pages of zeros begin. */
  private int usedBytes() throws IOException {
    int pieceBytes = Math.clamp(size / PIECES & -PAGE_BYTES, PAGE_BYTES, PIECE_BYTES_MAX);
    ByteBuffer piece = disk.buffer(pieceBytes);
    int end = size;
    while (end > 0) {
      int from = Math.max(0, end - pieceBytes);
      disk.read(path, from, piece.clear().limit(end - from));
      int used = usedBytes(piece.flip());
      if (used > 0) {
        return from + used;
      }
      end = from;
    }
    return 0;
  }

  private static int usedBytes(ByteBuffer piece) {
    int end = piece.limit();
    while (end > 0) {
      int from = Math.max(0, end - PAGE_BYTES);
      if (piece.slice(from, end - from).mismatch(ZEROS.slice(0, end - from)) >= 0) {
        return end;
      }
      end = from;
    }
    return 0;
  }

  /** Returns the header of this frame if it is there. */
  Frame.@Nullable Head next(int at, long number) throws IOException {
    Frame.Head head = frameWith(number, at);
    boolean isAtEnd = mark != null && at == mark.end() && number == mark.frame() + 1;
    if (head == null && !isAtEnd && readRest()) { // the log does not end as it was closed
      head = frameWith(number, at);
    }
    return head;
  }

  private Frame.@Nullable Head frameWith(long number, int at) throws IOException {
    Frame.Head head = frameAt(at);
    return head != null && head.number() == number ? head : null;
  }

  /** Returns the header of the frame at {@code at}; null if there is no valid frame. */
  Frame.@Nullable Head frameAt(int at) throws IOException {
    if (!isWhole && reachesBeyond(at)) {
      keep(size);
    }
    return frame.read(bytes, at);
  }

  /** Returns whether the end of a frame, which may be zeros, is not in the buffer. */
  private boolean reachesBeyond(int at) {
    return at + Frame.HEAD_BYTES <= bytes.limit()
        && bytes.getInt(at) == Frame.MAGIC
        && bytes.getInt(at + 4) > bytes.limit() - at - Frame.HEAD_BYTES;
  }

  ByteBuffer payload(int at, Frame.Head head) {
    return bytes.slice(at + Frame.HEAD_BYTES, head.payloadBytes());
  }

  /** Returns whether a frame of this number begins there, valid or not. */
  boolean begins(int at, long number) {
    return at + Frame.HEAD_BYTES <= bytes.limit()
        && bytes.getInt(at) == Frame.MAGIC
        && bytes.getLong(at + 16) == number;
  }

  /** A valid frame and its offset. */
  record Found(int at, Frame.Head head) {}

  /** Returns the first valid frame from {@code from} on whose number is in a range, if any. */
  @Nullable Found find(int from, long first, long last) throws IOException {
    for (int i = from; i + Frame.HEAD_BYTES <= bytes.limit(); i += Frame.ALIGNMENT) {
      Frame.@Nullable Head head = hasNumber(i, first, last) ? frameAt(i) : null;
      if (head != null) {
        return new Found(i, head);
      }
    }
    return null;
  }

  /** Returns whether a valid frame with a number above {@code number} follows. */
  boolean isFollowed(int from, long number) throws IOException {
    return find(from, number + 1, Long.MAX_VALUE) != null;
  }

  /** Returns the valid frames from {@code from} on whose number is above {@code number}. */
  Following following(int from, long number) throws IOException {
    long highest = 0;
    long commands = 0;
    for (Found each = find(from, number + 1, Long.MAX_VALUE);
        each != null;
        each = find(each.at + Frame.ALIGNMENT, number + 1, Long.MAX_VALUE)) {
      highest = Math.max(highest, each.head.number());
      commands += each.head.commands();
    }
    return new Following(highest, commands);
  }

  private boolean hasNumber(int at, long first, long last) {
    return bytes.getInt(at) == Frame.MAGIC
        && bytes.getLong(at + 16) >= first
        && bytes.getLong(at + 16) <= last;
  }
}
