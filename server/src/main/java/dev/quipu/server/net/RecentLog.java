package dev.quipu.server.net;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.event.KeyValuePair;

/**
 * The last entries of the log, in memory, for those who look at a server. Thread-safe.
 *
 * <p>There is one per process, like the log.
 */
public final class RecentLog {
  /** How many entries are kept. */
  public static final int ENTRIES_MAX = 100;

  /** The longest text that is kept; what is cut off is in the log. */
  static final int TEXT_MAX = 500;

  static final int DETAILS_MAX = 10;

  /** Memory for all entries in a response. */
  public static final int BYTES_MAX = 1 << 20;

  private static final RecentLog OF_PROCESS = new RecentLog();

  /**
   * An entry of the log.
   *
   * @param level such as WARN
   * @param details the key-value pairs, and the cause
   */
  public record Entry(Instant at, String level, String message, Map<String, String> details) {}

  private final Deque<Entry> entries = new ArrayDeque<>(); // the newest first

  RecentLog() {}

  /** Returns that of this process. */
  public static RecentLog ofProcess() {
    return OF_PROCESS;
  }

  /** Adds an entry. */
  public void add(ILoggingEvent event) {
    Map<String, String> details = new LinkedHashMap<>();
    List<KeyValuePair> pairs = event.getKeyValuePairs();
    if (pairs != null) {
      for (KeyValuePair each : pairs.subList(0, Math.min(pairs.size(), DETAILS_MAX))) {
        details.put(cut(each.key), cut(String.valueOf(each.value)));
      }
    }
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown != null) {
      details.put("error", cut(thrown.getClassName() + ": " + thrown.getMessage()));
    }
    Entry entry =
        new Entry(
            event.getInstant(),
            String.valueOf(event.getLevel()),
            cut(event.getFormattedMessage()),
            details);
    synchronized (entries) {
      if (entries.size() == ENTRIES_MAX) {
        entries.removeLast();
      }
      entries.addFirst(entry);
    }
  }

  private static String cut(String text) {
    return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX - 1) + "…";
  }

  /** Returns the last entries, the newest first. */
  public List<Entry> newest(int limit) {
    synchronized (entries) {
      List<Entry> newest = new ArrayList<>();
      Iterator<Entry> all = entries.iterator();
      while (all.hasNext() && newest.size() < limit) {
        newest.add(all.next());
      }
      return newest;
    }
  }
}
