package dev.quipu.engine.backup;

import dev.quipu.engine.environment.Disk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Computes SHA-256 digests of files and their prefixes. */
final class Digests {
  /** Bytes that are read or copied at once. */
  static final int CHUNK_BYTES = 1 << 20;

  private Digests() {}

  static MessageDigest start() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  /** Returns the digest of all input so far, which may continue. */
  static String soFar(MessageDigest digest) {
    return text(copy(digest).digest());
  }

  static MessageDigest copy(MessageDigest digest) {
    try {
      return (MessageDigest) digest.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("SHA-256 of this Java runtime cannot be cloned", e);
    }
  }

  static String of(String text) {
    return text(start().digest(text.getBytes(StandardCharsets.ISO_8859_1)));
  }

  private static String text(byte[] digest) {
    return HexFormat.of().formatHex(digest);
  }

  /** Adds a part of a file to a digest; returns whether the file has it. */
  static boolean add(MessageDigest digest, Disk disk, Path file, long from, long to)
      throws IOException {
    ByteBuffer chunk = ByteBuffer.allocate(Math.clamp(to - from, 1, CHUNK_BYTES));
    for (long at = from; at < to; at += chunk.limit()) {
      chunk.clear().limit((int) Math.min(chunk.capacity(), to - at));
      disk.read(file, at, chunk);
      if (chunk.hasRemaining()) {
        return false;
      }
      digest.update(chunk.flip());
    }
    return true;
  }

  /** Returns whether a file begins with the content that a manifest states. */
  static boolean matches(Disk disk, Path backup, Manifest.StoredFile stored) throws IOException {
    Path path = backup.resolve(stored.name());
    MessageDigest digest = start();
    return disk.exists(path)
        && add(digest, disk, path, 0, stored.bytes())
        && soFar(digest).equals(stored.sha256());
  }
}
