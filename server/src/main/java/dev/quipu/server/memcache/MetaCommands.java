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
 * Meta commands say what they want by flags, and hear it in the same order. With O on ma the count
 * is exactly once: the opaque token is the id of the request. A repeat under it hears what the
 * first one heard. Other meta commands only give the token back.
 *
 * With O a decrement that would go below 0 is not stored, and not cut short: else a repeat could
 * not be told from another request.
 */

/** Meta commands. */
final class MetaCommands {
  private static final int WORDS_MAX = 64;
  private static final String INVALID_MODE = "CLIENT_ERROR invalid mode for ms M token";

  private MetaCommands() {}

  static List<MemcacheCommand> all() {
    return List.of(
        MemcacheCommand.of("mg", "key [b c f k N(time) O(opaque) q s t T(time) v]")
            .summary("Reads.")
            .words(2, WORDS_MAX)
            .runs(MetaCommands::read),
        MemcacheCommand.of(
                "ms", "key length [b c C(unique) F(flags) I k M(mode) O(opaque) q s T(time)]")
            .summary("Stores; the mode is S set, E add, R replace, A append or P prepend.")
            .words(3, WORDS_MAX)
            .dataLengthAt(2)
            .runs(MetaCommands::store),
        MemcacheCommand.of("md", "key [b C(unique) k O(opaque) q]")
            .summary("Removes.")
            .words(2, WORDS_MAX)
            .runs(MetaCommands::delete),
        MemcacheCommand.of(
                "ma",
                "key [b c C(unique) D(delta) J(initial) k M(mode) N(time) O(id) q t T(time) v]")
            .summary(
                "Counts, up with mode I and down with D; once for each O, however often it is sent.")
            .words(2, WORDS_MAX)
            .runs(MetaCommands::count),
        MemcacheCommand.of("me", "key [b]")
            .summary("Returns the metadata of a key.")
            .words(2, 3)
            .runs(MetaCommands::describe),
        MemcacheCommand.of("mn", "")
            .summary("Answers MN.")
            .words(1, 1)
            .runs((turn, request, out) -> Request.line(out, "MN")));
  }

