package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.sequence.SequenceOfRecords.Conflict;
import dev.quipu.sequence.SequenceOfRecords.Numbered;
import dev.quipu.sequence.SequenceOfRecords.Result;
import dev.quipu.sequence.SequenceWithGaps;
import dev.quipu.sequence.UniqueValues;
import dev.quipu.sequence.UniqueValues.Owned;
import dev.quipu.sequence.UniqueValues.OwnedByOther;
import dev.quipu.testkit.ConcurrentClients;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of sequences: the same numbers on every store. */
public abstract class SequencesContract extends EmptyStoreFixture {
  private static final String SERIES = "invoices/2027";

  private SequenceOfRecords sequence;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openSequence before each test
  protected SequencesContract() {}

  @BeforeEach
  final void openSequence() {
    sequence = new SequenceOfRecords(store);
  }

  @Test
  final void numbersBeginAtOneAndHaveNoGap() {
    assertEquals(0, sequence.last(SERIES));
    for (int i = 1; i <= 12; i++) {
      assertEquals(new Numbered(i, false), sequence.add(SERIES, "record " + i));
      assertEquals(i, sequence.last(SERIES));
    }
    assertEquals(new Numbered(1, false), sequence.add("invoices/2028", ""));
    NumberedRecord seventh = sequence.find(SERIES, 7).orElseThrow();
    assertEquals(7, seventh.number());
    assertEquals("record 7", seventh.payload());
    assertEquals(Instant.ofEpochMilli(clock.epochMillis()), seventh.at());
    assertEquals(Optional.empty(), sequence.find(SERIES, 13));
    assertEquals(Optional.empty(), sequence.find(SERIES, 0));
  }

  @Test
  final void anotherProcessContinuesAfterTheLastNumber() {
    for (int i = 1; i <= 40; i++) {
      SequenceOfRecords fresh = i % 5 == 0 ? new SequenceOfRecords(store) : sequence;
      assertEquals(new Numbered(i, false), fresh.add(SERIES, ""));
    }
    assertEquals(40, new SequenceOfRecords(store).last(SERIES));
  }

  @Test
  final void aRequestHasOneNumberHoweverOftenItComes() {
    RequestId first = RequestId.of("order-1");
    RequestId second = RequestId.of("order-2");
    assertEquals(new Numbered(1, false), sequence.add(SERIES, "a", first));
    assertEquals(new Numbered(2, false), sequence.add(SERIES, "b", second));
    sequence.add(SERIES, "c");
    assertEquals(new Numbered(1, true), sequence.add(SERIES, "a", first));
    assertEquals(new Numbered(2, true), new SequenceOfRecords(store).add(SERIES, "b", second));
    assertEquals(new Numbered(1, false), sequence.add("others", "a", first));
    assertEquals(new Conflict(1), sequence.add(SERIES, "not a", first));
    assertEquals(3, sequence.last(SERIES));
    assertEquals(second.bits(), sequence.find(SERIES, 2).orElseThrow().id());
  }

  @Test
  final void manyWritersLeaveNoGapAndNoDuplicate() throws Exception {
    List<List<Long>> taken =
        ConcurrentClients.run(
            16,
            client -> {
              SequenceOfRecords own = client % 2 == 0 ? sequence : new SequenceOfRecords(store);
              List<Long> numbers = new ArrayList<>();
              for (int i = 0; i < 6; i++) {
                RequestId id = i % 2 == 0 ? RequestId.of(client + "/" + i) : null;
                numbers.add(own.add(SERIES, client + "/" + i, id).number());
              }
              return numbers;
            });
    List<Long> all = taken.stream().flatMap(List::stream).sorted().toList();
    assertEquals(LongStream.rangeClosed(1, 96).boxed().toList(), all);
    assertEquals(96, new SequenceOfRecords(store).last(SERIES));
  }

  @Test
  final void twinsHaveOneNumber() throws Exception {
    for (int round = 1; round <= 5; round++) {
      RequestId id = RequestId.of("round " + round);
      long number = round;
      List<Result> twins =
          ConcurrentClients.run(8, client -> new SequenceOfRecords(store).add(SERIES, "", id));
      assertTrue(
          twins.stream().allMatch(each -> each instanceof Numbered && each.number() == number),
          twins::toString);
      assertEquals(1, twins.stream().filter(new Numbered(number, false)::equals).count());
    }
    assertEquals(5, sequence.last(SERIES));
  }

