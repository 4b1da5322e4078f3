package dev.quipu.engine.log;

import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes records to a buffer and reads them back.
 *
 * <pre>{@code
 * RECORDS: the content of frames. Each is a byte for its kind, followed by its parts. A number is a
 * variable-length integer, least significant seven bits first; zigzag-encoded if it may be
 * negative. A text is its length in bytes and its UTF-8.
 *
 *   NAME          ordinal, text          the counter with this ordinal has this name
 *   VALUE         ordinal, value         it now has this value
 *   ONCE          ordinal, delta, value, high, low    the request high-low added delta, with this
 *                                                    resulting value
 *   ONCE_BOUNDED  the same, bounds mark  the same, for a request with bounds
 *   CANCEL        ordinal, high, low     request high-low will never apply
 *   EXPIRES       ordinal, milliseconds  its expiry; 0 for never
 *   GONE          ordinal                it was removed, and does not expire
 *   FREE          ordinal                the same, and its name is forgotten
 *   SCALE         ordinal, scale         its values have this number of digits after the point
 *   TEXT          ordinal, length, bytes it holds these bytes, and no number
 *   TRANSACTION   see TransactionRecord  a transaction was applied, or a hold ended
 *   HOLD          see HoldRecord         this hold is open
 *   ITEM          key, version, expiry, fields        the item now has this state
 *   NO_ITEM       key                    the item does not exist
 *   BUCKET, BEFORE                       values of the past: see Recorder
 *   THRESHOLDS    length, bytes          see Thresholds
 *   START, ID_FILE, HAD_IDS, SALVAGED, SIZE, PAGE, ORDER, COUNTERS, END
 *                                        in snapshots only: see Snapshot
 *
 * Records hold resulting values, not changes, so replay is idempotent: reading a record twice, or
 * one that is older than the state, is harmless as long as all later records are read too. So a
 * snapshot can be taken while writes continue.
 * }</pre>
 */
public final class Records {
  static final byte NAME = 1;
  static final byte VALUE = 2;
  static final byte ONCE = 3;
  static final byte ONCE_BOUNDED = 4;
  static final byte CANCEL = 5;
  static final byte ITEM = 6;
  static final byte NO_ITEM = 7;
  public static final byte START = 8;
  public static final byte ID_FILE = 9;
  public static final byte END = 10;
  static final byte EXPIRES = 11;
  static final byte GONE = 12;
  static final byte TEXT = 13;
  static final byte FREE = 14;
  static final byte HAD_IDS = 15;
  public static final byte SALVAGED = 16;
  static final byte TRANSACTION = 17;
  static final byte HOLD = 18;
  static final byte SCALE = 20;
  public static final byte SIZE = 21;
  public static final byte PAGE = 22;
  public static final byte ORDER = 23;
  static final byte BUCKET = 24;
  static final byte BEFORE = 25;
  static final byte THRESHOLDS = 26;
  public static final byte COUNTERS = 27;

  /** Maximum size of a counter record other than NAME, and of NAME without its text. */
  public static final int COUNTER_RECORD_BYTES_MAX = 64;

  private static final byte NUMBER_FIELD = 1;
  private static final byte TEXT_FIELD = 2;
  private static final byte TOKENS_FIELD = 3;

  private Records() {}

  /** Receives the records that {@link #read} finds. */
  public interface Reader {
    void name(int ordinal, String name);

    void value(int ordinal, long value);

    void once(int ordinal, long high, long low, long delta, long value, int boundsMark);

    void cancel(int ordinal, long high, long low);

    void expires(int ordinal, long atMillis);

    void gone(int ordinal);

    void free(int ordinal);

    void hadIds(int ordinal);

    void text(int ordinal, byte[] text);

    void transaction(TransactionRecord transaction);

    void hold(HoldRecord hold);

    void scale(int ordinal, int scale);

    void item(Key key, Optional<Item> item);

    /** The following entries of the history are of this bucket. */
    void bucket(long startMillis, long endMillis);

    /** Reads an entry of the history. */
    void before(ByteBuffer in);

    /** Reads changes of thresholds. */
    void thresholds(ByteBuffer in);

    /** Receives a record of a snapshot. */
    void snapshot(byte kind, ByteBuffer in);
  }