  private static void read(CounterAccess turn, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 2, "bcfkNOqstTv");
    String key = flags.key();
    Optional<Entry> found = Entry.read(turn, key, flags.isUnsigned());
    if (found.isEmpty() && !flags.has('N')) {
      if (!flags.has('q')) {
        tell(request, flags, "EN", out);
      }
      return;
    }
    if (found.isEmpty()) {
      Entry begun = Entry.begun(flags.isUnsigned());
      begun.put(turn, key, Request.expiresAt(turn, flags.time('N')));
      answer(request, flags, touched(turn, flags, begun), flags.has('v'), " W", out);
      return;
    }
    String lost = found.get().isBegun() ? " Z" : "";
    answer(request, flags, touched(turn, flags, found.get()), flags.has('v'), lost, out);
  }

  /**
   * What a command found or left under its key.
   *
   * @param secondsBefore until it expires, before the command touched it
   * @param secondsAfter the same behind it
   */
  private record Found(Entry entry, long version, long secondsBefore, long secondsAfter) {}

  /** Sets when it expires, if the flags say so. */
  private static Found touched(CounterAccess turn, MetaFlags flags, Entry entry) {
    String key = flags.key();
    long before = secondsLeft(turn, key);
    long version = turn.version(key);
    if (flags.has('T')) {
      TextCommands.touch(turn, key, flags.time('T'));
    }
    boolean isThere = turn.exists(key);
    return new Found(
        entry,
        isThere ? turn.version(key) : version,
        before,
        isThere || !flags.has('T') ? secondsLeft(turn, key) : 0);
  }

  /** HD or VA, and what the flags ask for. */
  private static void answer(
      Request request, MetaFlags flags, Found found, boolean withValue, String won, ByteBuf out) {
    byte[] content = found.entry.content();
    StringBuilder head = new StringBuilder(withValue ? "VA " + content.length : "HD");
    for (int i = flags.first(); i < flags.size(); i++) {
      switch (flags.letter(i)) {
        case 'c' -> head.append(" c").append(found.version);
        case 'f' -> head.append(" f").append(Integer.toUnsignedString(found.entry.flags()));
        case 'k' -> head.append(key(request, flags));
        case 'O' -> head.append(" O").append(flags.token('O'));
        case 's' -> head.append(flags.isStore() ? "" : " s" + content.length);
        // The flags are done in their order.
        case 't' ->
            head.append(" t").append(i < flags.at('T') ? found.secondsBefore : found.secondsAfter);
        default -> {
          // asks for nothing to be told
        }
      }
    }
    Request.line(out, head.append(won).toString());
    if (withValue) {
      out.writeBytes(content).writeShort('\r' << 8 | '\n');
    }
  }

  private static String key(Request request, MetaFlags flags) {
    return " k" + request.line().text(1) + (flags.has('b') ? " b" : "");
  }

  private static long secondsLeft(CounterAccess turn, String key) {
    long at = turn.expiresAt(key);
    return at == 0 ? -1 : (at - turn.nowMillis() + 500) / 1_000;
  }

  /** A short answer, with the key and the opaque token if they are wanted. */
  private static void tell(Request request, MetaFlags flags, String what, ByteBuf out) {
    StringBuilder line = new StringBuilder(what);
    for (int i = flags.first(); i < flags.size(); i++) {
      switch (flags.letter(i)) {
        case 'O' -> line.append(" O").append(flags.token('O'));
        case 'k' -> line.append(key(request, flags));
        case 'c' -> line.append(flags.isStore() ? " c0" : "");
        default -> {
          // asks for nothing to be told
        }
      }
    }
    Request.line(out, line.toString());
  }

  private static boolean isStale(CounterAccess turn, MetaFlags flags) {
    return flags.has('C') && turn.version(flags.key()) != flags.unsigned('C', 0);
  }

  private static void store(CounterAccess turn, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 3, "bcCFIkMOqsT");
    String key = flags.key();
    String mode =
        switch (flags.has('M') ? flags.token('M') : "S") {
          case "S", "s" -> "set";
          case "E", "e" -> "add";
          case "R", "r" -> "replace";
          case "A", "a" -> "append";
          case "P", "p" -> "prepend";
          default -> throw new Rejected(INVALID_MODE);
        };
    if (flags.has('C') && !turn.exists(key)) {
      tell(request, flags, "NF", out);
      return;
    }
    if (isStale(turn, flags)) {
      tell(request, flags, "EX", out);
      return;
    }
    int client = (int) flags.unsigned('F', 0);
    long expiresAt = flags.has('T') ? Request.expiresAt(turn, flags.time('T')) : 0;
    boolean isStored =
        TextCommands.store(turn, key, flags.isUnsigned(), mode, client, request.data(), expiresAt);
    Optional<Entry> found = Entry.read(turn, key, flags.isUnsigned());
    if (!isStored) {
      tell(request, flags, "NS", out);
    } else if (!flags.has('q')) {
      if (found.isEmpty()) {
        tell(request, flags, "HD", out);
      } else {
        Found stored = new Found(found.get(), turn.version(key), 0, 0);
        answer(request, flags, stored, false, "", out);
      }
    }
  }

  private static void delete(CounterAccess turn, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 2, "bCkOq");
    if (turn.exists(flags.key()) && isStale(turn, flags)) {
      tell(request, flags, "EX", out);
      return;
    }
    boolean wasThere = turn.remove(flags.key());
    if (!wasThere || !flags.has('q')) {
      tell(request, flags, wasThere ? "HD" : "NF", out);
    }
  }

  private static void count(CounterAccess turn, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 2, "bcCDJkMNOqtTv");
    String key = flags.key();
    long delta = flags.unsigned('D', 1);
    boolean isUp =
        switch (flags.has('M') ? flags.token('M') : "I") {
          case "I", "+" -> true;
          case "D", "-" -> false;
          default -> throw new Rejected("CLIENT_ERROR invalid mode for ma M token");
        };
    if (flags.has('O')) {
      countOnce(turn, request, flags, delta, isUp, out);
      return;
    }
    Optional<Entry> before = Entry.read(turn, key, flags.isUnsigned());
    if (before.isEmpty() && !flags.has('N')) {
      tell(request, flags, "NF", out);
      return;
    }
    if (before.isPresent() && isStale(turn, flags)) {
      tell(request, flags, "EX", out);
      return;
    }
    if (before.isPresent()) {
      TextCommands.count(turn, key, before.get(), flags.isUnsigned(), delta, isUp);
      Entry after = Entry.read(turn, key, flags.isUnsigned()).orElseThrow();
      told(turn, request, flags, after, flags.has('q'), out);
    } else {
      told(turn, request, flags, begin(turn, flags), false, out); // as memcached does
    }
  }

  /** A counter that is not there begins with J, and expires as N says. */
  private static Entry begin(CounterAccess turn, MetaFlags flags) {
    long initial = initial(flags);
    turn.set(flags.key(), initial);
    turn.expire(flags.key(), Request.expiresAt(turn, flags.time('N')));
    return Entry.ofCounter(initial, flags.isUnsigned());
  }

  private static long initial(MetaFlags flags) {
    long initial = flags.unsigned('J', 0);
    if (initial < 0 && !flags.isUnsigned()) {
      throw new Rejected(TextCommands.WOULD_OVERFLOW);
    }
    return initial;
  }

  /**
   * Counts under the opaque token: what a repeat finds done is not done again.
   *
   * @param delta without a sign; from 2^63 on no counter has room for it
   */
  private static void countOnce(
      CounterAccess turn, Request request, MetaFlags flags, long delta, boolean isUp, ByteBuf out) {
    String key = flags.key();
    boolean isHuge = delta < 0;
    long change = isUp ? delta : -delta;
    if (flags.token('O').isEmpty() || delta == 0) {
      throw new Rejected(
          "CLIENT_ERROR with O, which is the id of the count, D must count something");
    }
    RequestId id = RequestId.of(flags.token('O'));
    RequestOutcome outcome = turn.outcome(key, id);
    if (outcome instanceof RequestOutcome.Applied applied) {
      boolean isSame = (applied.added() == change && !isHuge) || applied.added() == initial(flags);
      if (!isSame) {
        throw new Rejected(
            "CLIENT_ERROR the first request under this opaque token added " + applied.added());
      }
      value(turn, request, flags, applied.valueIfKnown().orElseThrow(), out);
      return;
    }
    if (outcome instanceof RequestOutcome.Canceled) {
      tell(request, flags, "NS", out);
      return;
    }
    Optional<Entry> before = Entry.read(turn, key, flags.isUnsigned());
    if (before.isEmpty() && !flags.has('N')) {
      tell(request, flags, "NF", out);
      return;
    }
    if (before.isPresent() && !before.get().isCounter()) {
      throw new Rejected(TextCommands.NOT_NUMERIC);
    }
    if (before.isPresent() && isStale(turn, flags)) {
      tell(request, flags, "EX", out);
      return;
    }
    if (before.isEmpty()) {
      long initial = initial(flags);
      turn.begin(key, initial, id);
      turn.expire(key, Request.expiresAt(turn, flags.time('N')));
      value(turn, request, flags, initial, out);
      return;
    }
    if (isHuge) {
      tell(request, flags, "NS", out);
      return;
    }
    switch (turn.add(new Add(key, change, Bounds.atLeast(0), id))) {
      case AddResult.Applied applied ->
          value(turn, request, flags, applied.valueIfKnown().orElseThrow(), out);
      case AddResult.Rejected rejected -> tell(request, flags, "NS", out);
      case AddResult.Replayed again -> throw new IllegalStateException("it was not seen");
      case AddResult.Conflict conflict -> throw new IllegalStateException("it was not seen");
    }
  }

  /** The answer to a count under an id: its own value, whatever came since. */
  private static void value(
      CounterAccess turn, Request request, MetaFlags flags, long value, ByteBuf out) {
    Entry counted = Entry.ofCounter(value, flags.isUnsigned());
    told(turn, request, flags, counted, flags.has('q'), out);
  }

  private static void told(
      CounterAccess turn,
      Request request,
      MetaFlags flags,
      Entry entry,
      boolean isQuiet,
      ByteBuf out) {
    Found found = touched(turn, flags, entry);
    if (!isQuiet) {
      answer(request, flags, found, flags.has('v'), "", out);
    }
  }

  private static void describe(CounterAccess turn, Request request, ByteBuf out) {
    MetaFlags flags = new MetaFlags(request, 2, "b");
    Optional<Entry> found = Entry.read(turn, flags.key(), flags.isUnsigned());
    if (found.isEmpty()) {
      Request.line(out, "EN");
      return;
    }
    String shown =
        flags.has('b')
            ? Base64.getEncoder().encodeToString(flags.key().getBytes(StandardCharsets.UTF_8))
            : flags.key();
    Request.line(
        out,
        "ME %s exp=%d la=0 cas=%d fetch=no cls=1 size=%d"
            .formatted(
                shown,
                secondsLeft(turn, flags.key()),
                turn.version(flags.key()),
                found.get().content().length));
  }
}