  @Test
  final void pagesAreByNumber() {
    for (int i = 1; i <= 25; i++) {
      sequence.add(SERIES, "record " + i);
    }
    List<NumberedRecord> page = sequence.page(SERIES, 11, 10);
    assertEquals(
        LongStream.rangeClosed(11, 20).boxed().toList(),
        page.stream().map(NumberedRecord::number).toList());
    assertEquals("record 11", page.getFirst().payload());
    assertEquals(5, sequence.page(SERIES, 21, 10).size());
    assertEquals(List.of(), sequence.page(SERIES, 26, 10));
    assertThrows(IllegalArgumentException.class, () -> sequence.page(SERIES, 0, 1));
    assertThrows(IllegalArgumentException.class, () -> sequence.page(SERIES, 1, 1_001));
  }

  @Test
  final void aVoidedNumberStaysTaken() {
    sequence.add(SERIES, "a");
    sequence.add(SERIES, "b");
    assertTrue(sequence.voidNumber(SERIES, 1, "printed twice"));
    assertTrue(sequence.voidNumber(SERIES, 1, "for another reason"));
    assertFalse(sequence.voidNumber(SERIES, 3, "never given"));
    NumberedRecord voided = sequence.find(SERIES, 1).orElseThrow();
    assertEquals(Optional.of("printed twice"), voided.voided());
    assertEquals("a", voided.payload());
    assertEquals(new Numbered(3, false), sequence.add(SERIES, "c"));
  }

  @Test
  final void aPayloadHasALimit() {
    String most = "é".repeat(SequenceOfRecords.PAYLOAD_BYTES_MAX / 2);
    sequence.add(SERIES, most, RequestId.of("long"));
    assertEquals(most, sequence.find(SERIES, 1).orElseThrow().payload());
    assertThrows(IllegalArgumentException.class, () -> sequence.add(SERIES, most + "x"));
    assertThrows(IllegalArgumentException.class, () -> sequence.add("", "x"));
    assertEquals(1, sequence.last(SERIES));
  }

  @Test
  final void longConcurrentRecordsAreStored() throws Exception {
    String most = "x".repeat(SequenceOfRecords.PAYLOAD_BYTES_MAX);
    List<Long> numbers =
        ConcurrentClients.run(
            32, client -> sequence.add(SERIES, most, RequestId.of("long " + client)).number());
    assertEquals(
        LongStream.rangeClosed(1, 32).boxed().toList(), numbers.stream().sorted().toList());
  }

  // ---- with gaps

  @Test
  final void numbersWithGapsAreDistinct() throws Exception {
    List<SequenceWithGaps> processes =
        List.of(new SequenceWithGaps(store, 7), new SequenceWithGaps(store, 7));
    List<List<Long>> taken =
        ConcurrentClients.run(
            8,
            client -> {
              List<Long> numbers = new ArrayList<>();
              for (int i = 0; i < 10; i++) {
                numbers.add(processes.get(client % 2).next(SERIES));
              }
              return numbers;
            });
    List<Long> all = taken.stream().flatMap(List::stream).distinct().sorted().toList();
    assertEquals(80, all.size());
    assertTrue(all.getFirst() >= 1 && all.getLast() <= 84, all::toString);
    // Another process begins after all drawn numbers, used or not.
    assertEquals(85, new SequenceWithGaps(store, 1).next(SERIES));
    assertEquals(1, processes.getFirst().next("another series"));
    assertThrows(IllegalArgumentException.class, () -> new SequenceWithGaps(store, 0));
  }

  // ---- unique values

  @Test
  final void aValueHasOneOwner() {
    UniqueValues values = new UniqueValues(store);
    assertEquals(Optional.empty(), values.owner("email", "a@example.org"));
    assertEquals(new Owned(false), values.putUnique("email", "a@example.org", "user 1"));
    assertEquals(new Owned(true), values.putUnique("email", "a@example.org", "user 1"));
    assertEquals(new OwnedByOther("user 1"), values.putUnique("email", "a@example.org", "user 2"));
    assertEquals(new Owned(false), values.putUnique("login", "a@example.org", "user 2"));
    assertEquals(Optional.of("user 1"), values.owner("email", "a@example.org"));
    assertFalse(values.drop("email", "a@example.org", "user 2"));
    assertTrue(values.drop("email", "a@example.org", "user 1"));
    assertTrue(values.drop("email", "a@example.org", "user 1"));
    assertEquals(new Owned(false), values.putUnique("email", "a@example.org", "user 2"));
    assertThrows(IllegalArgumentException.class, () -> values.putUnique("email", "", "user"));
  }

  @Test
  final void ofManyOwnersOneGetsTheValue() throws Exception {
    UniqueValues values = new UniqueValues(store);
    List<UniqueValues.Result> results =
        ConcurrentClients.run(16, client -> values.putUnique("login", "quipu", "user " + client));
    assertEquals(1, results.stream().filter(Owned.class::isInstance).count(), results::toString);
  }
}
