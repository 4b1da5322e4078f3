package dev.quipu.engine.backup;

import dev.quipu.engine.backup.Manifest.LogFile;
import dev.quipu.engine.backup.Manifest.StoredFile;
import dev.quipu.engine.damage.Damage;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Copies frames of a log that an engine may be writing: only acknowledged ones, each verified by
 * its checksum and number, which also shows whether the segment was reused in the meantime. Not
 * thread-safe.
 */
final class LogCopier {
  private final Disk disk;
  private final Path data;
  private final Path backup;
  private final long identity;
  private final Frame frame;
  private ByteBuffer window = ByteBuffer.allocate(0);

  /** Digest of the log file that is continued; null if it has not been read yet. */
  private @Nullable Open open;

  private record Open(long number, long bytes, MessageDigest digest) {}

  LogCopier(Disk disk, Path data, Path backup, long identity) {
    this.disk = disk;
    this.data = data;
    this.backup = backup;
    this.identity = identity;
    this.frame = new Frame(identity);
  }

  /**
   * Copies all frames up to the mark that the backup does not have.
   *
   * @throws NoSuchFileException if the engine removed a segment in the meantime
   */
  List<LogFile> copy(List<LogFile> before, HighWater.Mark mark) throws IOException {
    List<LogFile> files = new ArrayList<>(before);
    long copied = before.isEmpty() ? 0 : before.getLast().lastFrame();
    if (mark.frame() <= copied && (before.isEmpty() || open != null)) {
      return files;
    }
    List<Log.Segment> segments = segmentsAfter(copied);
    for (int i = 0; i < segments.size(); i++) {
      Log.Segment segment = segments.get(i);
      LogFile last = files.isEmpty() ? null : files.getLast();
      boolean isContinued = last != null && last.number() == segment.number();
      if (last != null && !isContinued && segment.firstFrame() > mark.frame()) {
        break; // nothing is new, and there is nothing to compare the backup with
      }
      if (!isContinued && last != null && segment.firstFrame() <= last.lastFrame()) {
        throw Backup.otherHistory(data, backup);
      }
      LogFile now = copy(segment, isContinued ? last : null, mark.frame());
      if (isContinued) {
        files.removeLast();
      }
      files.add(now);
      if (now.lastFrame() >= mark.frame()) {
        break;
      }
      if (i + 1 < segments.size() && segments.get(i + 1).firstFrame() != now.lastFrame() + 1) {
        throw cut(segment.path(), now.lastFrame() + 1);
      }
    }
    if (files.isEmpty() || files.getLast().lastFrame() < mark.frame()) {
      throw cut(Log.directory(data), files.isEmpty() ? 1 : files.getLast().lastFrame() + 1);
    }
    return files;
  }

  private static DamageException cut(Path path, long frame) {
    return new DamageException(
        Damage.LOG_CUT, path, 0, "frame %d was acknowledged, but cannot be read".formatted(frame));
  }

  private List<Log.Segment> segmentsAfter(long copied) throws IOException {
    List<Log.Segment> segments = new ArrayList<>();
    List<Path> paths = Log.segmentFiles(disk, data);
    for (int i = paths.size() - 1; i >= 0; i--) {
      segments.addFirst(Log.readHead(disk, paths.get(i), identity));
      if (segments.getFirst().firstFrame() <= copied + 1) {
        break;
      }
    }
    return segments;
  }

