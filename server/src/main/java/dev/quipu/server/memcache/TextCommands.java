package dev.quipu.server.memcache;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Rejected;
import dev.quipu.server.protocol.StoredText;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Commands as memcached always had them. */
final class TextCommands {
  static final String NOT_NUMERIC = "CLIENT_ERROR cannot increment or decrement non-numeric value";
  static final String INVALID_TIME = "CLIENT_ERROR invalid exptime argument";
  static final String TOO_LARGE = "SERVER_ERROR object too large for cache";
  static final String WOULD_OVERFLOW =
      "CLIENT_ERROR the counter would leave 0 to 9223372036854775807";

  static final int WORDS_MAX = 1_024;

  /** Bytes of an answer that are only counted when its batch is. */
  private static final int UNCOUNTED_BYTES = 8 << 10;

  private TextCommands() {}

  static List<MemcacheCommand> all() {
    return List.of(
        MemcacheCommand.of("get", "key [key ...]")
            .summary("Reads.")
            .words(2, WORDS_MAX)
            .runs((turn, request, out) -> read(turn, request, out, 1, false)),
        MemcacheCommand.of("gets", "key [key ...]")
            .summary("Reads, with what cas needs.")
            .words(2, WORDS_MAX)
            .runs((turn, request, out) -> read(turn, request, out, 1, true)),
        MemcacheCommand.of("gat", "time key [key ...]")
            .summary("Reads, and sets when it expires.")
            .words(3, WORDS_MAX)
            .runs((turn, request, out) -> readAndTouch(turn, request, out, false)),
        MemcacheCommand.of("gats", "time key [key ...]")
            .summary("Both of these.")
            .words(3, WORDS_MAX)
            .runs((turn, request, out) -> readAndTouch(turn, request, out, true)),
        store("set", "Sets."),
        store("add", "Sets, if there is nothing."),
        store("replace", "Sets, if there is something."),
        store("append", "Puts something behind what there is."),
        store("prepend", "Puts something before what there is."),
        MemcacheCommand.of("cas", "key flags time length unique")
            .summary("Sets, if it did not change since gets.")
            .words(6, 6)
            .dataLengthAt(4)
            .mayBeQuiet()
            .runs(TextCommands::store),
        MemcacheCommand.of("incr", "key number")
            .summary("Adds.")
            .words(3, 3)
            .mayBeQuiet()
            .runs((turn, request, out) -> count(turn, request, out, true)),
        MemcacheCommand.of("decr", "key number")
            .summary("Takes, down to 0.")
            .words(3, 3)
            .mayBeQuiet()
            .runs((turn, request, out) -> count(turn, request, out, false)),
        MemcacheCommand.of("delete", "key")
            .summary("Removes.")
            .words(2, 3)
            .mayBeQuiet()
            .runs(TextCommands::delete),
        MemcacheCommand.of("touch", "key time")
            .summary("Sets when it expires.")
            .words(3, 3)
            .mayBeQuiet()
            .runs((turn, request, out) -> {
              boolean isThere = touch(turn, request.key(), request.line().number(2, INVALID_TIME));
              Request.line(out, isThere ? "TOUCHED" : "NOT_FOUND");
            }));
  }

  private static MemcacheCommand store(String name, String summary) {
    return MemcacheCommand.of(name, "key flags time length")
        .summary(summary)
        .words(5, 5)
        .dataLengthAt(4)
        .mayBeQuiet()
        .runs(TextCommands::store);
  }

  private static void read(
      CounterAccess turn, Request request, ByteBuf out, int first, boolean withUnique) {
    Line line = request.line();
    int counted = out.writerIndex() + UNCOUNTED_BYTES;
    for (int i = first; i < line.size(); i++) {
      if (out.writerIndex() > counted) {
        int more = 2 * (out.writerIndex() - counted) + UNCOUNTED_BYTES; // as the buffer grows
        request.requireMemory(more);
        counted += more;
      }
      String key = line.key(i);
      Optional<Entry> found = Entry.read(turn, key, request.shared().isUnsigned(key));
      if (found.isPresent()) {
        byte[] content = found.get().content();
        out.writeCharSequence("VALUE ", StandardCharsets.ISO_8859_1);
        out.writeBytes(line.bytes(), line.start(i), line.length(i));
        String unique = withUnique ? " " + turn.version(key) : "";
        Request.line(
            out,
            " %s %d%s"
                .formatted(Integer.toUnsignedString(found.get().flags()), content.length, unique));
        out.writeBytes(content).writeShort('\r' << 8 | '\n');
      }
    }
    Request.line(out, "END");
  }

  private static void readAndTouch(
      CounterAccess turn, Request request, ByteBuf out, boolean withUnique) {
    long time = request.line().number(1, INVALID_TIME);
    ByteBuf told = Unpooled.buffer();
    read(turn, request, told, 2, withUnique);
    for (int i = 2; i < request.line().size(); i++) {
      touch(turn, request.line().key(i), time);
    }
    out.writeBytes(told);
  }

  static boolean touch(CounterAccess turn, String key, long time) {
    long at = Request.expiresAt(turn, time);
    boolean isThere = turn.exists(key);
    if (at == 1) {
      turn.remove(key);
    } else {
      turn.expire(key, at);
    }
    return isThere;
  }

