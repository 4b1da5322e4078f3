package dev.quipu.testservers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A small ext4 file system in a file, with simulated power cuts. Needs root and a loop device. */
public final class LoopDisk implements AutoCloseable {
  private static final int UNMOUNTS_MAX = 1_000;
  private static final Path THROTTLE =
      Path.of("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device");

  private final Path image;
  private final Path mountPoint;

  private LoopDisk(Path image, Path mountPoint) {
    this.image = image;
    this.mountPoint = mountPoint;
  }

  /**
   * Creates a disk.
   *
   * @return empty if that is impossible; in CI that is an error
   */
  public static Optional<LoopDisk> make(Path under, int sizeMib) throws IOException {
    LoopDisk disk = new LoopDisk(under.resolve("disk.img"), under.resolve("mnt"));
    String trouble = disk.tryMake(sizeMib);
    if (trouble.isEmpty()) {
      return Optional.of(disk);
    }
    if ("true".equals(System.getenv("CI"))) {
      throw new AssertionError("loop device unavailable in CI: " + trouble);
    }
    return Optional.empty();
  }

  private String tryMake(int sizeMib) throws IOException {
    Files.createDirectories(mountPoint);
    String made =
        run("truncate", "-s", sizeMib + "M", image.toString())
            + run("mkfs.ext4", "-q", "-F", image.toString())
            + run("which", "xfs_io");
    return made.isEmpty() ? mount() : made;
  }

  /** Returns the mount point. */
  public Path path() {
    return mountPoint;
  }

  private String mount() {
    return run("mount", "-o", "loop", image.toString(), mountPoint.toString());
  }

  /**
   * Discards unsynced data, as a power cut does. All operations of the file system fail from now
   * on.
   */
  public void cutPower() {
    String trouble = run("xfs_io", "-x", "-c", "shutdown", mountPoint.toString());
    require(trouble);
  }

  /**
   * Limits the rate of writes to the disk, for all processes; 0 for no limit. Needs the control
   * group of block devices, version 1.
   *
   * @return whether that was possible
   */
  public boolean throttle(int bytesPerSecond) {
    try {
      int device = ((Number) Files.getAttribute(mountPoint, "unix:dev")).intValue();
      Files.writeString(THROTTLE, "%d:%d %d".formatted(device >> 8, device & 0xff, bytesPerSecond));
      return true;
    } catch (IOException e) { // the kernel has no such group
      return false;
    }
  }

  /** Remounts the disk after a power cut. */
  public void powerUp() {
    String trouble = "not attempted";
    // The kernel releases the files of a killed process with a delay.
    for (int i = 0; i < UNMOUNTS_MAX && !trouble.isEmpty(); i++) {
      trouble = run("umount", mountPoint.toString());
    }
    trouble += mount();
    require(trouble);
  }

  private static void require(String trouble) {
    if (!trouble.isEmpty()) {
      throw new AssertionError(trouble);
    }
  }

  @Override
  public void close() {
    if (Files.isWritable(THROTTLE)) {
      var unusedIsThrottled = throttle(0); // it would slow down the next disk on the device
    }
    run("umount", "-l", mountPoint.toString()); // files may stay mapped until garbage collection
  }

  /** Runs a command; returns its output if it failed, otherwise an empty text. */
  private static String run(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return process.waitFor() == 0 ? "" : command[0] + ": " + output + ". ";
    } catch (IOException e) {
      return e.getMessage() + ". ";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }
}
