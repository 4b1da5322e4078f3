package dev.quipu.engine;

import dev.quipu.CounterPage;
import dev.quipu.QuipuException;
import dev.quipu.backend.CounterHistory;
import dev.quipu.engine.commit.Committer;
import dev.quipu.engine.commit.ExpirySweeper;
import dev.quipu.engine.damage.DamageException;
import dev.quipu.engine.environment.Disk;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.Ticker;
import dev.quipu.engine.history.HistoryRules;
import dev.quipu.engine.past.HistoryFiles;
import dev.quipu.engine.past.HistoryKeeping;
import dev.quipu.engine.past.HistoryReader;
import dev.quipu.engine.past.Recorder;
import dev.quipu.engine.state.State;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The past values of an engine. */
final class EngineHistory implements HistoryReader.Present, HistoryKeeping.Source {
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final Logger LOGGER = LoggerFactory.getLogger(EngineHistory.class);

  private final Committer committer;
  private final HistoryFiles files;
  private final HistoryKeeping keeping;
  private final ExpirySweeper sweeper;
  private final Clock clock;
  private boolean failing;

  private EngineHistory(
      Committer committer, HistoryFiles files, ExpirySweeper sweeper, Clock clock) {
    this.committer = committer;
    this.files = files;
    this.sweeper = sweeper;
    this.clock = clock;
    this.keeping = new HistoryKeeping(files, this);
  }

  /**
   * Begins to record, before the first call.
   *
   * @throws IllegalArgumentException if the rules would discard a past that they do not name
   */
  static EngineHistory begin(
      Committer committer,
      ExpirySweeper sweeper,
      State state,
      Disk disk,
      Path directory,
      EngineOptions options)
      throws IOException {
    HistoryFiles files = HistoryFiles.open(disk, directory);
    HistoryRules rules = options.history().orElse(files.rules());
    long now = options.clock().epochMillis();
    files.rules().checkEndedBy(rules);
    List<String> ended = files.rules().endedBy(rules);
    if (!ended.isEmpty()) {
      LOGGER
          .atWarn()
          .addKeyValue("patterns", ended)
          .log("The past of these patterns is discarded, as the rules state");
    }
    if (HistoryKeeping.begin(files, rules, state.history, now, state.frame - 1)) {
      LOGGER
          .atWarn()
          .addKeyValue("directory", directory)
          .log("The clock is more than a day behind the past values; they begin again");
    }
    return new EngineHistory(committer, files, sweeper, options.clock());
  }

  HistoryKeeping keeping() {
    return keeping;
  }

  /** Starts to write what was recorded. */
  Ticker periodic(Environment environment, Failure failure) {
    return new Ticker(environment, failure, "quipu-history", TICK, this::maintain);
  }

  private void maintain() {
    try {
      keeping.maintain(clock.epochMillis());
      failing = false;
    } catch (IOException | DamageException e) { // the counters are intact
      if (!failing) {
        LOGGER.atWarn().setCause(e).log("Past values cannot be written; retrying every second");
      }
      failing = true;
    }
  }

  CounterHistory reader() {
    return new HistoryReader(files, this);
  }

  @Override
  public <T> T at(Function<Recorder, T> work) {
    return committer.get((state, group) -> work.apply(state.history));
  }

  @Override
  public HistoryReader.Now now(@Nullable String counter) {
    return committer.get((state, group) -> {
      CounterAccess access = new CounterAccess(state, group);
      Optional<String> name = Optional.ofNullable(counter);
      return new HistoryReader.Now(
          state.wallMillis,
          name.flatMap(access::reading),
          name.flatMap(access::stored),
          state.history.recent());
    });
  }

  @Override
  public CounterPage list(
      String prefix, String after, int limit, Consumer<CounterPage.Entry> expired) {
    ListTask task = new ListTask(prefix, after, limit, expired);
    committer.run(task);
    return task.page();
  }

  @Override
  public void removeExpired() {
    try {
      sweeper.sweepCounters();
    } catch (QuipuException e) { // the disk is full, and reads still work
      LOGGER.atDebug().setCause(e).log("Expired counters cannot be removed");
    }
  }
}
