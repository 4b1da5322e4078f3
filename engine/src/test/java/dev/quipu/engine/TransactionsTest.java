package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.TransactionResult.Added;
import dev.quipu.Transactions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions over several counters of an engine. */
final class TransactionsTest {
  private static final RequestId ID = RequestId.of("transfer-1");
  private static final List<Add> TRANSFER =
      List.of(new Add("a", -5, Bounds.atLeast(0), null), new Add("b", 5, null));
  private static final List<Added> MOVED = List.of(new Added("a", -5, 5), new Added("b", 5, 5));

  @TempDir Path directory;

  private Engine engine;
  private Transactions transactions;

  @BeforeEach
  void open() {
    engine = Engine.open(directory, EngineOptions.defaults().withLog(1 << 20, 4 << 20));
    transactions = engine.transactions();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void reopen() {
    close();
    open();
  }

  private long value(String counter) {
    return engine.read(counter).orElseThrow().value();
  }

  @Test
  void aReplayHasTheCompleteFirstAnswer() {
    engine.set("a", 10, OptionalLong.empty());
    assertEquals(new TransactionResult.Applied(MOVED, false), transactions.commit(ID, TRANSFER));
    engine.set("a", 1_000, OptionalLong.empty());
    assertEquals(new TransactionResult.Applied(MOVED, true), transactions.commit(ID, TRANSFER));
    reopen();
    assertEquals(new TransactionResult.Applied(MOVED, true), transactions.commit(ID, TRANSFER));
    engine.checkpoint(); // the ids are in a file now
    reopen();
    assertEquals(new TransactionResult.Applied(MOVED, true), transactions.commit(ID, TRANSFER));
    assertEquals(new TransactionOutcome.Applied(MOVED), transactions.outcome(ID));
    assertEquals(new TransactionOutcome.Applied(MOVED), transactions.cancel(ID));
    assertEquals(1_000, value("a"));
    assertEquals(5, value("b"));
  }

  @Test
  void otherAddsUnderTheIdAreAConflict() {
    engine.set("a", 10, OptionalLong.empty());
    assertInstanceOf(TransactionResult.Applied.class, transactions.commit(ID, TRANSFER));
    List<List<Add>> others =
        List.of(
            TRANSFER.reversed(),
            TRANSFER.subList(0, 1),
            List.of(new Add("a", -5, Bounds.atLeast(1), null), new Add("b", 5, null)),
            List.of(new Add("a", -5, Bounds.atLeast(0), null), new Add("b", 6, null)),
            List.of(new Add("a", -5, Bounds.atLeast(0), null), new Add("c", 5, null)));
    for (List<Add> other : others) {
      assertInstanceOf(TransactionResult.Conflict.class, transactions.commit(ID, other));
    }
    assertEquals(5, value("a"));
  }

  @Test
  void aRejectionNamesTheFirstCounterAndConsumesNothing() {
    engine.set("a", 4, OptionalLong.empty());
    assertEquals(
        new TransactionResult.Rejected("a", Rejection.FLOOR, OptionalLong.of(4)),
        transactions.commit(ID, TRANSFER));
    assertTrue(engine.read("b").isEmpty());
    assertEquals(new TransactionOutcome.NotSeen(), transactions.outcome(ID));
    engine.set("a", 10, OptionalLong.empty());
    assertEquals(new TransactionResult.Applied(MOVED, false), transactions.commit(ID, TRANSFER));
  }

  @Test
  void aCanceledTransactionIsNeverApplied() {
    engine.set("a", 10, OptionalLong.empty());
    assertEquals(new TransactionOutcome.Canceled(), transactions.cancel(ID));
    reopen();
    assertEquals(
        new TransactionResult.Rejected("", Rejection.CANCELED, OptionalLong.empty()),
        transactions.commit(ID, TRANSFER));
    engine.checkpoint();
    reopen();
    assertEquals(new TransactionOutcome.Canceled(), transactions.outcome(ID));
    assertEquals(10, value("a"));
  }

  @Test
  void theIdOfASingleAddIsAnother() {
    engine.set("a", 10, OptionalLong.empty());
    var unused = engine.add(new Add("a", 1, ID));
    assertInstanceOf(TransactionResult.Applied.class, transactions.commit(ID, TRANSFER));
    assertEquals(6, value("a"));
  }

  @Test
  void invalidAddsChangeNothing() {
    List<Add> tooMany = new ArrayList<>();
    for (int i = 0; i < 65; i++) {
      tooMany.add(new Add("c" + i, 1, null));
    }
    for (List<Add> adds :
        List.of(
            List.<Add>of(),
            tooMany,
            List.of(new Add("a", 1, null), new Add("a", 2, null)),
            List.of(new Add("a", 1, ID)))) {
      assertThrows(IllegalArgumentException.class, () -> transactions.commit(ID, adds));
    }
    TestOperation.run(engine, access -> access.setText("text", new byte[1]));
    assertThrows(
        IllegalArgumentException.class,
        () -> transactions.commit(ID, List.of(new Add("a", 1, null), new Add("text", 1, null))));
    assertTrue(engine.read("a").isEmpty());
    assertInstanceOf(
        TransactionResult.Applied.class, transactions.commit(ID, tooMany.subList(0, 64)));
  }

  @Test
  void aRemovedCounterIsStillNamedInAReplay() {
    engine.set("a", 10, OptionalLong.empty());
    var unused = transactions.commit(ID, TRANSFER);
    engine.delete("a");
    engine.delete("b");
    engine.sweep();
    for (int i = 0; i < 10; i++) {
      engine.set("new" + i, i, OptionalLong.empty());
    }
    reopen();
    assertEquals(new TransactionResult.Applied(MOVED, true), transactions.commit(ID, TRANSFER));
  }
}
