package dev.quipu.engine.environment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file that stays open through interrupts, until it is closed. */
final class SteadyFileTest {
  private final Path path;
  private final FileChannel channel;
  private final SteadyFile file;

  SteadyFileTest(@TempDir Path directory) throws IOException {
    path = Files.write(directory.resolve("a"), new byte[8]);
    channel = FileChannel.open(path, StandardOpenOption.WRITE);
    file = new SteadyFile(path, channel);
  }

  @Test
  void theRestOfABufferIsWrittenAndTheBufferIsUnchanged() throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5}).position(2).limit(4);
    file.write(bytes, 5);
    assertArrayEquals(new byte[] {0, 0, 0, 0, 0, 3, 4, 0}, Files.readAllBytes(path));
    assertEquals(2, bytes.position());
    assertEquals(4, bytes.limit());
    file.sync();
    file.close();
  }

  @Test
  void anInterruptedWriterWritesAndStaysInterrupted() throws IOException {
    Thread.currentThread().interrupt();
    file.write(ByteBuffer.wrap(new byte[] {1, 2}), 1);
    assertTrue(Thread.interrupted());
    assertFalse(channel.isOpen(), "the interrupt has closed it, so it was opened again");
    file.write(ByteBuffer.wrap(new byte[] {3}), 3);
    assertFalse(Thread.interrupted());
    assertArrayEquals(new byte[] {0, 1, 2, 3, 0, 0, 0, 0}, Files.readAllBytes(path));
    Thread.currentThread().interrupt();
    file.sync();
    assertTrue(Thread.interrupted());
    file.close();
  }

  @Test
  void aWriterWhoseFileAnotherInterruptHasClosedIsNotInterrupted() throws Exception {
    channel.close();
    file.write(ByteBuffer.wrap(new byte[] {1}), 0);
    assertFalse(Thread.interrupted());
    Thread other =
        Thread.ofPlatform()
            .start(() -> {
              try {
                file.write(ByteBuffer.wrap(new byte[] {2}), 1);
                file.sync();
                file.close();
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    other.join();
    assertArrayEquals(new byte[] {1, 2, 0, 0, 0, 0, 0, 0}, Files.readAllBytes(path));
    assertThrows(ClosedChannelException.class, file::sync);
  }

  @Test
  void aFileThatIsClosedStaysClosed() throws IOException {
    file.close();
    assertFalse(channel.isOpen());
    assertThrows(ClosedChannelException.class, file::sync);
    assertThrows(
        ClosedChannelException.class, () -> file.write(ByteBuffer.wrap(new byte[] {1}), 0));
    Thread.currentThread().interrupt();
    assertThrows(ClosedChannelException.class, file::sync);
    assertTrue(Thread.interrupted(), "the interrupt is kept whatever happens");
    file.close();
  }

  @Test
  void aDeletedFileCannotBeReopened() throws IOException {
    channel.close();
    Files.delete(path);
    assertThrows(NoSuchFileException.class, file::sync);
    Files.write(path, new byte[8]);
    file.sync();
    file.close();
  }
}
