package dev.quipu.engine.ids;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.HandThreads;
import dev.quipu.engine.environment.LogCapture;
import dev.quipu.engine.environment.Threads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a table of ids becomes a file, and how failures are reported. */
final class SealerTest {
  private static final Secret SECRET = new Secret(3);
  private static final long NOW = 1_000;

  @TempDir Path directory;
  private final Failure engine = new Failure();
  private final HandThreads threads = new HandThreads("quipu-id-sealer");
  private final RequestIds ids = new RequestIds(SECRET, 8_000, 100, 0);
  private final FaultyDisk disk = new FaultyDisk();
  private @Nullable Sealer sealer;

  /** Waits or fails before it creates a file, as the test demands. */
  private static final class FaultyDisk extends ForwardingDisk {
    volatile Runnable beforeCreate = () -> {};
    volatile @Nullable IOException error;
    volatile boolean readsZeros;

    FaultyDisk() {
      super(new FileDisk());
    }

    @Override
    public DiskFile create(Path file) throws IOException {
      beforeCreate.run();
      IOException why = error;
      if (why != null) {
        throw why;
      }
      return super.create(file);
    }

    @Override
    public ByteBuffer map(Path file) throws IOException {
      return readsZeros ? ByteBuffer.allocate(Math.toIntExact(size(file))) : super.map(file);
    }
  }

  @BeforeEach
  void start() throws IOException {
    Files.createDirectory(IdFiles.directory(directory));
    sealer = new Sealer(new Environment(disk, threads), directory, engine);
  }

  @AfterEach
  void close() {
    sealer().close();
    assertFalse(threads.thread().isAlive());
  }

  private Sealer sealer() {
    return Objects.requireNonNull(sealer);
  }

  /** Returns a table with one id, which waits for the disk. */
  private IdTable table(long id) {
    ids.add(id, id, IdTable.meta(1, IdTable.APPLIED, 0), id, id, NOW, id);
    ids.rotate();
    return Objects.requireNonNull(ids.nextWaiting());
  }

  private QuipuException failure() {
    return Objects.requireNonNull(sealer().awaitSealed());
  }

  private static void assertClosed(@Nullable QuipuException e) {
    assertEquals(Reason.UNAVAILABLE, Objects.requireNonNull(e).reason());
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals("closed", e.getMessage());
  }

  @Test
  void aTableBecomesAFile() {
    disk.beforeCreate = threads::awaitOther;
    IdTable table = table(1);
    sealer().offer(null);
    sealer().offer(table);
    sealer().takeSealed(ids);
    assertEquals(1, ids.waiting(), "it is not written yet");
    assertNull(sealer().awaitSealed());
    assertSame(table, ids.nextWaiting(), "it is not taken yet");
    sealer().takeSealed(ids);
    assertEquals(0, ids.waiting());
    IdFile file = ids.files().getFirst();
    assertEquals(IdFiles.directory(directory).resolve("0000000000000001.ids"), file.path());
    assertTrue(ids.find(1, 1, 1, NOW, new long[IdTable.STRIDE]));
    assertNull(sealer().awaitSealed(), "nothing is at work");
    sealer().takeSealed(ids);
    assertEquals(List.of(file), ids.files());
  }

  @Test
  void oneTableIsAtWorkAtATime() {
    Semaphore gate = new Semaphore(0);
    disk.beforeCreate = gate::acquireUninterruptibly;
    sealer().offer(table(1));
    IdTable other = new IdTable(SECRET, 1 << 16);
    other.add(9, 9, IdTable.meta(1, IdTable.APPLIED, 0), 9, 9, NOW, 9);
    sealer().offer(other);
    gate.release();
    assertNull(sealer().awaitSealed());
    sealer().offer(other); // the first was not taken yet
    sealer().takeSealed(ids);
    assertEquals(1, ids.files().getFirst().firstFrame());
    assertNull(sealer().awaitSealed());
    sealer().takeSealed(ids);
    assertEquals(1, ids.files().size());
  }

  @Test
  void theMemoryOfATableIsReused() {
    IdTable first = table(1);
    sealer().offer(first);
    assertNull(sealer().awaitSealed());
    sealer().takeSealed(ids);
    sealer().offer(table(2));
    assertNull(sealer().awaitSealed());
    sealer().takeSealed(ids);
    assertEquals(List.of(1L, 2L), ids.files().stream().map(IdFile::firstFrame).toList());
    assertEquals(0, first.size(), "it was cleared before the next was written");
    IdTable unused = table(3); // after it, the cleared one is active
    ids.add(4, 4, IdTable.meta(1, IdTable.APPLIED, 0), 4, 4, NOW, 4);
    assertEquals(1, first.size());
    sealer().takeSealed(ids);
    ids.rotate();
    ids.add(5, 5, IdTable.meta(1, IdTable.APPLIED, 0), 5, 5, NOW, 5);
    assertEquals(1, first.size(), "it is given once");
  }

