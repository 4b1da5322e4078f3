package dev.quipu.engine.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.engine.Durability;
import dev.quipu.engine.EngineOptions;
import dev.quipu.engine.TestOperation;
import dev.quipu.engine.environment.Closer;
import dev.quipu.engine.environment.DiskFile;
import dev.quipu.engine.environment.Environment;
import dev.quipu.engine.environment.FailingFile;
import dev.quipu.engine.environment.Failure;
import dev.quipu.engine.environment.FileDisk;
import dev.quipu.engine.environment.ForwardingDisk;
import dev.quipu.engine.environment.HandThreads;
import dev.quipu.engine.environment.LogCapture;
import dev.quipu.engine.environment.Threads;
import dev.quipu.engine.ids.IdFiles;
import dev.quipu.engine.ids.Sealer;
import dev.quipu.engine.log.HighWater;
import dev.quipu.engine.log.Log;
import dev.quipu.engine.log.Records;
import dev.quipu.engine.past.HistoryFiles;
import dev.quipu.engine.past.HistoryKeeping;
import dev.quipu.engine.past.Recorder;
import dev.quipu.engine.recovery.Snapshot;
import dev.quipu.engine.recovery.SnapshotReader;
import dev.quipu.engine.state.State;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a snapshot is taken, its content, and what is removed afterwards. */
final class CheckpointerTest {
  private static final long IDENTITY = 9;
  private static final int SEGMENT = 1 << 16;
  private static final int CHECKPOINT_BYTES = 1 << 17;

  /** Ids are remembered for 72 s, and checked every second. */
  private static final Duration WINDOW = Duration.ofSeconds(64);

  @TempDir Path directory;
  private final ManualClock clock = new ManualClock(1_800_000_000_000L);
  private final HandThreads threads = new HandThreads("quipu-checkpointer");
  private final FaultyDisk disk = new FaultyDisk();
  private final State state = new State(IDENTITY, WINDOW.toMillis(), 1_000, 0);
  private final Failure failure = new Failure();
  private final Closer opened = new Closer();
  private EngineOptions options =
      EngineOptions.defaults()
          .withWindow(WINDOW)
          .withLog(SEGMENT, CHECKPOINT_BYTES)
          .withClock(clock);
  private @Nullable Committer committer;
  private @Nullable Log log;
  private @Nullable Checkpointer checkpointer;

  /** Fails to create files of a kind, and counts syncs of the mark. */
  private static final class FaultyDisk extends ForwardingDisk {
    volatile String failing = "none";
    volatile Runnable beforeIds = () -> {};
    final AtomicInteger marks = new AtomicInteger();

    FaultyDisk() {
      super(new FileDisk());
    }

    @Override
    public DiskFile create(Path file) throws IOException {
      if (file.toString().endsWith(failing)) {
        throw new IOException("injected");
      }
      if (file.toString().endsWith(".ids.tmp")) {
        beforeIds.run();
      }
      return super.create(file);
    }

    @Override
    public DiskFile open(Path file) throws IOException {
      DiskFile whole = super.open(file);
      boolean isMark = file.endsWith(HighWater.FILE);
      return new FailingFile(
          whole,
          () -> {
            if (isMark) {
              marks.incrementAndGet();
            }
            return false;
          });
    }
  }

  private static HistoryKeeping.Source recorderOf(Committer committer) {
    return new HistoryKeeping.Source() {
      @Override
      public <T> T at(Function<Recorder, T> work) {
        return committer.get((state, group) -> work.apply(state.history));
      }
    };
  }

  private void open(long logBytes) throws IOException {
    Files.createDirectory(Log.directory(directory));
    Files.createDirectory(IdFiles.directory(directory));
    Environment environment = new Environment(disk, threads);
    state.ready();
    HighWater.Mark kept = new HighWater.Mark(0, 0, 0, clock.epochMillis());
    HighWater.create(disk, directory, IDENTITY, kept);
    HighWater highWater = opened.add(HighWater.open(disk, directory, IDENTITY, kept));
    Log made =
        opened.add(
            Log.open(
                environment, directory, IDENTITY, SEGMENT, List.of(), 0, 0, false, 1, failure));
    Sealer sealer = opened.add(new Sealer(environment, directory, failure));
    Committer leader =
        new Committer(
            environment,
            state,
            made,
            highWater,
            IDENTITY,
            kept,
            TestOperation.settings(options),
            sealer,
            failure);
    opened.add(leader::close);
    Checkpointer taken =
        new Checkpointer(
            environment,
            directory,
            IDENTITY,
            TestOperation.settings(options),
            leader,
            failure,
            made,
            highWater,
            new HistoryKeeping(HistoryFiles.open(disk, directory), recorderOf(leader)),
            logBytes);
    opened.add(taken::close);
    log = made;
    committer = leader;
    checkpointer = taken;
  }

