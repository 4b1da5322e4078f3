package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Items of the engine: batches, size limits, and restarts. */
final class EngineItemsTest {
  private static final Key KEY = new Key("p", "a");
  private static final Key OTHER = new Key("p", "b");
  private static final EngineOptions OPTIONS =
      EngineOptions.defaults().withLog(1 << 20, 4 << 20).withDurability(Durability.NONE);

  @TempDir Path directory;
  private Engine engine;
  private StoreDriver driver;

  @BeforeEach
  void open() {
    reopen(OPTIONS);
  }

  private void reopen(EngineOptions options) {
    engine = Engine.open(directory, options);
    driver = engine.driver();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static Write text(Key key, int length) {
    return new Write.Put(
        key, Map.of("f", new Field.Text("x".repeat(length))), Optional.empty(), Condition.always());
  }

  private static Write number(Key key, long value) {
    return new Write.Put(
        key, Map.of("n", new Field.Number(value)), Optional.empty(), Condition.always());
  }

  private Optional<Item> get(Key key) {
    return driver.get(key, Consistency.STRONG);
  }

  private long numberOf(Key key) {
    return get(key).orElseThrow().number("n");
  }

  private static Optional<Item> after(WriteResult result) {
    return assertInstanceOf(WriteResult.Applied.class, result).after();
  }

  @Test
  void aWriteAndABatchReturnTheLastItem() {
    Item item = after(driver.write(number(KEY, 5))).orElseThrow();
    assertEquals(5, item.number("n"));
    assertEquals(Optional.of(item), get(KEY));
    WriteResult batch =
        BatchDriver.of(driver).writeAll(List.of(number(OTHER, 1), number(KEY, 6)), null);
    assertEquals(get(KEY), after(batch));
    assertEquals(6, numberOf(KEY));
    assertEquals(Optional.empty(), after(driver.write(new Write.Delete(KEY, Condition.always()))));
    assertEquals(Optional.empty(), get(KEY));
  }

  @Test
  void aBatchWithAnUnmetConditionChangesNothing() {
    driver.write(number(KEY, 1));
    Optional<Item> before = get(KEY);
    WriteResult result =
        BatchDriver.of(driver)
            .writeAll(List.of(number(OTHER, 1), number(KEY, 2).when(new Condition.Absent())), null);
    assertEquals(new WriteResult.ConditionFailed(KEY, before), result);
    assertEquals(
        List.of(before, Optional.empty()), BatchDriver.of(driver).getAll(List.of(KEY, OTHER)));
  }

  @Test
  void eachStateHasItsOwnVersion() {
    BatchDriver.of(driver).writeAll(List.of(number(KEY, 1), number(OTHER, 1)), null);
    Item first = get(KEY).orElseThrow();
    assertNotEquals(first.version(), get(OTHER).orElseThrow().version());
    driver.write(number(KEY, 1));
    Item second = get(KEY).orElseThrow();
    assertNotEquals(first.version(), second.version());
    Condition unchanged = new Condition.VersionIs(first.version());
    assertInstanceOf(
        WriteResult.ConditionFailed.class, driver.write(number(KEY, 2).when(unchanged)));
    assertEquals(1, numberOf(KEY));
  }

  /** The log derives versions from the number of the command. */
  @Test
  void aVersionIsTheNumberOfTheCommand() {
    driver.write(number(KEY, 1));
    assertEquals(new Version("1"), get(KEY).orElseThrow().version());
    BatchDriver.of(driver).writeAll(List.of(number(KEY, 2), number(OTHER, 1)), null);
    engine.close();
    reopen(OPTIONS);
    assertEquals(new Version("2"), get(KEY).orElseThrow().version());
    assertEquals(new Version("3"), get(OTHER).orElseThrow().version());
    driver.write(number(KEY, 3));
    assertEquals(new Version("4"), get(KEY).orElseThrow().version());
  }

  /** Lets the engine detect an incomplete change, which must stop it. */
  @Test
  void aBatchIsOneChange() {
    long before = TestOperation.get(engine, CounterAccess::changeCount);
    BatchDriver.of(driver).writeAll(List.of(number(KEY, 2), number(OTHER, 1)), null);
    assertEquals(before + 1, TestOperation.get(engine, CounterAccess::changeCount));
    driver.write(number(KEY, 3).when(new Condition.Absent()));
    assertEquals(before + 1, TestOperation.get(engine, CounterAccess::changeCount));
  }

  @Test
  void aTokenOfABatchIsNotSupported() {
    RequestToken token = new RequestToken("token");
    assertThrows(
        RuntimeException.class,
        () -> BatchDriver.of(driver).writeAll(List.of(number(KEY, 1)), token));
    assertEquals(Optional.empty(), get(KEY));
  }

  @Test
  void itemsAndTheirRemovalSurviveARestart() {
    driver.write(number(KEY, 1));
    driver.write(number(OTHER, 2));
    driver.write(new Write.Delete(KEY, Condition.always()));
    engine.close();
    reopen(OPTIONS);
    assertEquals(Optional.empty(), get(KEY));
    assertEquals(2, numberOf(OTHER));
  }

  @Test
  void aScanReturnsItemsInOrder() {
    driver.write(number(OTHER, 2));
    driver.write(number(KEY, 1));
    List<Key> keys =
        ScanDriver.of(driver).scan(Scan.all("p")).items().stream().map(Item::key).toList();
    assertEquals(List.of(KEY, OTHER), keys);
  }

  /** A text field and a number field. */
  private static Write textAndNumber(int letters) {
    return new Write.Put(
        KEY,
        Map.of("f", new Field.Text("x".repeat(letters)), "n", new Field.Number(1)),
        Optional.empty(),
        Condition.always());
  }

  /**
   * The log counts 64 bytes, plus 22 for the key, 24 and 3 per letter for the text, 29 for a
   * number.
   */
  @Test
  void anItemGrowsTo256KibOfLogAndNoFurther() {
    int letters = (262_144 - 64 - 22 - 24 - 29) / 3; // no bytes remain
    driver.write(textAndNumber(letters));
    QuipuException why =
        assertThrows(QuipuException.class, () -> driver.write(textAndNumber(letters + 1)));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.INVALID, why.reason());
    assertEquals("item would grow to 262147 bytes; the limit is 262144", why.getMessage());
    assertEquals(letters, get(KEY).orElseThrow().text("f").orElseThrow().length());
  }

