package dev.quipu.engine.environment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operations on the file system of this machine. */
final class FileDiskTest {
  @TempDir Path directory;
  private final Disk disk = new FileDisk();

  private static byte[] rest(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private Path file(String name, int... content) throws IOException {
    byte[] bytes = new byte[content.length];
    for (int i = 0; i < content.length; i++) {
      bytes[i] = (byte) content[i];
    }
    return Files.write(directory.resolve(name), bytes);
  }

  @Test
  void aFileThatIsCreatedIsEmptyAndOneThatIsOpenedIsNot() throws IOException {
    Path path = file("a", 1, 2, 3);
    try (DiskFile opened = disk.open(path)) {
      opened.write(ByteBuffer.wrap(new byte[] {9}), 1);
    }
    assertArrayEquals(new byte[] {1, 9, 3}, Files.readAllBytes(path));
    try (DiskFile created = disk.create(path)) {
      assertEquals(0, disk.size(path));
      created.write(ByteBuffer.wrap(new byte[] {7}), 2);
    }
    assertArrayEquals(new byte[] {0, 0, 7}, Files.readAllBytes(path));
    disk.create(directory.resolve("b")).close();
    assertTrue(disk.exists(directory.resolve("b")));
    assertThrows(NoSuchFileException.class, () -> disk.open(directory.resolve("c")));
    assertFalse(disk.exists(directory.resolve("c")));
  }

  @Test
  void aFileIsReadAsFarAsThereIsRoomAndContent() throws IOException {
    Path path = file("a", 1, 2, 3, 4, 5);
    assertEquals(5, disk.size(path));
    assertArrayEquals(new byte[] {1, 2, 3, 4, 5}, rest(disk.read(path)));
    assertArrayEquals(new byte[] {}, rest(disk.read(file("empty"))));
    ByteBuffer three = ByteBuffer.allocate(4).limit(3);
    disk.read(path, 1, three);
    assertArrayEquals(new byte[] {2, 3, 4}, rest(three.flip()));
    ByteBuffer more = ByteBuffer.allocate(4);
    disk.read(path, 3, more);
    assertEquals(2, more.position(), "the file has no more");
    assertArrayEquals(new byte[] {4, 5}, rest(more.flip()));
    ByteBuffer behind = ByteBuffer.allocate(4);
    disk.read(path, 6, behind);
    assertEquals(0, behind.position());
    ByteBuffer mapped = disk.map(path);
    assertThrows(ReadOnlyBufferException.class, () -> mapped.put(0, (byte) 1));
    assertArrayEquals(new byte[] {1, 2, 3, 4, 5}, rest(mapped));
  }

  @Test
  void filesAreListedInOrderOfName() throws IOException {
    List<Path> expected = List.of(file("1"), file("10"), file("2"), file("a"), file("b"));
    assertEquals(expected, disk.list(directory));
    disk.delete(directory.resolve("10"));
    disk.delete(directory.resolve("10")); // already missing
    assertEquals(4, disk.list(directory).size());
  }

  @Test
  void aRenamedFileReplacesAnother() throws IOException {
    Path to = file("b", 2);
    disk.rename(file("a", 1), to);
    assertEquals(List.of(to), disk.list(directory));
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(to));
    assertThrows(IOException.class, () -> disk.rename(directory.resolve("a"), to));
  }

  @Test
  void aMoveTakesAWholeDirectoryAndReplacesNothing() throws IOException {
    Path from = directory.resolve("x").resolve("y");
    disk.createDirectories(from);
    disk.createDirectories(from); // already exists
    Files.write(from.resolve("a"), new byte[] {1});
    Path to = directory.resolve("z");
    disk.move(from, to);
    assertEquals(List.of(to.resolve("a")), disk.list(to));
    assertEquals(List.of(), disk.list(directory.resolve("x")));
    Path taken = file("taken", 1);
    Path other = file("other", 2);
    assertThrows(IOException.class, () -> disk.move(other, taken));
    assertArrayEquals(new byte[] {1}, Files.readAllBytes(taken));
  }

  @Test
  void anInterruptedCallerSyncsADirectoryAndStaysInterrupted() throws IOException {
    disk.syncDirectory(directory);
    assertFalse(Thread.interrupted());
    Thread.currentThread().interrupt();
    disk.syncDirectory(directory);
    assertTrue(Thread.interrupted());
    assertThrows(IOException.class, () -> disk.syncDirectory(directory.resolve("none")));
  }

  @Test
  void aFileIsAllocatedWithZerosUpToItsLastByte() throws IOException {
    Path path = directory.resolve("a");
    long size = 2L * (1 << 20) + 5; // more than is written at once
    disk.allocate(path, size);
    assertEquals(size, Files.size(path));
    assertArrayEquals(new byte[(int) size], Files.readAllBytes(path));
    disk.allocate(path, 3);
    assertEquals(3, Files.size(path));
  }

  @Test
  void thereIsRoomOnTheDiskAndBuffersToWriteFrom() throws IOException {
    long usable = disk.usableBytes(directory);
    assertTrue(usable > 0 && usable <= Files.getFileStore(directory).getTotalSpace());
    ByteBuffer buffer = disk.buffer(12);
    assertTrue(buffer.isDirect(), "else each write copies it first");
    assertEquals(12, buffer.remaining());
  }

  @Test
  void aDirectoryIsLockedUntilTheLockIsClosed() throws IOException {
    HeldLock lock = disk.lock(directory);
    assertThrows(RuntimeException.class, () -> disk.lock(directory));
    lock.close();
    disk.lock(directory).close();
  }
}
