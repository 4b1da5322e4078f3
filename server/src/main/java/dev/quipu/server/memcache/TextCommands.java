package dev.quipu.server.memcache;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Rejected;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The classic text commands. */
final class TextCommands {
  static final String NOT_NUMERIC = "CLIENT_ERROR cannot increment or decrement non-numeric value";
  static final String INVALID_TIME = "CLIENT_ERROR invalid exptime argument";
  static final String TOO_LARGE = "SERVER_ERROR object too large for cache";
  static final String WOULD_OVERFLOW =
      "CLIENT_ERROR value would be outside the range 0 to 9223372036854775807";

  static final int WORDS_MAX = 1_024;

  /** Bytes of a reply that are counted with its batch only. */
  private static final int UNCOUNTED_BYTES = 8 << 10;

  private TextCommands() {}

  static List<MemcacheCommand> all() {
    return List.of(
        MemcacheCommand.of("get", "key [key ...]")
            .summary("Returns the values of keys.")
            .words(2, WORDS_MAX)
            .runs((counters, request, out) -> read(counters, request, out, 1, false)),
        MemcacheCommand.of("gets", "key [key ...]")
            .summary("Returns the values of keys with their cas uniques.")
            .words(2, WORDS_MAX)
            .runs((counters, request, out) -> read(counters, request, out, 1, true)),
        MemcacheCommand.of("gat", "time key [key ...]")
            .summary("Returns the values of keys and sets their expiry.")
            .words(3, WORDS_MAX)
            .runs((counters, request, out) -> readAndTouch(counters, request, out, false)),
        MemcacheCommand.of("gats", "time key [key ...]")
            .summary("Returns the values of keys with their cas uniques and sets their expiry.")
            .words(3, WORDS_MAX)
            .runs((counters, request, out) -> readAndTouch(counters, request, out, true)),
        store("set", "Sets the value of a key."),
        store("add", "Sets the value of a key, only if it doesn't exist."),
        store("replace", "Sets the value of a key, only if it exists."),
        store("append", "Appends data to the value of an existing key."),
        store("prepend", "Prepends data to the value of an existing key."),
        MemcacheCommand.of("cas", "key flags time length unique")
            .summary("Sets the value of a key, only if it is unchanged since gets.")
            .words(6, 6)
            .dataLengthAt(4)
            .mayBeQuiet()
            .runs(TextCommands::store),
        MemcacheCommand.of("incr", "key number")
            .summary("Increments the counter of a key.")
            .words(3, 3)
            .mayBeQuiet()
            .runs((counters, request, out) -> count(counters, request, out, true)),
        MemcacheCommand.of("decr", "key number")
            .summary("Decrements the counter of a key, down to 0.")
            .words(3, 3)
            .mayBeQuiet()
            .runs((counters, request, out) -> count(counters, request, out, false)),
        MemcacheCommand.of("delete", "key")
            .summary("Deletes a key.")
            .words(2, 3)
            .mayBeQuiet()
            .runs(TextCommands::delete),
        MemcacheCommand.of("touch", "key time")
            .summary("Sets the expiry of a key.")
            .words(3, 3)
            .mayBeQuiet()
            .runs((counters, request, out) -> {
              Slot slot = request.slot(counters);
              boolean existed = slot.touch(request.line().number(2, INVALID_TIME));
              Request.line(out, existed ? "TOUCHED" : "NOT_FOUND");
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
      CounterAccess counters, Request request, ByteBuf out, int first, boolean withUnique) {
    Line line = request.line();
    int counted = out.writerIndex() + UNCOUNTED_BYTES;
    for (int i = first; i < line.size(); i++) {
      if (out.writerIndex() > counted) {
        int more = 2 * (out.writerIndex() - counted) + UNCOUNTED_BYTES; // as the buffer grows
        request.requireMemory(more);
        counted += more;
      }
      String key = line.key(i);
      Optional<Entry> found = request.shared().slot(counters, key).read();
      if (found.isPresent()) {
        byte[] content = found.get().content();
        out.writeCharSequence("VALUE ", StandardCharsets.ISO_8859_1);
        out.writeBytes(line.bytes(), line.start(i), line.length(i));
        String unique = withUnique ? " " + counters.version(key) : "";
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
      CounterAccess counters, Request request, ByteBuf out, boolean withUnique) {
    long time = request.line().number(1, INVALID_TIME);
    ByteBuf values = Unpooled.buffer();
    read(counters, request, values, 2, withUnique);
    for (int i = 2; i < request.line().size(); i++) {
      request.shared().slot(counters, request.line().key(i)).touch(time);
    }
    out.writeBytes(values);
  }

  private static void store(CounterAccess counters, Request request, ByteBuf out) {
    Line line = request.line();
    String verb = line.text(0);
    long flags = line.unsigned(2, Line.BAD_FORMAT);
    if (flags < 0 || flags > 0xffff_ffffL) {
      throw new Rejected(Line.BAD_FORMAT);
    }
    long expiresAt = Request.expiresAt(counters, line.number(3, Line.BAD_FORMAT));
    String key = request.key();
    if (verb.equals("cas")) {
      long unique = line.unsigned(5, Line.BAD_FORMAT);
      if (!counters.exists(key)) {
        Request.line(out, "NOT_FOUND");
        return;
      }
      if (counters.version(key) != unique) {
        Request.line(out, "EXISTS");
        return;
      }
    }
    String mode = verb.equals("cas") ? "set" : verb;
    boolean isStored = request.slot(counters).store(mode, (int) flags, request.data(), expiresAt);
    Request.line(out, isStored ? "STORED" : "NOT_STORED");
  }

  private static void count(CounterAccess counters, Request request, ByteBuf out, boolean isUp) {
    Line line = request.line();
    long delta = line.unsigned(2, "CLIENT_ERROR invalid numeric delta argument");
    Slot slot = request.slot(counters);
    Request.line(
        out, slot.read().map(found -> count(slot, found, delta, isUp)).orElse("NOT_FOUND"));
  }

  /** Adds or subtracts, down to 0; returns the new value. */
  static String count(Slot slot, Entry found, long delta, boolean isUp) {
    if (!found.isCounter()) {
      return countText(slot, found, delta, isUp);
    }
    found.requireInteger();
    long bits = found.bits();
    if (slot.isUnsigned()) {
      long after = unsignedSum(bits, delta, isUp);
      if (after != bits) {
        slot.counters().set(slot.key(), after);
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
    AddResult result = slot.counters().add(new Add(slot.key(), change, null));
    if (result instanceof AddResult.Applied applied) {
      return Long.toString(applied.valueIfKnown().orElseThrow());
    }
    throw new IllegalStateException("add without id and bounds returned " + result);
  }

  private static long unsignedSum(long bits, long delta, boolean isUp) {
    return isUp ? bits + delta : Long.compareUnsigned(bits, delta) < 0 ? 0 : bits - delta;
  }

  /** Counts in a text: some clients store numbers with flags. */
  private static String countText(Slot slot, Entry found, long delta, boolean isUp) {
    byte[] before = found.content();
    long bits = Entry.lenient(before).orElseThrow(() -> new Rejected(NOT_NUMERIC));
    String digits = Long.toUnsignedString(unsignedSum(bits, delta, isUp));
    byte[] content = digits.getBytes(StandardCharsets.ISO_8859_1);
    int length = content.length;
    if (length < before.length) { // like memcached, which writes in place
      content = Arrays.copyOf(content, before.length);
      Arrays.fill(content, length, before.length, (byte) ' ');
    }
    slot.write(found.flags(), content, slot.counters().expiresAt(slot.key()));
    return digits;
  }

  private static void delete(CounterAccess counters, Request request, ByteBuf out) {
    if (request.size() == 3 && !request.line().text(2).equals("0")) {
      throw new Rejected(Line.BAD_FORMAT + ".  Usage: delete <key> [noreply]");
    }
    Request.line(out, counters.remove(request.key()) ? "DELETED" : "NOT_FOUND");
  }
}