  @AfterEach
  void close() {
    opened.close();
    assertFalse(threads.thread().isAlive());
    assertEquals(Optional.empty(), failure.cause());
  }

  private Committer committer() {
    return Objects.requireNonNull(committer);
  }

  private Checkpointer checkpointer() {
    return Objects.requireNonNull(checkpointer);
  }

  private void add(Add add) {
    committer()
        .run(
            new CommitterSetup.Step((state, group) -> {
              TestOperation.access(state, group).add(add);
              return true;
            }));
  }

  private void add(String counter) {
    add(new Add(counter, 1, null));
  }

  private void addWithId(String id) {
    add(new Add("ids", 1, RequestId.of(id)));
  }

  private List<Path> snapshots() throws IOException {
    return Snapshot.all(disk, directory);
  }

  private long idFiles() throws IOException {
    return IdFiles.all(disk, directory).size();
  }

  private State fresh() {
    return new State(IDENTITY, WINDOW.toMillis(), 1_000, 0);
  }

  private Snapshot.Contents read(State into) throws IOException {
    return SnapshotReader.read(disk, snapshots().getLast(), IDENTITY, into);
  }

  private static Item item(int number) {
    return new Item(
        new Key("p" + number % 3, "s" + number),
        Map.of("n", new Field.Number(number)),
        Records.version(number),
        Optional.empty());
  }

  /** Counters are read in batches of 4,096, items of 512. */
  @ParameterizedTest
  @CsvSource({"0,0", "1,1", "4096,512", "4097,513", "8200,1030"})
  void everythingIsInTheSnapshot(int counters, int items) throws IOException {
    for (int i = 0; i < counters; i++) {
      if (i % 1_000 != 7) { // those have no name
        state.name(i, "c" + i);
        state.value(i, i * 3L);
      }
    }
    for (int i = 0; i < items; i++) {
      state.item(item(i).key(), Optional.of(item(i)));
    }
    open(0);
    checkpointer().checkpoint();
    State read = fresh();
    Snapshot.Contents contents = read(read);
    assertEquals(new Snapshot.Start(1, 0, state.timeMillis), contents.start());
    assertEquals(0, contents.endFrame());
    assertEquals(state.counters.size(), read.counters.size());
    assertEquals(state.counters.named(), read.counters.named());
    for (int i = 0; i < counters; i++) {
      assertEquals(state.counters.name(i), read.counters.name(i));
      assertEquals(state.counters.value(i), read.counters.value(i));
    }
    assertEquals(items, read.items.size());
    for (int i = 0; i < items; i++) {
      assertEquals(Optional.of(item(i)), read.items.get(item(i).key()));
    }
  }

  private void addToEach(int from, int until) {
    for (int i = from; i < until; i++) {
      add("c" + i);
    }
  }

  /** Returns how many of the counters have each value, after a read of the newest snapshot. */
  private Map<Long, Long> values(String counterFile) throws IOException {
    State read = fresh();
    assertEquals(counterFile, read(read).counters());
    read.ready();
    return IntStream.range(0, read.counters.size())
        .boxed()
        .collect(Collectors.groupingBy(read.counters::value, Collectors.counting()));
  }

  private List<String> counterFiles() throws IOException {
    return Snapshot.counterFiles(disk, directory).stream()
        .map(path -> path.getFileName().toString())
        .toList();
  }

  /** Many are 64 here: see Settings. */
  @Test
  void manyCountersAreInAFileUntilTooManyHaveChanged() throws IOException {
    open(0);
    addToEach(0, 63);
    checkpointer().checkpoint();
    assertEquals(List.of(), counterFiles());
    addToEach(63, 80);
    checkpointer().checkpoint();
    List<String> first = counterFiles();
    assertEquals(1, first.size());
    assertEquals(Map.of(1L, 80L), values(first.getFirst()));
    addToEach(0, 16);
    checkpointer().checkpoint();
    assertEquals(first, counterFiles());
    assertEquals(Map.of(1L, 64L, 2L, 16L), values(first.getFirst()));
    addToEach(15, 17); // now more than a quarter of 64 have changed
    checkpointer().checkpoint();
    List<String> second = counterFiles();
    assertEquals(1, second.size());
    assertNotEquals(first, second);
    assertEquals(Map.of(1L, 63L, 2L, 16L, 3L, 1L), values(second.getFirst()));
  }