  @Test
  void aBatchThatNeverFitsIntoTheLogIsInvalid() {
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 3; i++) { // of 180 KiB in log bytes; a frame has 510 KiB
      writes.add(text(new Key("p", "s" + i), 61_440));
    }
    QuipuException why =
        assertThrows(QuipuException.class, () -> BatchDriver.of(driver).writeAll(writes, null));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.INVALID, why.reason());
    assertTrue(
        why.getMessage()
            .matches(
                "a batch of 55[0-9]{4} bytes does not fit into the log;"
                    + " use larger segments or smaller batches"),
        why.getMessage());
    assertEquals(0, engine.statistics().items());
    BatchDriver.of(driver).writeAll(writes.subList(0, 2), null);
    assertEquals(2, engine.statistics().items());
  }

  @Test
  void removalsCountForTheBatchToo() {
    engine.close();
    reopen(OPTIONS.withLog(1 << 19, 4 << 20)); // a frame has 254 KiB
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < 100; i++) { // of 3,019 log bytes each
      writes.add(new Write.Delete(new Key("p", "%01000d".formatted(i)), Condition.always()));
    }
    QuipuException why =
        assertThrows(QuipuException.class, () -> BatchDriver.of(driver).writeAll(writes, null));
    assertEquals(
        "a batch of 301900 bytes does not fit into the log; use larger segments or smaller batches",
        why.getMessage());
    BatchDriver.of(driver).writeAll(writes.subList(0, 86), null);
  }

  @Test
  void onlyItemsBeyondTheMemoryLimitAreRejected() {
    engine.close();
    reopen(OPTIONS.withMemoryBytesMax(1 << 20));
    driver.write(text(KEY, 60_000)); // 360,000 bytes of estimated heap
    driver.write(text(OTHER, 60_000));
    QuipuException why =
        assertThrows(QuipuException.class, () -> driver.write(text(new Key("p", "c"), 60_000)));
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.FULL, why.reason());
    driver.write(text(KEY, 60_000)); // replaces the other, which needs no more memory
    driver.write(new Write.Delete(OTHER, Condition.always()));
    driver.write(text(new Key("p", "c"), 60_000));
  }

  @Test
  void anUpdateOfAFieldLeavesTheOthers() {
    driver.write(
        new Write.Put(
            KEY,
            Map.of("n", new Field.Number(1), "t", new Field.Text("text")),
            Optional.empty(),
            Condition.always()));
    driver.write(new Write.Update(KEY, List.of(new Change.Add("n", 4)), Condition.always()));
    Item item = get(KEY).orElseThrow();
    assertEquals(5, item.number("n"));
    assertEquals(Optional.of("text"), item.text("t"));
  }

  @Test
  void closingTheDriverClosesNothing() {
    driver.close();
    driver.write(number(KEY, 1));
    assertEquals(1, numberOf(KEY));
  }
}
