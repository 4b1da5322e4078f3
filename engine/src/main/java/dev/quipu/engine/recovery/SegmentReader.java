package dev.quipu.engine.recovery;

import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.log.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Finds frames in the segments of the log, one after the other. All are read into one buffer,
 * because a segment may be as large as a small heap.
 */
final class SegmentReader {
  private static final long HEAP_BESIDES_BYTES = 8 << 20; // memory besides a log segment

  private final Disk disk;
  private final Frame frame;
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

  /** Reads another segment. */
  void read(Path path) throws IOException {
    int size = Math.toIntExact(disk.size(path));
    long heap = Runtime.getRuntime().maxMemory();
    if (size + HEAP_BESIDES_BYTES > heap) {
      throw new IOException(
          "%s is too large for a heap of %d MiB: start with a larger one (-Xmx)"
              .formatted(path, heap >> 20));
    }
    if (bytes.capacity() < size) {
      bytes = disk.buffer(size);
    }
    bytes.clear().limit(size);
    disk.read(path, 0, bytes);
    bytes.flip();
  }

  /** Returns the header of the frame at {@code at}; null if there is no valid frame. */
  Frame.@Nullable Head frameAt(int at) {
    return frame.read(bytes, at);
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
  @Nullable Found find(int from, long first, long last) {
    for (int i = from; i + Frame.HEAD_BYTES <= bytes.limit(); i += Frame.ALIGNMENT) {
      Frame.@Nullable Head head = hasNumber(i, first, last) ? frame.read(bytes, i) : null;
      if (head != null) {
        return new Found(i, head);
      }
    }
    return null;
  }

  /** Returns whether a valid frame with a number above {@code number} follows. */
  boolean isFollowed(int from, long number) {
    return find(from, number + 1, Long.MAX_VALUE) != null;
  }

  /** Returns the valid frames from {@code from} on whose number is above {@code number}. */
  Following following(int from, long number) {
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
