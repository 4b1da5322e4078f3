package dev.quipu.engine.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.RecordingDisk;
import dev.quipu.engine.environment.Threads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where frames are written, when they are synced, and how segments are reused. */
final class LogTest {
  private static final long IDENTITY = 0x0fed_cba9_8765_4321L;
  private static final int HEAD = 4_096;
  private static final int SEGMENT = 8_192;
  private static final String FIRST = "0000000000000001.log";
  private static final String SECOND = "0000000000000002.log";
  private static final String THIRD = "0000000000000003.log";

  @TempDir Path data;
  private final RecordingDisk disk = new RecordingDisk();
  private final Failure failure = new Failure();

  /** The effect of the engine thread that is waited for. */
  private Work whileWaiting = () -> {};

  private int waits;

  private interface Work {
    void run() throws IOException;
  }

  /** Starts nothing: only the test creates spares. */
  private final Threads idle =
      new Threads() {
        @Override
        public Thread start(String name, Runnable work) {
          return new Thread(work, name);
        }

        @Override
        public void await(Lock lock, Condition condition, long nanos) {
          waits++;
          try {
            whileWaiting.run();
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        }
      };

  @BeforeEach
  void makeDirectory() throws IOException {
    Files.createDirectories(data.resolve("log"));
  }

  private Log open(Disk disk, Threads threads, List<Log.Segment> inUse, int end, boolean isStale)
      throws IOException {
    return Log.open(
        new Environment(disk, threads),
        data,
        IDENTITY,
        SEGMENT,
        inUse,
        end,
        end,
        isStale,
        inUse.isEmpty() ? 1 : 50,
        failure);
  }

  private Log openNew() throws IOException {
    return open(disk, idle, List.of(), 0, false);
  }

  private Log.Segment segment(long number, long firstFrame, int bytes) throws IOException {
    Path path = data.resolve("log").resolve("%016d.log".formatted(number));
    Files.write(path, Arrays.copyOf(head(number, firstFrame), bytes));
    return new Log.Segment(number, firstFrame, path);
  }

  private static byte[] head(long number, long firstFrame) {
    ByteBuffer head = ByteBuffer.allocate(HEAD);
    head.put("QUIPULG1".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    head.putInt(1).putInt(SEGMENT).putLong(number).putLong(firstFrame);
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(8).putLong(IDENTITY).flip());
    crc.update(head.array(), 0, 32);
    return head.putInt((int) crc.getValue()).array();
  }

  private static ByteBuffer bytes(int length, int content) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) content);
    return ByteBuffer.wrap(bytes);
  }

  private byte[] content(String file) throws IOException {
    return Files.readAllBytes(data.resolve("log").resolve(file));
  }

  private List<String> names() throws IOException {
    return disk.list(data.resolve("log")).stream()
        .map(path -> path.getFileName().toString())
        .toList();
  }

  @Test
  void aNewLogIsOneSegmentOfZerosAfterItsHead() throws IOException {
    try (Log log = openNew()) {
      assertEquals(List.of(FIRST), names());
      assertArrayEquals(Arrays.copyOf(head(1, 1), SEGMENT), content(FIRST));
      assertEquals(1, log.segments());
      assertEquals(SEGMENT - HEAD, log.frameBytesMax());
    }
    assertEquals(
        List.of(
            "allocate spare-1.tmp 8192",
            "rename spare-1.tmp spare-2.log",
            "write spare-2.log 0 4096",
            "sync spare-2.log",
            "close spare-2.log",
            "rename spare-2.log " + FIRST,
            "close " + FIRST),
        disk.takeDone());
  }

  @Test
  void framesFollowOneAnotherAndAreSyncedOnDemand() throws IOException {
    try (Log log = openNew()) {
      disk.done.clear();
      log.sync();
      assertEquals(List.of(), disk.takeDone(), "there is nothing to sync");
      log.append(bytes(64, 1), 1, false);
      log.append(bytes(8, 2), 2, false);
      assertEquals(
          List.of("write " + FIRST + " 4096 64", "write " + FIRST + " 4160 8"), disk.takeDone());
      log.sync();
      log.sync();
      assertEquals(List.of("sync " + FIRST), disk.takeDone());
      log.append(bytes(16, 3), 3, true);
      assertEquals(List.of("write " + FIRST + " 4168 16", "sync " + FIRST), disk.takeDone());
      log.sync();
      assertEquals(List.of(), disk.takeDone());
    }
    byte[] expected = Arrays.copyOf(head(1, 1), SEGMENT);
    Arrays.fill(expected, HEAD, HEAD + 64, (byte) 1);
    Arrays.fill(expected, HEAD + 64, HEAD + 72, (byte) 2);
    Arrays.fill(expected, HEAD + 72, HEAD + 88, (byte) 3);
    assertArrayEquals(expected, content(FIRST));
  }

  @Test
  void aFrameThatDoesNotFitBeginsTheNextSegmentOnceTheOthersAreSynced() throws IOException {
    try (Log log = openNew()) {
      log.append(bytes(2_048, 1), 1, false);
      log.append(bytes(2_048, 2), 2, false); // fills it to the last byte
      assertEquals(1, log.segments());
      disk.done.clear();
      log.append(bytes(8, 3), 3, false);
      assertEquals(2, log.segments());
      assertEquals(
          List.of(
              "allocate spare-3.tmp 8192",
              "rename spare-3.tmp spare-4.log",
              "sync " + FIRST,
              "close " + FIRST,
              "write spare-4.log 0 4096",
              "sync spare-4.log",
              "close spare-4.log",
              "rename spare-4.log " + SECOND,
              "write " + SECOND + " 4096 8"),
          disk.takeDone());
      log.append(bytes(4_088, 4), 4, false);
      log.append(bytes(4_096, 5), 5, false);
      assertEquals(List.of(FIRST, SECOND, THIRD), names());
    }
    assertArrayEquals(head(2, 3), Arrays.copyOf(content(SECOND), HEAD));
    assertArrayEquals(head(3, 5), Arrays.copyOf(content(THIRD), HEAD));
  }

  @Test
  void anExistingLogContinuesAtItsEnd() throws IOException {
    List<Log.Segment> inUse = List.of(segment(6, 20, 6_144), segment(7, 40, SEGMENT));
    try (Log log = open(disk, idle, inUse, 5_000, false)) {
      assertEquals(2, log.segments());
      disk.done.clear();
      log.append(bytes(8, 1), 50, false);
      assertEquals(List.of("write 0000000000000007.log 5000 8"), disk.takeDone());
      log.append(bytes(SEGMENT - 5_008, 1), 51, false);
      log.append(bytes(8, 1), 52, false);
      assertEquals(3, log.segments());
    }
    byte[] next = content("0000000000000008.log");
    assertArrayEquals(head(8, 52), Arrays.copyOf(next, HEAD));
    assertTrue(disk.takeDone().contains("close 0000000000000007.log"));
  }

  @Test
  void aSegmentThatCannotBeAppendedToIsFollowedByANewOne() throws IOException {
    try (Log log = open(disk, idle, List.of(segment(7, 40, SEGMENT)), 5_000, true)) {
      assertEquals(2, log.segments(), "discarded frames follow the end");
      assertArrayEquals(head(8, 50), Arrays.copyOf(content("0000000000000008.log"), HEAD));
    }
    try (Log log = open(disk, idle, List.of(segment(8, 50, 2 * SEGMENT)), 5_000, false)) {
      assertEquals(2, log.segments(), "the last one has another size");
      assertEquals(List.of("0000000000000008.log", "0000000000000009.log"), names());
    }
  }

  @Test
  void framesThatMayNotBeDurableAreWrittenAgainBeforeOthersFollow() throws IOException {
    Log.Segment last = segment(7, 40, SEGMENT);
    Log log =
        Log.open(
            new Environment(disk, idle),
            data,
            IDENTITY,
            SEGMENT,
            List.of(last),
            4_400,
            4_200,
            false,
            50,
            failure);
    log.close();
    String name = "0000000000000007.log";
    assertEquals(
        List.of("write " + name + " 4200 200", "sync " + name, "close " + name, "close " + name),
        disk.takeDone());
  }

  @Test
  void sparesOfAnEarlierRunAreReusedAndOtherFilesDeleted() throws IOException {
    Path log = data.resolve("log");
    for (int i = 5; i <= 9; i++) {
      Files.write(log.resolve("spare-" + i + ".log"), new byte[SEGMENT]);
    }
    Files.write(log.resolve("spare-10.log"), new byte[SEGMENT - 1]);
    Files.write(log.resolve("spare-12.tmp"), new byte[SEGMENT]);
    Files.write(log.resolve("0000000000000001.log"), new byte[SEGMENT]);
    Log.Segment last = segment(2, 40, SEGMENT);
    try (Log opened = open(disk, idle, List.of(last), SEGMENT - 8, false)) {
      assertEquals(
          List.of(SECOND, "spare-5.log", "spare-6.log", "spare-7.log", "spare-8.log"), names());
      opened.append(bytes(16, 1), 50, true); // into the first spare
      assertEquals(List.of(SECOND, THIRD, "spare-6.log", "spare-7.log", "spare-8.log"), names());
      for (int frame = 51; frame < 55; frame++) {
        opened.append(bytes(4_096, 1), frame, true);
      }
      assertTrue(disk.done.contains("rename spare-9.tmp spare-10.log"), disk.done.toString());
    }
  }

  @Test
  void unneededSegmentsBecomeSparesUpToFour() throws IOException {
    try (Log log = openNew()) {
      for (int frame = 1; frame <= 8; frame++) {
        log.append(bytes(4_096, frame), frame, true);
      }
      assertEquals(8, log.segments());
      log.recycle(1);
      assertEquals(8, log.segments(), "the first frame is still needed");
      log.recycle(2);
      assertEquals(7, log.segments());
      assertFalse(names().contains(FIRST));
      disk.done.clear();
      log.recycle(7);
      assertEquals(2, log.segments());
      assertEquals(
          List.of(
              "rename " + SECOND + " spare-18.log",
              "rename " + THIRD + " spare-19.log",
              "rename 0000000000000004.log spare-20.log",
              "delete 0000000000000005.log",
              "delete 0000000000000006.log"),
          disk.takeDone());
      log.recycle(1_000);
      assertEquals(1, log.segments(), "the last one is never recycled");
      assertArrayEquals(head(8, 8), Arrays.copyOf(content("0000000000000008.log"), HEAD));
    }
  }

  @Test
  void aSegmentOfAnotherSizeIsNotASpare() throws IOException {
    List<Log.Segment> inUse = List.of(segment(6, 20, SEGMENT + 8), segment(7, 40, SEGMENT));
    try (Log log = open(disk, idle, inUse, 5_000, false)) {
      log.recycle(40);
      assertEquals(List.of("0000000000000007.log"), names());
      assertEquals(1, log.segments());
    }
  }

  @Test
  void thereIsRoomInTheSegmentOrInASpare() throws IOException {
    try (Log log = openNew()) {
      log.append(bytes(4_000, 1), 1, true);
      assertTrue(log.hasRoom(96));
      assertEquals(0, waits);
      failure.close();
      assertFalse(log.hasRoom(97));
      assertEquals(0, waits, "nothing comes from an engine that has ended");
    }
  }

  @Test
  void aCallerWaitsUntilASpareIsReady() throws IOException {
    List<Log.Segment> inUse = List.of(segment(6, 20, SEGMENT), segment(7, 40, SEGMENT));
    try (Log log = open(disk, idle, inUse, SEGMENT, false)) {
      whileWaiting =
          () -> {
            if (waits == 3) {
              log.recycle(40);
            }
          };
      assertTrue(log.hasRoom(1));
      assertEquals(3, waits);
      assertTrue(log.hasRoom(1));
      assertEquals(3, waits, "the spare is there");
    }
  }

  @Test
  void aCallerDoesNotWaitForALogThatIsClosed() throws IOException {
    Log log = open(disk, idle, List.of(segment(7, 40, SEGMENT)), SEGMENT, false);
    whileWaiting = log::close;
    assertFalse(log.hasRoom(1));
    assertEquals(1, waits);
  }

  /** A disk that is full while {@code isFull}, and fails while {@code isBroken}. */
  private static final class FullDisk extends RecordingDisk {
    volatile boolean isFull;
    volatile boolean isBroken;
    volatile long bytesFree;

    @Override
    public long usableBytes(Path directory) throws IOException {
      return isFull ? bytesFree : super.usableBytes(directory);
    }

    @Override
    public void allocate(Path path, long size) throws IOException {
      super.allocate(path, size);
      if (isBroken) {
        throw new IOException("injected");
      }
    }
  }

  @Test
  void aFullDiskIsRejectedWithItsCauseUntilThereIsRoomAgain() throws IOException {
    FullDisk full = new FullDisk();
    try (Log log = open(full, Threads.PLATFORM, List.of(), 0, false)) {
      assertTrue(log.hasRoom(SEGMENT), "a spare is made ahead");
      full.isFull = true;
      full.bytesFree = SEGMENT - 1;
      log.append(bytes(4_096, 1), 1, true);
      log.append(bytes(4_096, 1), 2, true); // into the spare
      assertFalse(log.hasRoom(1));
      QuipuException why = log.noRoom();
      assertEquals(Outcome.NOT_APPLIED, why.outcome());
      assertEquals(Reason.FULL, why.reason());
      assertEquals(
          "disk full: no space for the next 0 MiB of log in %s: %s"
              .formatted(data.resolve("log"), "No space left on device: 0 MiB are free"),
          why.getMessage());
      full.bytesFree = SEGMENT; // just enough
      boolean hasRoom = false;
      while (!hasRoom) { // it is asked to retry, without waiting
        hasRoom = log.hasRoom(1);
        Thread.onSpinWait();
      }
      assertEquals(
          "disk full: no space for the next 0 MiB of log in " + data.resolve("log"),
          log.noRoom().getMessage());
      log.append(bytes(4_096, 1), 3, true);
      assertEquals(3, log.segments());
    }
  }

  @Test
  void aSpareThatCannotBeCreatedLeavesNoFile() throws IOException {
    FullDisk broken = new FullDisk();
    broken.isBroken = true;
    IOException why =
        assertThrows(IOException.class, () -> open(broken, idle, List.of(), 0, false).close());
    assertEquals("injected", why.getMessage());
    assertEquals(List.of(), names());
    Log.Segment last = segment(7, 40, SEGMENT);
    try (Log log = open(broken, Threads.PLATFORM, List.of(last), SEGMENT, false)) {
      assertFalse(log.hasRoom(1), "a preparer that fails is not waited for");
      assertTrue(log.noRoom().getMessage().endsWith(": injected"));
    }
    assertEquals(List.of("0000000000000007.log"), names());
  }

  @Test
  void aRejectionStatesTheNeededAndTheFreeSpace() throws IOException {
    FullDisk full = new FullDisk();
    full.isFull = true;
    full.bytesFree = (6 << 20) - 1;
    IOException why = assertThrows(IOException.class, () -> openLarge(full).close());
    assertEquals("No space left on device: 5 MiB are free", why.getMessage());
    full.isFull = false;
    try (Log log = openLarge(full)) {
      assertEquals(
          "disk full: no space for the next 6 MiB of log in " + data.resolve("log"),
          log.noRoom().getMessage());
    }
  }

  private Log openLarge(Disk large) throws IOException {
    Environment environment = new Environment(large, idle);
    return Log.open(environment, data, IDENTITY, 6 << 20, List.of(), 0, 0, false, 1, failure);
  }

  @Test
  void aPreparerThatDiesStopsTheEngineAndNoCallerWaits() throws IOException {
    Disk broken =
        new RecordingDisk() {
          @Override
          public void allocate(Path path, long size) {
            throw new IllegalStateException("injected");
          }
        };
    Log.Segment last = segment(7, 40, SEGMENT);
    try (Log log = open(broken, Threads.PLATFORM, List.of(last), SEGMENT, false)) {
      assertFalse(log.hasRoom(1));
    }
    assertEquals("injected", failure.cause().orElseThrow().getMessage());
  }

  /** The preparer ends only once it is waited for. */
  private static final class SlowEnd implements Threads {
    final Thread closer = Thread.currentThread();
    volatile boolean hasEnded;
    volatile boolean isGivenUp;

    @Override
    public Thread start(String name, Runnable work) {
      assertEquals("quipu-log-preparer", name);
      return Threads.PLATFORM.start(
          name,
          () -> {
            work.run();
            while (closer.getState() != Thread.State.WAITING && !isGivenUp) {
              Thread.onSpinWait();
            }
            hasEnded = true;
          });
    }

    @Override
    public void await(Lock lock, Condition condition, long nanos) throws InterruptedException {
      Threads.PLATFORM.await(lock, condition, nanos);
    }
  }

  @Test
  void aClosedLogLeavesNoThreadAndNoOpenFile() throws IOException {
    SlowEnd threads = new SlowEnd();
    Log log = open(disk, threads, List.of(), 0, false);
    assertTrue(log.hasRoom(SEGMENT));
    assertEquals(List.of(FIRST, "spare-4.log"), names());
    log.close();
    boolean hasEnded = threads.hasEnded;
    threads.isGivenUp = true;
    assertTrue(hasEnded);
    assertThrows(IOException.class, () -> log.append(bytes(8, 1), 1, true));
    assertEquals(List.of(FIRST, "spare-4.log"), names());
  }
}
