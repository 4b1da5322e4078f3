package dev.quipu.engine.environment;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lock file of a directory, and the errors that others get. */
final class LockFileTest {
  private static final long THIS_PROCESS = ProcessHandle.current().pid();

  @TempDir Path directory;

  /** Locks the directory given as argument, reports that, and waits until its input ends. */
  public static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws IOException {
      try (HeldLock lock = DirectoryLock.lock(Path.of(arguments[0]))) {
        lock.check();
        System.out.write('\n');
        System.out.flush();
        int end = System.in.read();
        System.exit(end < 0 ? 0 : 1);
      }
    }
  }

  private QuipuException rejection() {
    return assertThrows(QuipuException.class, () -> DirectoryLock.lock(directory));
  }

  private void expectInUseBy(long process) {
    QuipuException why = rejection();
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.DENIED, why.reason());
    assertEquals(
        ("the data directory %s is in use by process %d. Stop it, or connect to its server (--server);"
                + " for a copy to check or export, use quipu backup")
            .formatted(directory, process),
        why.getMessage());
  }

  @Test
  void theFileNamesTheProcessAndNothingElse() throws IOException {
    Path file = Files.writeString(directory.resolve("lock"), "1234567890123\nand more\n");
    try (HeldLock lock = DirectoryLock.lock(directory)) {
      lock.check();
      assertEquals(THIS_PROCESS + "\n", Files.readString(file));
      expectInUseBy(THIS_PROCESS);
    }
    DirectoryLock.lock(directory).close();
  }

  @Test
  void theOtherProcessIsNamedUntilItEnds() throws Exception {
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertEquals('\n', other.getInputStream().read());
      assertNotEquals(THIS_PROCESS, other.pid());
      expectInUseBy(other.pid());
      expectInUseBy(other.pid()); // nor does this process believe that it holds the lock
    } finally {
      other.getOutputStream().close();
    }
    assertEquals(0, other.waitFor());
    DirectoryLock.lock(directory).close();
  }

  @Test
  void anotherCopyOfTheLibraryInThisProcessIsDetected() throws IOException {
    try (FileChannel file =
            FileChannel.open(
                directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      assertTrue(lock.isValid());
      QuipuException why = rejection();
      assertEquals(Outcome.NOT_APPLIED, why.outcome());
      assertEquals(Reason.DENIED, why.reason());
      assertEquals(
          "the data directory is in use by another copy of this library in this process",
          why.getMessage());
    }
    DirectoryLock.lock(directory).close();
  }

  @Test
  void aLockThatCannotBeTakenIsNotHeld() throws IOException {
    Path file = Files.createDirectory(directory.resolve("lock"));
    for (int i = 0; i < 2; i++) {
      assertThrows(IOException.class, () -> DirectoryLock.lock(directory));
    }
    Files.delete(file);
    DirectoryLock.lock(directory).close();
    assertThrows(IOException.class, () -> DirectoryLock.lock(directory.resolve("none")));
  }

  @Test
  void aRemovedOrReplacedLockFileIsDetected() throws IOException {
    Path file = directory.resolve("lock");
    try (HeldLock lock = DirectoryLock.lock(directory)) {
      assertDoesNotThrow(lock::check);
      Path aside = directory.resolve("aside");
      Files.move(file, aside);
      String expected =
          file + " was removed or replaced: another process may use the directory now";
      assertEquals(expected, assertThrows(IOException.class, lock::check).getMessage());
      Files.writeString(file, THIS_PROCESS + "\n");
      assertEquals(expected, assertThrows(IOException.class, lock::check).getMessage());
      Files.delete(file);
      Files.move(aside, file);
      assertDoesNotThrow(lock::check);
    }
  }

  @Test
  void aLockThatIsClosedIsFreeForOtherProcesses() throws IOException {
    DirectoryLock.lock(directory).close();
    try (FileChannel file = FileChannel.open(directory.resolve("lock"), StandardOpenOption.WRITE);
        FileLock lock = file.tryLock()) {
      assertTrue(lock != null && lock.isValid(), "no channel of it is open");
    }
  }
}
