package dev.quipu.server.resp.session;

import dev.quipu.Limits;
import dev.quipu.engine.CounterAccess;
import dev.quipu.server.protocol.ConnectionMemory;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.key.NamedCommand;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What the server knows of one connection. Lives on its event loop. */
public final class Session {
  /** Most commands of a transaction. */
  static final int QUEUED_MAX = 1_024;

  /** Most bytes that the commands of a transaction hold. */
  static final long QUEUED_BYTES_MAX = 4 << 20;

  /** Most keys that a connection watches. */
  static final int WATCHED_MAX = 1_024;

  /** The answer when all connections together hold as much as they may; of what needs more. */
  public static final String OUT_OF_MEMORY =
      "OOM %s needs more memory than is left of the budget of all connections. Retry later.";

  private static final int WATCHED_BYTES = 256; // of a key, besides its name
  private static final int CHAR_BYTES_MAX = 6; // of a name, which two tables hold

  public final long id;
  final String address;
  public final SharedState shared;
  private final ConnectionMemory memory;
  private final long sinceNanos;
  public int protocol = 2;
  public boolean isAuthenticated;
  public long commands;
  public boolean isEnding;
  public String name = "";
  public String library = "";
  public String libraryVersion = "";
  public String lastCommand = "";
  public boolean isTransactionHeavy; // a command of it is likely to keep others waiting
  public boolean hasWatched; // once; what it watches now is known on a turn alone
  private @Nullable List<NamedCommand> queued;
  private long queuedBytes;
  private long endedBytes; // of a transaction that is on its way to its turn
  private boolean isBroken;
  private final SortedMap<String, Watched> watched = new TreeMap<>();

  /**
   * A counter as it was when it was watched.
   *
   * @param changes that were counted until then
   */
  record Watched(boolean wasThere, long changes) {}

  Session(long id, String address, SharedState shared, ConnectionMemory memory) {
    this.memory = memory;
    this.id = id;
    this.address = address;
    this.shared = shared;
    this.isAuthenticated = shared.token().isEmpty();
    this.sinceNanos = shared.clock().nanoTime();
  }

  /** Whether it shows the right token. */
  public boolean authenticate(String token) {
    Optional<String> wanted = shared.token();
    if (wanted.isPresent()
        && !MessageDigest.isEqual(
            wanted.get().getBytes(StandardCharsets.UTF_8),
            token.getBytes(StandardCharsets.UTF_8))) {
      return false;
    }
    isAuthenticated = true;
    return true;
  }

  public boolean isQueueing() {
    return queued != null;
  }

  public Reply begin() {
    if (queued != null) {
      return new Reply.Failure("ERR MULTI calls can not be nested");
    }
    queued = new ArrayList<>();
    isBroken = false;
    return Replies.OK;
  }

  /** Something in a transaction was wrong: it will not be done. */
  public void spoil() {
    isBroken |= queued != null;
  }

  /** Returns the memory of the connection. */
  public ConnectionMemory memory() {
    return memory;
  }

  /** Puts a command off; it holds this many bytes. */
  public Reply queue(NamedCommand call, long bytes) {
    List<NamedCommand> calls = queued;
    if (calls == null) {
      throw new IllegalStateException("no transaction was begun");
    }
    if (calls.size() == QUEUED_MAX) {
      isBroken = true;
      return new Reply.Failure(
          "ERR transaction would have %d commands; the limit is %d. Send several transactions"
              .formatted(QUEUED_MAX + 1, QUEUED_MAX));
    }
    if (queuedBytes + bytes > QUEUED_BYTES_MAX) {
      isBroken = true;
      return new Reply.Failure(
          "ERR transaction is %d bytes; the limit is %d. Send several transactions"
              .formatted(queuedBytes + bytes, QUEUED_BYTES_MAX));
    }
    if (!memory.tryTake(bytes)) {
      isBroken = true;
      return new Reply.Failure(OUT_OF_MEMORY.formatted("transaction"));
    }
    queuedBytes += bytes;
    calls.add(call);
    return Replies.QUEUED;
  }

