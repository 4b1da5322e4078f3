package dev.quipu.server.memcache;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.memcache.Line.Rejected;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/*
 * Meta commands select the parts of the reply by flags. With O on ma the increment is exactly once:
 * the opaque token is the request id, and a repeat gets the reply of the first request. Other meta
 * commands only return the token.
 *
 * With O a decrement below 0 is rejected instead of clamped, since a repeat with a clamped delta
 * would conflict with the first request.
 */

/** The meta commands. */
final class MetaCommands {
  private static final int WORDS_MAX = 64;
  private static final String INVALID_MODE = "CLIENT_ERROR invalid mode for ms M token";

  private MetaCommands() {}

  static List<MemcacheCommand> all() {
    return List.of(
        MemcacheCommand.of("mg", "key [b c f k N(time) O(opaque) q s t T(time) v]")
            .summary("Returns the value or metadata of a key.")
            .words(2, WORDS_MAX)
            .runs(MetaCommands::read),
        MemcacheCommand.of(
                "ms", "key length [b c C(unique) F(flags) I k M(mode) O(opaque) q s T(time)]")
            .summary("Stores data; mode S sets, E adds, R replaces, A appends and P prepends.")
            .words(3, WORDS_MAX)
            .dataLengthAt(2)
            .runs(MetaCommands::store),
        MemcacheCommand.of("md", "key [b C(unique) k O(opaque) q]")
            .summary("Deletes a key.")
            .words(2, WORDS_MAX)
            .runs(MetaCommands::delete),
        MemcacheCommand.of(
                "ma",
                "key [b c C(unique) D(delta) J(initial) k M(mode) N(time) O(id) q t T(time) v]")
            .summary("Increments (mode I) or decrements (mode D) a counter; exactly once per O.")
            .words(2, WORDS_MAX)
            .runs(MetaCommands::count),
        MemcacheCommand.of("me", "key [b]")
            .summary("Returns the metadata of a key.")
            .words(2, 3)
            .runs(MetaCommands::describe),
        MemcacheCommand.of("mn", "")
            .summary("Returns MN.")
            .runs((counters, request, out) -> Request.line(out, "MN")));
  }