  @Test
  void anErrorIsReportedAndTheTableRetriedASecondLater() {
    disk.error = new IOException("broken");
    disk.beforeCreate = threads::awaitOther;
    sealer().offer(table(1));
    QuipuException e = failure();
    assertEquals(Reason.UNAVAILABLE, e.reason());
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(
        "cannot seal request ids in %s: broken".formatted(IdFiles.directory(directory)),
        e.getMessage());
    assertSame(disk.error, e.getCause());
    disk.beforeCreate = () -> {};
    disk.error = new IOException("No space left on device");
    threads.round();
    QuipuException full = failure();
    assertEquals(Reason.FULL, full.reason());
    assertEquals(
        "disk full: cannot store request ids in %s: No space left on device"
            .formatted(IdFiles.directory(directory)),
        full.getMessage());
    sealer().takeSealed(ids);
    assertEquals(1, ids.waiting(), "there is no file");
    disk.error = null;
    threads.wake();
    while (sealer().awaitSealed() != null) {
      Thread.onSpinWait();
    }
    sealer().takeSealed(ids);
    assertEquals(0, ids.waiting());
    assertEquals(1, ids.files().size());
    assertEquals(List.of(1_000_000_000L, 1_000_000_000L), threads.waits());
    assertEquals(Optional.empty(), engine.cause());
  }

  @Test
  void anErrorIsWrittenToTheLogOnceUntilItIsOver() {
    try (LogCapture log = new LogCapture(Sealer.class)) {
      disk.error = new IOException("injected");
      for (int id = 1; id <= 2; id++) {
        sealer().offer(table(id));
        threads.round();
        threads.round();
        assertEquals(id, log.lines().size());
        assertTrue(log.lines().getFirst().contains("retrying every second"));
        disk.error = null;
        threads.wake();
        while (sealer().awaitSealed() != null) {
          Thread.onSpinWait();
        }
        sealer().takeSealed(ids);
        disk.error = new IOException("injected");
      }
    }
  }

  @Test
  void aFileThatCannotBeReadAgainIsAnError() {
    disk.readsZeros = true;
    disk.beforeCreate = threads::awaitOther;
    sealer().offer(table(1));
    Throwable cause = Objects.requireNonNull(failure().getCause());
    assertInstanceOf(DamageException.class, cause.getCause());
    assertEquals(Optional.empty(), engine.cause());
  }

  @Test
  void noCallerWaitsForASealerThatDied() {
    IllegalStateException error = new IllegalStateException("injected");
    disk.beforeCreate =
        () -> {
          threads.awaitOther();
          throw error;
        };
    sealer().offer(table(1));
    assertClosed(sealer().awaitSealed());
    Threads.join(threads.thread());
    assertSame(error, engine.cause().orElseThrow());
    assertClosed(sealer().awaitSealed());
  }

  @Test
  void nobodyWaitsAfterTheEngineHasStopped() {
    Semaphore gate = new Semaphore(0);
    disk.beforeCreate = gate::acquireUninterruptibly;
    sealer().offer(table(1));
    engine.stop(new IllegalStateException("injected"));
    assertClosed(sealer().awaitSealed());
    gate.release();
  }

  @Test
  void aCloseWaitsForTheCurrentFileAndReleasesWaiters() {
    Semaphore gate = new Semaphore(0);
    disk.beforeCreate = gate::acquireUninterruptibly;
    sealer().offer(table(1));
    Thread closer =
        Thread.ofPlatform()
            .start(() -> {
              threads.awaitOther();
              sealer().close();
            });
    assertClosed(sealer().awaitSealed());
    disk.error = new IOException("injected");
    gate.release();
    Threads.join(closer);
    assertFalse(threads.thread().isAlive());
    assertEquals(List.of(), threads.waits(), "it is not tried again");
  }

  @Test
  void aCloseEndsTheWaitForTheNextRetry() {
    disk.error = new IOException("injected");
    sealer().offer(table(1));
    threads.awaitWaiting();
    sealer().close();
    assertClosed(sealer().awaitSealed());
  }

  @Test
  void anInterruptEndsIt() {
    threads.thread().interrupt();
    Threads.join(threads.thread());
    sealer().offer(table(1));
    assertClosed(sealer().awaitSealed());
  }
}