  /** Copies the frames of a segment up to {@code last}. */
  private LogFile copy(Log.Segment segment, @Nullable LogFile before, long last)
      throws IOException {
    String name = LogFile.name(segment.number());
    Path target = backup.resolve(name);
    long from = before == null ? 0 : before.file().bytes();
    MessageDigest digest = before == null ? Digests.start() : digest(segment, before);
    MessageDigest read = Digests.copy(digest);
    long next = before == null ? segment.firstFrame() : before.lastFrame() + 1;
    long at = from;
    if (before == null) {
      disk.createDirectories(backup.resolve("log"));
    }
    try (DiskFile out = before == null ? disk.create(target) : disk.open(target)) {
      if (before == null) {
        ByteBuffer head = ByteBuffer.allocate(Log.HEAD_BYTES);
        disk.read(segment.path(), 0, head);
        at += write(out, 0, head.flip(), digest);
      }
      while (next <= last) {
        int length = fill(segment.path(), at, next, last);
        if (length == 0) {
          break;
        }
        window.limit(length).position(0);
        next += frames(length);
        at += write(out, at, window, digest);
      }
      out.sync();
    }
    requireUnchanged(segment);
    if (!Digests.add(read, disk, target, from, at)
        || !Digests.soFar(read).equals(Digests.soFar(digest))) {
      throw new IOException(target + " differs from what was written to it: the disk is faulty");
    }
    open = new Open(segment.number(), at, digest);
    StoredFile file = new StoredFile(name, at, Digests.soFar(digest));
    return new LogFile(segment.number(), segment.firstFrame(), next - 1, file);
  }

  /** A segment that was reused is not one of the log any more. */
  private void requireUnchanged(Log.Segment segment) throws IOException {
    if (!disk.exists(segment.path())) {
      throw new NoSuchFileException(segment.path().toString());
    }
  }

  /**
   * Reads whole valid frames with consecutive numbers from {@code next} to {@code last} into the
   * window; returns their length.
   */
  private int fill(Path segment, long at, long next, long last) throws IOException {
    if (window.capacity() == 0) {
      window = ByteBuffer.allocate(Digests.CHUNK_BYTES);
    }
    while (true) {
      window.clear();
      disk.read(segment, at, window);
      boolean isFull = !window.hasRemaining();
      window.flip();
      int end = 0;
      long number = next;
      for (Frame.Head head = frame.read(window, 0);
          head != null
              && head.number() == number
              && number <= last
              && end + head.frameBytes() <= window.limit();
          head = frame.read(window, end)) {
        end += head.frameBytes();
        number++;
      }
      boolean isCut = end == 0 && isFull && window.getInt(0) == Frame.MAGIC;
      int payload = isCut ? window.getInt(4) : 0;
      if (isCut && payload > window.capacity() - 2 * Frame.HEAD_BYTES && payload < 1 << 30) {
        window = ByteBuffer.allocate(payload + 2 * Frame.HEAD_BYTES);
        continue;
      }
      return end;
    }
  }

  private int frames(int length) {
    int count = 0;
    for (int at = 0; at < length; count++) {
      at += Frame.frameBytes(window.getInt(at + 4));
    }
    return count;
  }

  private static int write(DiskFile out, long at, ByteBuffer bytes, MessageDigest digest)
      throws IOException {
    digest.update(bytes.duplicate());
    out.write(bytes, at);
    return bytes.remaining();
  }

  /**
   * Returns the digest of the frames that the backup has of a segment. The first time, verifies
   * that the backup is undamaged and continues this log.
   */
  private MessageDigest digest(Log.Segment segment, LogFile before) throws IOException {
    Open known = open;
    long bytes = before.file().bytes();
    if (known != null && known.number == segment.number() && known.bytes == bytes) {
      return Digests.copy(known.digest);
    }
    MessageDigest digest = Digests.start();
    Path target = backup.resolve(before.file().name());
    if (!disk.exists(target)
        || !Digests.add(digest, disk, target, 0, bytes)
        || !Digests.soFar(digest).equals(before.file().sha256())) {
      throw new DamageException(
          Damage.BACKUP, target, 0, "the file does not match its checksum in the manifest");
    }
    MessageDigest own = Digests.start();
    boolean isWhole = Digests.add(own, disk, segment.path(), 0, bytes);
    if (!isWhole || !Digests.soFar(own).equals(before.file().sha256())) {
      requireUnchanged(segment);
      throw Backup.otherHistory(data, backup);
    }
    return digest;
  }
}
