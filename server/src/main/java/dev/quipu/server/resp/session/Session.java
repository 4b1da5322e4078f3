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

/** The state of one connection. Confined to its event loop. */
public final class Session {
  /** Maximum number of commands in a transaction. */
  static final int QUEUED_MAX = 1_024;

  /** Maximum memory of the queued commands of a transaction. */
  static final long QUEUED_BYTES_MAX = 4 << 20;

  /** Maximum number of keys watched by a connection. */
  static final int WATCHED_MAX = 1_024;

  /** The reply when the memory budget is used up; formatted with the name of what needs more. */
  public static final String OUT_OF_MEMORY =
      "OOM %s needs more memory than is left of the budget of all connections. Retry later.";

  private static final int WATCHED_BYTES = 256; // per key, besides its name
  private static final int CHAR_BYTES_MAX = 6; // per character of a name, in two tables

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
  public boolean isTransactionHeavy; // a queued command is likely to delay others
  public boolean hasWatched; // at any time; the current keys are accessed in commits only
  private @Nullable List<NamedCommand> queued;
  private long queuedBytes;
  private long endedBytes; // of a transaction waiting for its commit
  private boolean isBroken;
  private final SortedMap<String, Watched> watched = new TreeMap<>();

  /**
   * The state of a key when it was watched.
   *
   * @param changes change count of the key
   */
  record Watched(boolean wasThere, long changes) {}

  Session(long id, String address, SharedState shared, ConnectionMemory memory) {
    this.memory = memory;
    this.id = id;
    this.address = address;
    this.shared = shared;
    this.isAuthenticated = shared.options().token().isEmpty();
    this.sinceNanos = shared.clock().nanoTime();
  }

  /** Authenticates the connection; returns whether the token is correct. */
  public boolean authenticate(String token) {
    Optional<String> wanted = shared.options().token();
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

  /** Marks an open transaction as failed, so that EXEC aborts. */
  public void spoil() {
    isBroken |= queued != null;
  }

  /** Returns the memory of the connection. */
  public ConnectionMemory memory() {
    return memory;
  }

  /** Queues a command that holds this many bytes. */
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
   * Ends the transaction and returns its commands; empty if it has failed. Their memory stays
   * reserved until they have run: see {@link #ended}.
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

  /** Returns, once, the bytes of an ended transaction; the caller must release them. */
  public long ended() {
    long bytes = endedBytes;
    endedBytes = 0;
    return bytes;
  }

  /** Watches keys: all of them or none. */
  public Reply watch(CounterAccess counters, List<String> keys) {
    Set<String> added = new TreeSet<>(keys);
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
      for (String key : added) {
        boolean isThere = Kind.of(counters, key) != Kind.NONE;
        watched.put(key, new Watched(isThere, counters.watch(key)));
      }
    } catch (RuntimeException e) { // all of them or none
      added.stream().filter(each -> watched.remove(each) != null).forEach(counters::unwatch);
      memory.give(bytes(added));
      throw e;
    }
    return Replies.OK;
  }

  private static long bytes(Set<String> keys) {
    return keys.stream()
        .mapToLong(each -> WATCHED_BYTES + (long) CHAR_BYTES_MAX * each.length())
        .sum();
  }

  /** Forgets all watched keys; returns whether they are unchanged. */
  public boolean unwatch(CounterAccess counters) {
    boolean isUnchanged = true;
    for (Map.Entry<String, Watched> each : watched.entrySet()) {
      String key = each.getKey();
      Watched was = each.getValue();
      isUnchanged &= counters.changes(key) == was.changes;
      isUnchanged &=
          (Kind.of(counters, key) != Kind.NONE) == was.wasThere; // it may have expired meanwhile
      counters.unwatch(key);
    }
    memory.give(bytes(watched.keySet()));
    watched.clear();
    return isUnchanged;
  }

  public void reset() {
    drop();
    protocol = 2;
    name = "";
    isAuthenticated = shared.options().token().isEmpty();
  }

  /** Returns whether a text is valid as the name of a connection or library. */
  public static boolean isPlain(String text) {
    return text.length() <= Limits.REQUEST_ID_BYTES_MAX
        && text.chars().allMatch(each -> each > ' ' && each < 0x7f);
  }

  /** Returns the line of {@code CLIENT LIST}. */
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