  private static void read(CounterAccess counters, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 2, "bcfkNOqstTv");
    Slot slot = flags.slot(counters);
    Optional<Entry> found = slot.read();
    if (found.isEmpty() && !flags.has('N')) {
      if (!flags.has('q')) {
        answerShort(flags, "EN", out);
      }
      return;
    }
    if (found.isEmpty()) {
      Entry placeholder = slot.writePlaceholder(Request.expiresAt(counters, flags.time('N')));
      answer(flags, touched(slot, flags, placeholder), flags.has('v'), " W", out);
      return;
    }
    String lost = found.get().isPlaceholder() ? " Z" : "";
    answer(flags, touched(slot, flags, found.get()), flags.has('v'), lost, out);
  }

  /**
   * What a command found or left under its key.
   *
   * @param secondsBefore time to live before flag T took effect
   * @param secondsAfter time to live after it
   */
  private record Found(Entry entry, long version, long secondsBefore, long secondsAfter) {}

  /** Sets the expiry if flag T is present. */
  private static Found touched(Slot slot, MetaFlags flags, Entry entry) {
    CounterAccess counters = slot.counters();
    long before = slot.secondsLeft();
    long version = counters.version(slot.key());
    if (flags.has('T')) {
      slot.touch(flags.time('T'));
    }
    boolean exists = counters.exists(slot.key());
    return new Found(
        entry,
        exists ? counters.version(slot.key()) : version,
        before,
        exists || !flags.has('T') ? slot.secondsLeft() : 0);
  }

  /** Writes HD or VA with the fields selected by flags. */
  private static void answer(
      MetaFlags flags, Found found, boolean withValue, String suffix, ByteBuf out) {
    byte[] content = found.entry.content();
    StringBuilder head = new StringBuilder(withValue ? "VA " + content.length : "HD");
    for (int i = flags.first(); i < flags.size(); i++) {
      switch (flags.letter(i)) {
        case 'c' -> head.append(" c").append(found.version);
        case 'f' -> head.append(" f").append(Integer.toUnsignedString(found.entry.flags()));
        case 'k' -> head.append(flags.returnedKey());
        case 'O' -> head.append(" O").append(flags.token('O'));
        case 's' -> head.append(flags.isStore() ? "" : " s" + content.length);
        // Flags take effect in their order.
        case 't' ->
            head.append(" t").append(i < flags.at('T') ? found.secondsBefore : found.secondsAfter);
        default -> {
          // returns nothing
        }
      }
    }
    Request.line(out, head.append(suffix).toString());
    if (withValue) {
      out.writeBytes(content).writeShort('\r' << 8 | '\n');
    }
  }

  /** Writes a status with the key and the opaque token if requested. */
  private static void answerShort(MetaFlags flags, String status, ByteBuf out) {
    StringBuilder line = new StringBuilder(status);
    for (int i = flags.first(); i < flags.size(); i++) {
      switch (flags.letter(i)) {
        case 'O' -> line.append(" O").append(flags.token('O'));
        case 'k' -> line.append(flags.returnedKey());
        case 'c' -> line.append(flags.isStore() ? " c0" : "");
        default -> {
          // returns nothing
        }
      }
    }
    Request.line(out, line.toString());
  }

  private static boolean isStale(CounterAccess counters, MetaFlags flags) {
    return flags.has('C') && counters.version(flags.key()) != flags.unsigned('C', 0);
  }

  private static void store(CounterAccess counters, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 3, "bcCFIkMOqsT");
    Slot slot = flags.slot(counters);
    String mode =
        switch (flags.has('M') ? flags.token('M') : "S") {
          case "S", "s" -> "set";
          case "E", "e" -> "add";
          case "R", "r" -> "replace";
          case "A", "a" -> "append";
          case "P", "p" -> "prepend";
          default -> throw new Rejected(INVALID_MODE);
        };
    if (flags.has('C') && !counters.exists(slot.key())) {
      answerShort(flags, "NF", out);
      return;
    }
    if (isStale(counters, flags)) {
      answerShort(flags, "EX", out);
      return;
    }
    long expiresAt = flags.has('T') ? Request.expiresAt(counters, flags.time('T')) : 0;
    boolean isStored = slot.store(mode, (int) flags.unsigned('F', 0), request.data(), expiresAt);
    Optional<Entry> found = slot.read();
    if (!isStored) {
      answerShort(flags, "NS", out);
    } else if (!flags.has('q')) {
      if (found.isEmpty()) {
        answerShort(flags, "HD", out);
      } else {
        Found stored = new Found(found.get(), counters.version(slot.key()), 0, 0);
        answer(flags, stored, false, "", out);
      }
    }
  }

  private static void delete(CounterAccess counters, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 2, "bCkOq");
    if (counters.exists(flags.key()) && isStale(counters, flags)) {
      answerShort(flags, "EX", out);
      return;
    }
    boolean existed = counters.remove(flags.key());
    if (!existed || !flags.has('q')) {
      answerShort(flags, existed ? "HD" : "NF", out);
    }
  }

  private static void count(CounterAccess counters, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 2, "bcCDJkMNOqtTv");
    Slot slot = flags.slot(counters);
    long delta = flags.unsigned('D', 1);
    boolean isUp =
        switch (flags.has('M') ? flags.token('M') : "I") {
          case "I", "+" -> true;
          case "D", "-" -> false;
          default -> throw new Rejected("CLIENT_ERROR invalid mode for ma M token");
        };
    if (!counters.exists(slot.key()) || flags.has('O')) {
      slot.requireInteger();
    }
    if (flags.has('O')) {
      countOnce(slot, flags, delta, isUp, out);
      return;
    }
    Optional<Entry> before = slot.read();
    if (before.isEmpty() && !flags.has('N')) {
      answerShort(flags, "NF", out);
    } else if (before.isPresent() && isStale(counters, flags)) {
      answerShort(flags, "EX", out);
    } else if (before.isPresent()) {
      TextCommands.count(slot, before.get(), delta, isUp);
      touchAndAnswer(slot, flags, slot.read().orElseThrow(), flags.has('q'), out);
    } else {
      long initial = initial(slot, flags);
      counters.set(slot.key(), initial);
      counters.expire(slot.key(), Request.expiresAt(counters, flags.time('N')));
      Entry created = Entry.ofCounter(initial, slot.isUnsigned());
      touchAndAnswer(slot, flags, created, false, out); // not even quiet, like memcached
    }
  }

  private static long initial(Slot slot, MetaFlags flags) {
    long initial = flags.unsigned('J', 0);
    if (initial < 0 && !slot.isUnsigned()) {
      throw new Rejected(TextCommands.WOULD_OVERFLOW);
    }
    return initial;
  }

  /**
   * Increments or decrements with the opaque token as request id; a repeat is answered from memory.
   *
   * @param delta unsigned; no counter can hold 2^63 or more
   */
  private static void countOnce(Slot slot, MetaFlags flags, long delta, boolean isUp, ByteBuf out) {
    CounterAccess counters = slot.counters();
    boolean isHuge = delta < 0;
    long change = isUp ? delta : -delta;
    if (flags.token('O').isEmpty() || delta == 0) {
      throw new Rejected("CLIENT_ERROR O is the request id and must not be empty; D must not be 0");
    }
    RequestId id = RequestId.of(flags.token('O'));
    RequestOutcome outcome = counters.outcome(slot.key(), id);
    if (outcome instanceof RequestOutcome.Applied applied) {
      boolean isSame =
          (applied.added() == change && !isHuge) || applied.added() == initial(slot, flags);
      if (!isSame) {
        throw new Rejected(
            "CLIENT_ERROR the first request with this opaque token added " + applied.added());
      }
      answerCount(slot, flags, applied.valueIfKnown().orElseThrow(), out);
      return;
    }
    if (outcome instanceof RequestOutcome.Canceled) {
      answerShort(flags, "NS", out);
      return;
    }
    Optional<Entry> before = slot.read();
    if (before.isEmpty() && !flags.has('N')) {
      answerShort(flags, "NF", out);
      return;
    }
    if (before.isPresent() && !before.get().isCounter()) {
      throw new Rejected(TextCommands.NOT_NUMERIC);
    }
    if (before.isPresent() && isStale(counters, flags)) {
      answerShort(flags, "EX", out);
      return;
    }
    if (before.isEmpty()) {
      long initial = initial(slot, flags);
      counters.begin(slot.key(), initial, id);
      counters.expire(slot.key(), Request.expiresAt(counters, flags.time('N')));
      answerCount(slot, flags, initial, out);
      return;
    }
    if (isHuge) {
      answerShort(flags, "NS", out);
      return;
    }
    switch (counters.add(new Add(slot.key(), change, Bounds.atLeast(0), id))) {
      case AddResult.Applied applied ->
          answerCount(slot, flags, applied.valueIfKnown().orElseThrow(), out);
      case AddResult.Rejected rejected -> answerShort(flags, "NS", out);
      case AddResult.Replayed again -> throw new IllegalStateException("id was not seen before");
      case AddResult.Conflict conflict -> throw new IllegalStateException("id was not seen before");
    }
  }

  /** Answers a request with an id: with its own value, not the current one. */
  private static void answerCount(Slot slot, MetaFlags flags, long value, ByteBuf out) {
    Entry counted = Entry.ofCounter(value, slot.isUnsigned());
    touchAndAnswer(slot, flags, counted, flags.has('q'), out);
  }

  private static void touchAndAnswer(
      Slot slot, MetaFlags flags, Entry entry, boolean isQuiet, ByteBuf out) {
    Found found = touched(slot, flags, entry);
    if (!isQuiet) {
      answer(flags, found, flags.has('v'), "", out);
    }
  }

  private static void describe(CounterAccess counters, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 2, "b");
    Slot slot = flags.slot(counters);
    Optional<Entry> found = slot.read();
    if (found.isEmpty()) {
      Request.line(out, "EN");
      return;
    }
    String shown =
        flags.has('b')
            ? Base64.getEncoder().encodeToString(slot.key().getBytes(StandardCharsets.UTF_8))
            : slot.key();
    Request.line(
        out,
        "ME %s exp=%d la=0 cas=%d fetch=no cls=1 size=%d"
            .formatted(
                shown,
                slot.secondsLeft(),
                counters.version(slot.key()),
                found.get().content().length));
  }
}
