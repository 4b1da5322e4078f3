package dev.quipu.memcached;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import net.rubyeye.xmemcached.transcoders.CachedData;
import net.rubyeye.xmemcached.transcoders.CompressionMode;
import net.rubyeye.xmemcached.transcoders.Transcoder;
import org.jspecify.annotations.Nullable;

/**
 * Converts items to keys and values of memcached.
 *
 * <p>Binary form: the byte {@code q}, the byte 1, the version, the expiry in milliseconds since
 * 1970 or {@link Long#MIN_VALUE}, the number of fields, and for each its name, its type ({@code n},
 * {@code t} or {@code s}) and its value. Numbers are big-endian; texts are prefixed with their
 * length in bytes.
 */
final class ItemCodec {
  /** Offset added to a lone number. */
  static final long BIAS = 1L << 62;

  /** Largest value, in bytes; with its key and header it fits into 1 MiB. */
  static final int VALUE_BYTES_MAX = 1_040_000;

  private static final long DIGITS_MAX = 1L << 61;
  private static final int NAME_BYTES_MAX = 250;
  private static final int FORM = 'q';
  private static final int FORM_VERSION = 1;
  private static final long NO_EXPIRY = Long.MIN_VALUE;
  private static final String BINARY_VERSION = "b"; // followed by the stored token
  private static final String DIGITS_VERSION = "d"; // followed by memcached's cas unique
  private static final Duration KEEP_EXPIRED = Duration.ofMinutes(1); // for clock skew

  /** Passes bytes through. */
  static final Transcoder<byte[]> BYTES = new Bytes();

  private ItemCodec() {}

  static boolean fitsDigits(long value) {
    return -DIGITS_MAX <= value && value <= DIGITS_MAX;
  }

  static Version version(String token) {
    return new Version(BINARY_VERSION + token);
  }

  static boolean isBinary(Version version) {
    return version.token().startsWith(BINARY_VERSION);
  }

  /** Returns the unique key of an item. */
  static String name(Key key) {
    String name = "quipu:" + percent(key.partition()) + ":" + percent(key.sort());
    if (name.length() <= NAME_BYTES_MAX) {
      return name;
    }
    byte[] both = (key.partition() + "\0" + key.sort()).getBytes(StandardCharsets.UTF_8);
    return "quipu#" + Base64.getUrlEncoder().withoutPadding().encodeToString(Key.digest(both));
  }

  private static String percent(String text) {
    StringBuilder name = new StringBuilder(text.length());
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (each & 0xff);
      boolean plain =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || "._-/".indexOf(c) >= 0;
      if (plain) {
        name.append(c);
      } else {
        name.append('%')
            .append(Character.toUpperCase(Character.forDigit(c >> 4, 16)))
            .append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
      }
    }
    return name.toString();
  }

  /** Returns when memcached may remove an item, in seconds since 1970; 0 for never. */
  static int expirySeconds(Optional<Instant> expiresAt) {
    if (expiresAt.isEmpty()) {
      return 0;
    }
    long seconds = expiresAt.get().plus(KEEP_EXPIRED).getEpochSecond();
    return seconds > Integer.MAX_VALUE ? 0 : (int) Math.max(seconds, Integer.MAX_VALUE >> 4);
  }

  static byte[] bytes(Item item) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(FORM);
      out.writeByte(FORM_VERSION);
      write(out, item.version().token().substring(BINARY_VERSION.length()));
      out.writeLong(item.expiresAt().map(Instant::toEpochMilli).orElse(NO_EXPIRY));
      out.writeInt(item.fields().size());
      for (Map.Entry<String, Field> field : item.fields().entrySet()) {
        write(out, field.getKey());
        switch (field.getValue()) {
          case Field.Number number -> {
            out.writeByte('n');
            out.writeLong(number.value());
          }
          case Field.Text text -> {
            out.writeByte('t');
            write(out, text.value());
          }
          case Field.Tokens tokens -> {
            out.writeByte('s');
            out.writeInt(tokens.values().size());
            for (String token : tokens.values()) {
              write(out, token);
            }
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
    return bytes.toByteArray();
  }

  private static void write(DataOutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  /**
   * Decodes an item of either form.
   *
   * @throws QuipuException if it has neither form
   */
  static Item item(Key key, byte[] value, long cas) {
    if (value.length > 0 && value[0] == FORM) {
      return binary(key, value);
    }
    // decr pads with blanks when a number gets shorter.
    String digits = new String(value, StandardCharsets.US_ASCII).strip();
    if (!digits.matches("[0-9]{1,19}")) {
      throw corrupt(key, null);
    }
    Map<String, Field> fields =
        Map.of(Item.VALUE, new Field.Number(Long.parseUnsignedLong(digits) - BIAS));
    return new Item(key, fields, new Version(DIGITS_VERSION + cas), Optional.empty());
  }

  private static Item binary(Key key, byte[] value) {
    try (DataInputStream in =
        new DataInputStream(new ByteArrayInputStream(value, 1, value.length))) {
      if (in.readByte() != FORM_VERSION) {
        throw corrupt(key, null);
      }
      Version version = version(text(in));
      long expiresAt = in.readLong();
      int size = in.readInt();
      Map<String, Field> fields = new HashMap<>();
      for (int i = 0; i < size; i++) {
        String name = text(in);
        fields.put(name, field(key, in));
      }
      return new Item(
          key,
          fields,
          version,
          expiresAt == NO_EXPIRY ? Optional.empty() : Optional.of(Instant.ofEpochMilli(expiresAt)));
    } catch (IOException e) {
      throw corrupt(key, e);
    }
  }

  private static Field field(Key key, DataInputStream in) throws IOException {
    return switch (in.readByte()) {
      case 'n' -> new Field.Number(in.readLong());
      case 't' -> new Field.Text(text(in));
      case 's' -> {
        int size = in.readInt();
        Set<String> tokens = new HashSet<>();
        for (int i = 0; i < size; i++) {
          tokens.add(text(in));
        }
        yield new Field.Tokens(tokens);
      }
      default -> throw corrupt(key, null);
    };
  }

  private static String text(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > in.available()) {
      throw new IOException("invalid length " + length);
    }
    return new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  private static QuipuException corrupt(Key key, @Nullable IOException e) {
    return new NotAppliedException(
        Reason.CORRUPT,
        "the value at key %s of memcached was not written by Quipu. Remove it".formatted(name(key)),
        e);
  }

  private static final class Bytes implements Transcoder<byte[]> {
    @Override
    public CachedData encode(byte[] bytes) {
      return new CachedData(0, bytes);
    }

    @Override
    public byte[] decode(CachedData data) {
      return data.getData();
    }

    @Override
    public void setPrimitiveAsString(boolean primitiveAsString) {}

    @Override
    public void setPackZeros(boolean packZeros) {}

    @Override
    public void setCompressionThreshold(int threshold) {}

    @Override
    public boolean isPrimitiveAsString() {
      return false;
    }

    @Override
    public boolean isPackZeros() {
      return false;
    }

    @Override
    public void setCompressionMode(CompressionMode mode) {}
  }
}