  private static void store(CounterAccess turn, Request request, ByteBuf out) {
    Line line = request.line();
    String verb = line.text(0);
    long flags = line.unsigned(2, Line.BAD_FORMAT);
    if (flags < 0 || flags > 0xffff_ffffL) {
      throw new Rejected(Line.BAD_FORMAT);
    }
    long expiresAt = Request.expiresAt(turn, line.number(3, Line.BAD_FORMAT));
    String key = request.key();
    if (verb.equals("cas")) {
      long unique = line.unsigned(5, Line.BAD_FORMAT);
      if (!turn.exists(key)) {
        Request.line(out, "NOT_FOUND");
        return;
      }
      if (turn.version(key) != unique) {
        Request.line(out, "EXISTS");
        return;
      }
    }
    String mode = verb.equals("cas") ? "set" : verb;
    boolean isStored = store(turn, request, mode, (int) flags, expiresAt);
    Request.line(out, isStored ? "STORED" : "NOT_STORED");
  }

  /**
   * Stores.
   *
   * @param mode set, add, replace, append or prepend
   */
  static boolean store(
      CounterAccess turn, Request request, String mode, int flags, long expiresAt) {
    String key = request.key();
    return store(
        turn, key, request.shared().isUnsigned(key), mode, flags, request.data(), expiresAt);
  }

  static boolean store(
      CounterAccess turn,
      String key,
      boolean isUnsigned,
      String mode,
      int flags,
      byte[] data,
      long expiresAt) {
    Optional<Entry> was = Entry.read(turn, key, isUnsigned);
    boolean joins = mode.equals("append") || mode.equals("prepend");
    if (was.isEmpty() ? !mode.matches("set|add") : mode.equals("add")) {
      return false;
    }
    if (joins) {
      Entry before = was.orElseThrow();
      byte[] content = joined(before.content(), data, mode.equals("append"));
      Entry.write(turn, key, isUnsigned, before.flags(), content, turn.expiresAt(key));
    } else if (expiresAt == 1) {
      turn.remove(key); // stored, and expired at once
    } else {
      Entry.write(turn, key, isUnsigned, flags, data, expiresAt);
    }
    return true;
  }

  private static byte[] joined(byte[] before, byte[] data, boolean isBehind) {
    if (before.length + data.length > StoredText.BYTES_MAX) {
      throw new Rejected(TOO_LARGE);
    }
    ByteBuf all = Unpooled.buffer(before.length + data.length);
    all.writeBytes(isBehind ? before : data).writeBytes(isBehind ? data : before);
    return all.array();
  }

  private static void count(CounterAccess turn, Request request, ByteBuf out, boolean isUp) {
    Line line = request.line();
    long delta = line.unsigned(2, "CLIENT_ERROR invalid numeric delta argument");
    String key = request.key();
    Optional<Entry> found = Entry.read(turn, key, request.isUnsigned());
    Request.line(
        out,
        found.isEmpty()
            ? "NOT_FOUND"
            : count(turn, key, found.get(), request.isUnsigned(), delta, isUp));
  }

  /** Adds to what there is, or takes from it down to 0; what it is then. */
  static String count(
      CounterAccess turn, String key, Entry found, boolean isUnsigned, long delta, boolean isUp) {
    if (!found.isCounter()) {
      return countText(turn, key, found, isUnsigned, delta, isUp);
    }
    long bits = found.bits();
    if (isUnsigned) {
      long after = isUp ? bits + delta : Long.compareUnsigned(bits, delta) < 0 ? 0 : bits - delta;
      if (after != bits) {
        turn.set(key, after);
      }
      return Long.toUnsignedString(after);
    }
    if (bits < 0) {
      throw new Rejected(NOT_NUMERIC);
    }
    boolean isHuge = delta < 0; // above 2^63 - 1
    if (isUp && (isHuge || bits > Long.MAX_VALUE - delta)) {
      throw new Rejected(WOULD_OVERFLOW);
    }
    long change = isUp ? delta : isHuge ? -bits : -Math.min(bits, delta);
    if (change == 0) {
      return Long.toString(bits);
    }
    if (turn.add(new Add(key, change, null)) instanceof AddResult.Applied applied) {
      return Long.toString(applied.valueIfKnown().orElseThrow());
    }
    throw new IllegalStateException("an add without an id and without bounds");
  }

  /** A number with flags, which some clients keep so, is counted as the text that it is. */
  private static String countText(
      CounterAccess turn, String key, Entry found, boolean isUnsigned, long delta, boolean isUp) {
    byte[] before = found.content();
    OptionalLong number = Entry.lenient(before);
    if (number.isEmpty()) {
      throw new Rejected(NOT_NUMERIC);
    }
    long bits = number.getAsLong();
    long after = isUp ? bits + delta : Long.compareUnsigned(bits, delta) < 0 ? 0 : bits - delta;
    String digits = Long.toUnsignedString(after);
    byte[] content = digits.getBytes(StandardCharsets.ISO_8859_1);
    int length = content.length;
    if (length < before.length) { // memcached writes into what is there
      content = Arrays.copyOf(content, before.length);
      Arrays.fill(content, length, before.length, (byte) ' ');
    }
    Entry.write(turn, key, isUnsigned, found.flags(), content, turn.expiresAt(key));
    return digits;
  }

  private static void delete(CounterAccess turn, Request request, ByteBuf out) {
    if (request.size() == 3 && !request.line().text(2).equals("0")) {
      throw new Rejected(Line.BAD_FORMAT + ".  Usage: delete <key> [noreply]");
    }
    Request.line(out, turn.remove(request.key()) ? "DELETED" : "NOT_FOUND");
  }
}