  public Reply discard() {
    if (queued == null) {
      return new Reply.Failure("ERR DISCARD without MULTI");
    }
    drop();
    return Replies.OK;
  }

  private void drop() {
    queued = null;
    memory.give(queuedBytes);
    queuedBytes = 0;
  }

  /**
   * The commands of the transaction, which is over; empty if it was spoilt. They hold their memory
   * until they are done: see {@link #ended}.
   */
  public Optional<List<NamedCommand>> end() {
    if (isBroken || queued == null) {
      drop();
      return Optional.empty();
    }
    List<NamedCommand> calls = queued;
    queued = null;
    endedBytes += queuedBytes;
    queuedBytes = 0;
    return Optional.of(calls);
  }

  /** Returns the bytes of a transaction that is over, once; whoever asks gives them back. */
  public long ended() {
    long bytes = endedBytes;
    endedBytes = 0;
    return bytes;
  }

  /** What it watches; changed on a turn alone. */
  SortedMap<String, Watched> watched() {
    return watched;
  }

  /** Starts to watch counters: all of them or none. */
  public Reply watch(CounterAccess turn, List<String> counters) {
    Set<String> added = new TreeSet<>(counters);
    added.removeAll(watched.keySet());
    if (watched.size() + added.size() > WATCHED_MAX) {
      throw new Rejected(
          "ERR connection would watch %d keys; the limit is %d. Watch fewer keys"
              .formatted(watched.size() + added.size(), WATCHED_MAX));
    }
    if (!memory.tryTake(bytes(added))) {
      throw new Rejected(OUT_OF_MEMORY.formatted("WATCH"));
    }
    try {
      for (String counter : added) {
        boolean isThere = Kind.of(turn, counter) != Kind.NONE;
        watched.put(counter, new Watched(isThere, turn.watch(counter)));
      }
    } catch (RuntimeException e) { // all of them or none
      added.stream().filter(each -> watched.remove(each) != null).forEach(turn::unwatch);
      memory.give(bytes(added));
      throw e;
    }
    return Replies.OK;
  }

  private static long bytes(Set<String> counters) {
    return counters.stream()
        .mapToLong(each -> WATCHED_BYTES + (long) CHAR_BYTES_MAX * each.length())
        .sum();
  }

  /** Whether all that it watches is as it was; it watches nothing from now on. */
  public boolean unwatch(CounterAccess turn) {
    boolean isUnchanged = true;
    for (Map.Entry<String, Watched> each : watched.entrySet()) {
      String counter = each.getKey();
      Watched was = each.getValue();
      isUnchanged &= turn.changes(counter) == was.changes;
      isUnchanged &= (Kind.of(turn, counter) != Kind.NONE) == was.wasThere; // it may have expired
      turn.unwatch(counter);
    }
    memory.give(bytes(watched.keySet()));
    watched.clear();
    return isUnchanged;
  }

  public void reset() {
    drop();
    protocol = 2;
    name = "";
    isAuthenticated = shared.token().isEmpty();
  }

  /** A name for a connection or a library, checked. */
  public static boolean isPlain(String text) {
    return text.length() <= Limits.REQUEST_ID_BYTES_MAX
        && text.chars().allMatch(each -> each > ' ' && each < 0x7f);
  }

  /** The line of {@code CLIENT LIST}. */
  public String line() {
    return ("id=%d addr=%s laddr=%s fd=0 name=%s age=%d idle=0 flags=N db=0 sub=0 psub=0 ssub=0"
            + " multi=%d watch=%d qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0"
            + " omem=0 tot-mem=0 events=r cmd=%s user=default redir=-1 resp=%d lib-name=%s"
            + " lib-ver=%s")
        .formatted(
            id,
            address,
            shared.address(),
            name,
            shared.secondsSince(sinceNanos),
            queued == null ? -1 : queued.size(),
            watched.size(),
            lastCommand.isEmpty() ? "NULL" : lastCommand,
            protocol,
            library,
            libraryVersion);
  }
}