  /** Reads records up to the limit of {@code in}. */
  public static void read(ByteBuffer in, Reader reader) {
    while (in.hasRemaining()) {
      byte kind = in.get();
      switch (kind) {
        case NAME -> reader.name((int) unsigned(in), text(in));
        case VALUE -> reader.value((int) unsigned(in), signed(in));
        case ONCE, ONCE_BOUNDED -> {
          int ordinal = (int) unsigned(in);
          long delta = signed(in);
          long value = signed(in);
          long high = in.getLong();
          long low = in.getLong();
          reader.once(ordinal, high, low, delta, value, kind == ONCE ? 0 : in.getInt());
        }
        case CANCEL -> reader.cancel((int) unsigned(in), in.getLong(), in.getLong());
        case EXPIRES -> reader.expires((int) unsigned(in), signed(in));
        case GONE -> reader.gone((int) unsigned(in));
        case FREE -> reader.free((int) unsigned(in));
        case HAD_IDS -> reader.hadIds((int) unsigned(in));
        case TEXT -> reader.text((int) unsigned(in), bytes(in));
        case TRANSACTION -> reader.transaction(TransactionRecord.read(in));
        case HOLD -> reader.hold(HoldRecord.read(in));
        case SCALE -> reader.scale((int) unsigned(in), in.get());
        case ITEM -> {
          Item item = item(in);
          reader.item(item.key(), Optional.of(item));
        }
        case BUCKET -> reader.bucket(signed(in), signed(in));
        case BEFORE -> reader.before(in);
        case THRESHOLDS -> reader.thresholds(ByteBuffer.wrap(bytes(in)));
        case NO_ITEM -> reader.item(key(in), Optional.empty());
        case START, ID_FILE, SALVAGED, SIZE, PAGE, ORDER, COUNTERS, END ->
            reader.snapshot(kind, in);
        default -> throw new IllegalStateException("unknown record kind " + kind);
      }
    }
  }

  public static void bucket(ByteBuffer out, long startMillis, long endMillis) {
    signed(out.put(BUCKET), startMillis);
    signed(out, endMillis);
  }

  /** Begins an entry of the history. */
  public static void before(ByteBuffer out) {
    out.put(BEFORE);
  }

  /** Writes changes of thresholds. */
  public static void thresholds(ByteBuffer out, ByteBuffer changes) {
    unsigned(out.put(THRESHOLDS), changes.remaining());
    out.put(changes);
  }

  public static void name(ByteBuffer out, int ordinal, String name) {
    unsigned(out.put(NAME), ordinal);
    text(out, name);
  }

  public static void value(ByteBuffer out, int ordinal, long value) {
    unsigned(out.put(VALUE), ordinal);
    signed(out, value);
  }

  public static void once(
      ByteBuffer out, int ordinal, long high, long low, long delta, long value, int boundsMark) {
    unsigned(out.put(boundsMark == 0 ? ONCE : ONCE_BOUNDED), ordinal);
    signed(out, delta);
    signed(out, value);
    out.putLong(high).putLong(low);
    if (boundsMark != 0) {
      out.putInt(boundsMark);
    }
  }

  public static void cancel(ByteBuffer out, int ordinal, long high, long low) {
    unsigned(out.put(CANCEL), ordinal);
    out.putLong(high).putLong(low);
  }

  public static void expires(ByteBuffer out, int ordinal, long atMillis) {
    unsigned(out.put(EXPIRES), ordinal);
    signed(out, atMillis);
  }

  public static void gone(ByteBuffer out, int ordinal) {
    unsigned(out.put(GONE), ordinal);
  }

  public static void free(ByteBuffer out, int ordinal) {
    unsigned(out.put(FREE), ordinal);
  }

  public static void hadIds(ByteBuffer out, int ordinal) {
    unsigned(out.put(HAD_IDS), ordinal);
  }

  public static void text(ByteBuffer out, int ordinal, byte[] text) {
    unsigned(out.put(TEXT), ordinal);
    unsigned(out, text.length);
    out.put(text);
  }

  public static void transaction(ByteBuffer out, TransactionRecord transaction) {
    transaction.write(out.put(TRANSACTION));
  }

  public static void hold(ByteBuffer out, HoldRecord hold) {
    hold.write(out.put(HOLD));
  }

  public static void scale(ByteBuffer out, int ordinal, int scale) {
    unsigned(out.put(SCALE), ordinal);
    out.put((byte) scale);
  }

