package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Add;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A directory has at most one engine, however often others try to open it. */
final class DirectoryLockTest {
  @TempDir Path directory;

  /** Opens the directory given as argument, and exits with 0 on success. */
  public static final class Other {
    private Other() {}

    public static void main(String[] arguments) {
      try {
        Engine.open(Path.of(arguments[0]), EngineOptions.defaults()).close();
      } catch (QuipuException e) {
        System.exit(e.reason() == Reason.DENIED ? 7 : 8);
      }
    }
  }

  private int openElsewhere() throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Other.class.getName(),
            directory.toString())
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  @Test
  void aRejectedSecondOpenDoesNotReleaseTheLock() throws Exception {
    Path alias = directory.resolveSibling(directory.getFileName() + "-alias");
    Files.createSymbolicLink(alias, directory);
    try (Engine engine = Engine.open(directory, EngineOptions.defaults())) {
      assertEquals(7, openElsewhere());
      assertThrows(QuipuException.class, () -> Engine.open(directory, EngineOptions.defaults()));
      assertEquals(7, openElsewhere(), "after a rejected open");
      assertThrows(QuipuException.class, () -> Engine.open(alias, EngineOptions.defaults()));
      assertThrows(QuipuException.class, () -> Inspection.check(directory));
      assertEquals(7, openElsewhere(), "after a rejected look");
      engine.add(new Add("a", 1, null));
    } finally {
      Files.delete(alias);
    }
    assertEquals(0, openElsewhere());
  }
}
