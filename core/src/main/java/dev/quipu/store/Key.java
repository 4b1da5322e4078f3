package dev.quipu.store;

import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Reason;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The address of an item.
 *
 * @param partition the group of items that can be scanned together
 * @param sort the position within the partition; items are sorted by it in {@link #ORDER}
 */
public record Key(String partition, String sort) implements Comparable<Key> {
  /** Longest partition, in bytes of UTF-8. */
  public static final int PARTITION_BYTES_MAX = 2_304;

  /** Longest sort, in bytes of UTF-8. */
  public static final int SORT_BYTES_MAX = 1_024;

  /** Order by code point, which is the order of UTF-8 bytes and the sort order of every store. */
  public static final Comparator<String> ORDER = Key::compare;

  private static final String TABLE = "table:"; // no other partition begins with it
  private static final int GROUP_BYTES_MAX = 400;
  private static final char DIGEST = '\u0001'; // no partition begins with a control character

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException naming the part that exceeds its limit
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
   * Returns the start of the names of partitions that are in a table of this name, on a store that
   * has several tables; on others they are partitions like all.
   *
   * @param name without a slash
   */
  public static String inTable(String name) {
    return TABLE + name + "/";
  }

  /** Returns the name of the table of a partition; empty for that of the store. */
  public static Optional<String> table(String partition) {
    return partition.startsWith(TABLE)
        ? Optional.of(partition.substring(TABLE.length(), partition.indexOf('/')))
        : Optional.empty();
  }

  /**
   * Returns one name for the whole key, for stores that have no partitions: its group, a slash, and
   * the sort. Places of a partition are in {@link #ORDER} of their sorts; {@link Scan#fromPlace}
   * and {@link Scan#untilPlace} delimit a range of them.
   *
   * @return at most 1,430 bytes of UTF-8
   */
  public String place() {
    return group(partition) + "/" + sort;
  }

  /** Returns the key of {@code partition} that has this {@link #place}. */
  public static Key at(String partition, String place) {
    int slash = place.indexOf('/');
    int length = Integer.parseInt(place, 0, slash, 10); // of the text between the slashes
    return new Key(partition, place.substring(slash + length + 2));
  }

  /**
   * Returns the prefix, up to a slash, that the places of all keys of a partition share, and no
   * other place has.
   */
  public static String group(String partition) {
    String shortened = shortened(partition, GROUP_BYTES_MAX);
    return shortened.length() + "/" + shortened;
  }

  /**
   * Returns a name for a partition on stores with shorter keys: the partition itself if it has at
   * most {@code bytesMax} bytes of UTF-8, else a digest (SHA-256) of 65 bytes. Different partitions
   * get different names.
   */
  public static String shortened(String partition, int bytesMax) {
    byte[] bytes = partition.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= bytesMax ? partition : DIGEST + HexFormat.of().formatHex(digest(bytes));
  }

  /** Returns the SHA-256 digest of {@code bytes}. */
  public static byte[] digest(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("SHA-256 is missing, which every Java platform must provide", e);
    }
  }

  /** Returns the error of a write that lost to other writers in all its attempts. */
  public NotAppliedException contended(String attempts) {
    return new NotAppliedException(
        Reason.THROTTLED,
        "gave up after %s: contention on %s/%s".formatted(attempts, partition, sort));
  }

  private static int compare(String a, String b) {
    int common = Math.min(a.length(), b.length());
    for (int i = 0; i < common; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        boolean surrogate =
            Character.isSurrogate(x); // part of a code point that sorts after all other chars
        return surrogate == Character.isSurrogate(y) ? Character.compare(x, y) : surrogate ? 1 : -1;
      }
    }
    return Integer.compare(a.length(), b.length());
  }
}