  public static void item(ByteBuffer out, Item item) {
    key(out.put(ITEM), item.key());
    unsigned(out, Long.parseLong(item.version().token(), Character.MAX_RADIX));
    item.expiresAt()
        .ifPresentOrElse(
            time -> {
              out.put((byte) 1);
              signed(out, time.getEpochSecond());
              unsigned(out, time.getNano());
            },
            () -> out.put((byte) 0));
    unsigned(out, item.fields().size());
    item.fields()
        .forEach((name, field) -> {
          text(out, name);
          field(out, field);
        });
  }

  public static void noItem(ByteBuffer out, Key key) {
    key(out.put(NO_ITEM), key);
  }

  /** Returns an upper bound of the bytes that {@link #item} writes. */
  public static int itemBytesMax(Item item) {
    long bytes = 64L + keyBytesMax(item.key());
    for (Map.Entry<String, Field> entry : item.fields().entrySet()) {
      bytes += 16 + 3L * entry.getKey().length();
      bytes +=
          switch (entry.getValue()) {
            case Field.Number number -> 10;
            case Field.Text text -> 5 + 3L * text.value().length();
            case Field.Tokens tokens ->
                5 + tokens.values().stream().mapToLong(token -> 5 + 3L * token.length()).sum();
          };
    }
    return (int) Math.min(bytes, Integer.MAX_VALUE);
  }

  /** Returns an upper bound of the bytes that {@link #noItem} writes. */
  public static int keyBytesMax(Key key) {
    return 16 + 3 * (key.partition().length() + key.sort().length());
  }

  /** Returns the version of a state that the {@code number}th command produced. */
  public static Version version(long number) {
    return new Version(Long.toString(number, Character.MAX_RADIX));
  }

  private static Item item(ByteBuffer in) {
    Key key = key(in);
    Version version = version(unsigned(in));
    Optional<Instant> expiresAt =
        in.get() == 0
            ? Optional.empty()
            : Optional.of(Instant.ofEpochSecond(signed(in), unsigned(in)));
    long count = unsigned(in);
    Map<String, Field> fields = new HashMap<>();
    for (long i = 0; i < count; i++) {
      String name = text(in);
      fields.put(name, field(in));
    }
    return new Item(key, fields, version, expiresAt);
  }

  private static void field(ByteBuffer out, Field field) {
    switch (field) {
      case Field.Number number -> signed(out.put(NUMBER_FIELD), number.value());
      case Field.Text text -> text(out.put(TEXT_FIELD), text.value());
      case Field.Tokens tokens -> {
        unsigned(out.put(TOKENS_FIELD), tokens.values().size());
        tokens.values().forEach(token -> text(out, token));
      }
    }
  }

  private static Field field(ByteBuffer in) {
    byte kind = in.get();
    return switch (kind) {
      case NUMBER_FIELD -> new Field.Number(signed(in));
      case TEXT_FIELD -> new Field.Text(text(in));
      case TOKENS_FIELD -> {
        long count = unsigned(in);
        Set<String> tokens = new HashSet<>();
        for (long i = 0; i < count; i++) {
          tokens.add(text(in));
        }
        yield new Field.Tokens(tokens);
      }
      default -> throw new IllegalStateException("unknown field kind " + kind);
    };
  }

  private static void key(ByteBuffer out, Key key) {
    text(out, key.partition());
    text(out, key.sort());
  }

  private static Key key(ByteBuffer in) {
    return new Key(text(in), text(in));
  }

  public static void text(ByteBuffer out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    unsigned(out, bytes.length);
    out.put(bytes);
  }

  public static String text(ByteBuffer in) {
    return new String(bytes(in), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(ByteBuffer in) {
    long length = unsigned(in);
    if (length < 0 || length > in.remaining()) {
      throw new IllegalStateException("a text of " + length + " bytes exceeds the frame");
    }
    byte[] bytes = new byte[(int) length];
    in.get(bytes);
    return bytes;
  }

  public static void signed(ByteBuffer out, long value) {
    unsigned(out, (value << 1) ^ (value >> 63));
  }

  public static long signed(ByteBuffer in) {
    long zigzag = unsigned(in);
    return (zigzag >>> 1) ^ -(zigzag & 1);
  }

  public static void unsigned(ByteBuffer out, long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      out.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    out.put((byte) rest);
  }

  public static long unsigned(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      byte next = in.get();
      value |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalStateException("a number exceeds 64 bits");
  }
}