  @Test
  void aFileOfCountersThatFailedIsWrittenAgain() throws IOException {
    open(0);
    addToEach(0, 80);
    checkpointer().checkpoint();
    List<String> first = counterFiles();
    addToEach(0, 40);
    disk.failing = ".snap.tmp";
    assertThrows(IOException.class, () -> checkpointer().checkpoint());
    disk.failing = "none";
    assertEquals(first, counterFiles());
    assertEquals(Map.of(1L, 80L), values(first.getFirst()), "the older snapshot is complete");
    addToEach(40, 41);
    checkpointer().checkpoint();
    assertNotEquals(first, counterFiles());
    assertEquals(Map.of(1L, 39L, 2L, 41L), values(counterFiles().getFirst()));
  }

  @Test
  void theCoveredLogIsRecycled() throws IOException {
    open(1_000);
    assertEquals(1_000, checkpointer().logBytes());
    for (int i = 0; i < 300; i++) {
      add("x".repeat(200) + i);
    }
    add("a");
    assertEquals(1_000 + committer().bytes(), checkpointer().logBytes());
    int segments = Objects.requireNonNull(log).segments();
    assertTrue(segments > 1, "segments: " + segments);
    checkpointer().checkpoint();
    assertEquals(0, checkpointer().logBytes());
    assertEquals(1, Objects.requireNonNull(log).segments());
    List<Path> first = snapshots();
    assertEquals(302, Snapshot.frameOf(first.getFirst()));
    long before = committer().bytes();
    add("b");
    assertEquals(committer().bytes() - before, checkpointer().logBytes());
    checkpointer().checkpoint();
    assertEquals(1, snapshots().size(), "the older one was removed");
    State read = fresh();
    assertEquals(new Snapshot.Start(303, 302, state.timeMillis), read(read).start());
    assertEquals(1, read.counters.value(read.counters.find("a")));
    checkpointer().checkpoint();
    assertEquals(1, snapshots().size(), "one with the same name takes its place");
  }

  @Test
  void aRoundTakesASnapshotWhenTheLogIsLong() throws IOException {
    open(CHECKPOINT_BYTES);
    threads.round();
    assertEquals(1, Snapshot.frameOf(snapshots().getFirst()));
    add("a");
    threads.round();
    assertEquals(1, Snapshot.frameOf(snapshots().getFirst()), "the log is short again");
    assertEquals(1_000_000_000L, threads.waits().getFirst());
  }

  @Test
  void aRoundTakesNoSnapshotWhileTheLogIsShort() throws IOException {
    open(CHECKPOINT_BYTES - 1);
    threads.round();
    assertEquals(List.of(), snapshots());
    add("a");
    threads.round();
    assertEquals(2, Snapshot.frameOf(snapshots().getFirst()));
  }

  @Test
  void aRoundSyncsTheMark() throws IOException {
    open(0);
    threads.round();
    add("a"); // writes a mark
    int before = disk.marks.get();
    threads.round();
    assertEquals(before + 1, disk.marks.get());
    threads.round();
    assertEquals(before + 1, disk.marks.get());
  }

  @Test
  void forgottenIdsAreCheckedPeriodically() throws IOException {
    open(0);
    addWithId("one");
    checkpointer().checkpoint();
    assertEquals(1, read(fresh()).idFiles().size());
    assertEquals(1, idFiles());
    clock.advance(Duration.ofSeconds(72));
    threads.round();
    clock.advance(Duration.ofMillis(999));
    threads.round();
    assertEquals(1, idFiles(), "the last look was less than a second ago");
    assertEquals(1, state.ids.files().size());
    clock.advance(Duration.ofMillis(1));
    threads.round();
    assertEquals(0, idFiles());
    assertEquals(List.of(), state.ids.files());
    assertEquals(List.of(), read(fresh()).idFiles());
    add("a");
    long frame = Snapshot.frameOf(snapshots().getFirst());
    clock.advance(Duration.ofSeconds(2));
    threads.round();
    assertEquals(frame, Snapshot.frameOf(snapshots().getFirst()), "nothing more is forgotten");
  }

