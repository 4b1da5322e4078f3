package dev.quipu.engine.past;

import dev.quipu.engine.history.HistoryRules;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** Writes what the recorder cuts off to files, and merges and deletes these. Thread-safe. */
public final class HistoryKeeping {
  private static final Duration AHEAD_MAX = Duration.ofDays(1);

  private final HistoryFiles files;
  private final Source source;
  private final ReentrantLock working = new ReentrantLock();

  /** Runs work on the recorder between two tasks of the committer. */
  public interface Source {
    <T> T at(Function<Recorder, T> work) throws IOException;
  }

  public HistoryKeeping(HistoryFiles files, Source source) {
    this.files = files;
    this.source = source;
  }

  /**
   * Begins to record. If there is a past that lies in the future, by more than a day, a clock was
   * wrong: then the past of all counters begins again.
   *
   * @param frame the last frame of the log
   * @return whether it does
   */
  public static boolean begin(
      HistoryFiles files, HistoryRules rules, Recorder recorder, long nowMillis, long frame)
      throws IOException {
    files.use(rules, nowMillis);
    long latest = nowMillis + AHEAD_MAX.toMillis();
    boolean isAgain = !rules.isEmpty() && (recorder.isAfter(latest) || files.isAfter(latest));
    if (isAgain) {
      files.beginAgain(nowMillis, frame);
      recorder.discard();
    }
    recorder.begin(rules);
    return isAgain;
  }

  /** Writes all entries that were cut off. Returns when they are durable. */
  public void write() throws IOException {
    working.lock();
    try {
      writeAll();
    } finally {
      working.unlock();
    }
  }

  private void writeAll() throws IOException {
    Optional<Cut> next = source.at(Recorder::nextWaiting);
    while (next.isPresent()) {
      Cut cut = next.get();
      files.write(cut);
      next =
          source.at(recorder -> {
            recorder.written(cut);
            return recorder.nextWaiting();
          });
    }
  }

  /** Writes, merges and deletes what is due. */
  public void maintain(long nowMillis) throws IOException {
    if (files.rules().isEmpty()) {
      return;
    }
    working.lock();
    try {
      writeAll();
      Recorder.Recent recent = source.at(Recorder::recent);
      if (recent.waiting().isEmpty()) {
        files.maintain(recent.start(), nowMillis);
      }
    } finally {
      working.unlock();
    }
  }
}
