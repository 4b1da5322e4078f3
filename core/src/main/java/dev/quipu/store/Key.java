package dev.quipu.store;

import dev.quipu.Limits;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;

/**
 * Where an item lies.
 *
 * @param partition the group of items that can be scanned together
 * @param sort the place within the partition; items are in {@link #ORDER} of it
 */
public record Key(String partition, String sort) implements Comparable<Key> {
  /** Longest partition, in bytes of UTF-8. */
  public static final int PARTITION_BYTES_MAX = 2_304;

  /** Longest sort, in bytes of UTF-8. */
  public static final int SORT_BYTES_MAX = 1_024;

  /** By code point, which is the order of the bytes of UTF-8: what every store sorts by. */
  public static final Comparator<String> ORDER = Key::compare;

  private static final int GROUP_BYTES_MAX = 400;
  private static final char DIGEST = '\u0001'; // no partition begins with a control character

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the part that breaks one
   */
  public Key {
    Limits.checkText("partition", partition, PARTITION_BYTES_MAX);
    Limits.checkText("sort", sort, SORT_BYTES_MAX);
  }

  @Override
  public int compareTo(Key other) {
    int byPartition = compare(partition, other.partition);
    return byPartition != 0 ? byPartition : compare(sort, other.sort);
  }

  /**
   * One name for the whole key, on stores that have no partitions: its group, a slash, and the
   * sort. Keys of a partition are in {@link #ORDER} of their places; {@link Scan#fromPlace} and
   * {@link Scan#untilPlace} are the ends of a range of them.
   *
   * @return at most 1,430 bytes of UTF-8
   */
  public String place() {
    return group(partition) + "/" + sort;
  }

  /** The key of a partition that has this place. */
  public static Key at(String partition, String place) {
    int slash = place.indexOf('/');
    int length = Integer.parseInt(place, 0, slash, 10); // of what is between the slashes
    return new Key(partition, place.substring(slash + length + 2));
  }

  /** What the places of all keys of a partition begin with, before a slash, and no other's do. */
  public static String group(String partition) {
    String shortened = shortened(partition, GROUP_BYTES_MAX);
    return shortened.length() + "/" + shortened;
  }

  /**
   * A name for a partition on stores with shorter keys: itself if it has at most {@code bytesMax}
   * bytes of UTF-8, else a digest (SHA-256) of 65 bytes. No two partitions share one.
   */
  public static String shortened(String partition, int bytesMax) {
    byte[] bytes = partition.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= bytesMax ? partition : DIGEST + HexFormat.of().formatHex(digest(bytes));
  }

  /** The SHA-256 digest of some bytes. */
  public static byte[] digest(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  private static int compare(String a, String b) {
    int common = Math.min(a.length(), b.length());
    for (int i = 0; i < common; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        boolean surrogate = Character.isSurrogate(x); // of a code point above all other chars
        return surrogate == Character.isSurrogate(y) ? Character.compare(x, y) : surrogate ? 1 : -1;
      }
    }
    return Integer.compare(a.length(), b.length());
  }
}