  /** Ids are as old as the snapshot says: after a crash the time may continue from there. */
  @Test
  void idsForgottenDuringASnapshotAreStillInIt() throws IOException {
    open(0);
    addWithId("one");
    checkpointer().checkpoint();
    clock.advance(Duration.ofSeconds(70));
    addWithId("two");
    disk.beforeIds = () -> clock.advance(Duration.ofSeconds(10));
    checkpointer().checkpoint();
    assertEquals(2, read(fresh()).idFiles().size());
    assertEquals(2, idFiles());
    checkpointer().checkpoint();
    assertEquals(
        List.of("0000000000000002.ids"),
        read(fresh()).idFiles().stream().map(Snapshot.IdFileName::name).toList());
    assertEquals(1, idFiles());
    assertEquals(1, state.ids.files().size());
  }

  @Test
  void countersWhoseNamesWereLostMayHaveIdsUntilTheOldIdsAreForgotten() throws IOException {
    state.isSalvaged = true;
    state.cancel(3, 1, 2); // while the log is read
    open(0);
    for (int i = 0; i < 2; i++) { // it is dropped when the second is durable
      checkpointer().checkpoint();
      State read = fresh();
      assertEquals(1 - i, read(read).idFiles().size());
      assertTrue(read.isSalvaged);
      clock.advance(WINDOW.multipliedBy(2));
    }
    checkpointer().checkpoint();
    State read = fresh();
    assertEquals(List.of(), read(read).idFiles());
    assertFalse(read.isSalvaged);
  }

  @Test
  void withoutASalvageNoNamesWereLost() throws IOException {
    open(0);
    addWithId("one");
    checkpointer().checkpoint();
    State read = fresh();
    assertEquals(1, read(read).idFiles().size());
    assertFalse(read.isSalvaged);
    assertTrue(read.counters.epochOfIds(read.counters.find("ids")) != 0);
  }

  @Test
  void framesThatTheSnapshotMayReflectAreSyncedBeforeItsEnd() throws IOException {
    options = options.withDurability(Durability.NONE);
    open(0);
    add("a");
    add("a");
    assertEquals(0, committer().durableFrame());
    checkpointer().checkpoint();
    assertEquals(2, read(fresh()).endFrame());
    assertEquals(2, committer().durableFrame());
  }

  @Test
  void aFailedRoundIsRetriedAndLoggedOnce() throws IOException {
    open(CHECKPOINT_BYTES);
    String said = "WARN Checkpoint failed; retrying every second";
    try (LogCapture log = new LogCapture(Checkpointer.class)) {
      disk.failing = ".snap.tmp";
      threads.round();
      threads.round();
      assertEquals(List.of(), snapshots());
      assertEquals(CHECKPOINT_BYTES, checkpointer().logBytes());
      assertEquals(List.of(said), log.lines());
      disk.failing = "none";
      threads.round();
      assertEquals(1, snapshots().size());
      disk.failing = ".snap.tmp";
      addWithId("one");
      assertThrows(IOException.class, checkpointer()::checkpoint);
      clock.advance(WINDOW.multipliedBy(2));
      threads.round(); // for the ids that were forgotten
      assertEquals(List.of(said, said), log.lines());
    }
  }

  @Test
  void withoutFilesOfTheIdsThereIsNoSnapshot() throws IOException {
    open(0);
    disk.failing = ".ids.tmp";
    for (int i = 0; i < 4; i++) {
      addWithId("id " + i);
      IOException e = assertThrows(IOException.class, checkpointer()::checkpoint);
      assertInstanceOf(QuipuException.class, e.getCause());
      assertEquals(1, state.ids.waiting(), "the others are in the table that is active");
    }
    assertEquals(List.of(), snapshots());
  }

  @Test
  void anInterruptEndsTheRounds() throws IOException {
    open(CHECKPOINT_BYTES);
    threads.awaitWaiting();
    threads.thread().interrupt();
    Threads.join(threads.thread());
    assertEquals(List.of(), snapshots());
    checkpointer().checkpoint();
    assertEquals(1, snapshots().size());
  }

  @Test
  void aCloseTakesNoSnapshot() throws IOException {
    open(CHECKPOINT_BYTES);
    threads.awaitWaiting();
    checkpointer().close();
    assertFalse(threads.thread().isAlive());
    assertEquals(List.of(), snapshots());
  }
}
