package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reading;
import dev.quipu.SetResult;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.VirtualTime;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Randomness;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sets and deletions whose replies are lost, or whose requests are late. */
final class SetFaultTest {
  private static final Predicate<List<Write>> TO_COUNTER = CallScript.to("counter/");

  private final MemoryDriver memory = new MemoryDriver();
  private final CallScript script = new CallScript();

  enum Subject {
    ATOMIC_ADD,
    OPTIMISTIC,
    WITH_HISTORY,
    REQUEST_TOKEN,
    MARKER_ITEM,
    TOKEN_SET;

    Counters on(StoreDriver driver) {
      Store store = new Store(driver, new VirtualTime(), Randomness.seeded(1), RetryPolicy.DEFAULT);
      return switch (this) {
        case ATOMIC_ADD -> new AtomicAdd(store);
        case OPTIMISTIC -> new Optimistic(store);
        case WITH_HISTORY -> Optimistic.withHistory(store);
        case REQUEST_TOKEN -> new RequestTokens(store);
        case MARKER_ITEM -> new MarkerItem(store);
        case TOKEN_SET -> new TokenSet(store);
      };
    }
  }

  private Counters own(Subject subject) {
    return subject.on(script.around(memory));
  }

  private Counters other(Subject subject) {
    return subject.on(memory);
  }

  private static void add(Counters counters, long delta) {
    assertInstanceOf(AddResult.Applied.class, counters.add(new Add("a", delta, null)));
  }

  private static SetResult set(Counters counters, long value) {
    return counters.set("a", value, OptionalLong.empty());
  }

  private static SetResult set(Counters counters, long value, long ifValue) {
    return counters.set("a", value, OptionalLong.of(ifValue));
  }

  private void expect(Subject subject, long value) {
    assertTrue(script.isDone());
    assertEquals(Optional.of(Reading.exact(value)), other(subject).read("a"));
  }

  @ParameterizedTest
  @EnumSource
  void aLostReplyIsResolvedByLooking(Subject subject) {
    add(other(subject), 5);
    script.replyLost(TO_COUNTER);
    assertEquals(new SetResult.Done(9), set(own(subject), 9, 5));
    expect(subject, 9);
  }

  @ParameterizedTest
  @EnumSource
  void aLostReplyIsResolvedAlthoughOthersAddedSince(Subject subject) {
    add(other(subject), 5);
    script.after(TO_COUNTER, () -> add(other(subject), 2)).replyLost(TO_COUNTER);
    assertEquals(new SetResult.Done(9), set(own(subject), 9, 5));
    expect(subject, 11);
  }

  @ParameterizedTest
  @EnumSource
  void aLateSetIsAppliedOnceAtMost(Subject subject) {
    add(other(subject), 5);
    script.late(TO_COUNTER);
    assertEquals(new SetResult.Done(9), set(own(subject), 9, 5));
    add(other(subject), 1);
    assertInstanceOf(WriteResult.ConditionFailed.class, script.arrive().getFirst());
    expect(subject, 10);
  }

  @ParameterizedTest
  @EnumSource
  void aLateSetThatOthersOvertookIsNeverApplied(Subject subject) {
    add(other(subject), 5);
    script.late(TO_COUNTER).beforeRead(() -> add(other(subject), 1));
    assertEquals(new SetResult.Mismatch(OptionalLong.of(6)), set(own(subject), 9, 5));
    assertInstanceOf(WriteResult.ConditionFailed.class, script.arrive().getFirst());
    expect(subject, 6);
  }

  @ParameterizedTest
  @EnumSource
  void aSetOnConditionIsUnknownIfAnotherSetFollowed(Subject subject) {
    add(other(subject), 5);
    script.after(TO_COUNTER, () -> set(other(subject), 1)).replyLost(TO_COUNTER);
    Counters own = own(subject);
    assertThrows(OutcomeUnknownException.class, () -> set(own, 9, 5));
    expect(subject, 1);
  }

  /** A repeat would be a second set: it would remove the acknowledged add. */
  @ParameterizedTest
  @EnumSource
  void aSetIsUnknownIfAnotherSetFollowed(Subject subject) {
    add(other(subject), 5);
    script
        .after(
            TO_COUNTER,
            () -> {
              set(other(subject), 1);
              add(other(subject), 2);
            })
        .replyLost(TO_COUNTER);
    Counters own = own(subject);
    assertThrows(OutcomeUnknownException.class, () -> set(own, 9));
    expect(subject, 3);
  }

  @ParameterizedTest
  @EnumSource
  void aDeletionIsUnknownIfASetFollowed(Subject subject) {
    add(other(subject), 5);
    script.after(TO_COUNTER, () -> set(other(subject), 1)).replyLost(TO_COUNTER);
    Counters own = own(subject);
    assertThrows(OutcomeUnknownException.class, () -> own.delete("a"));
    expect(subject, 1);
  }

  @ParameterizedTest
  @EnumSource
  void aDeletionIsRepeatedUntilItIsCertain(Subject subject) {
    add(other(subject), 5);
    script.replyLost(TO_COUNTER);
    own(subject).delete("a");
    assertTrue(script.isDone());
    assertEquals(Optional.empty(), other(subject).read("a"));
  }

  @ParameterizedTest
  @EnumSource
  void aLateWriteDoesNotBringADeletedCounterBack(Subject subject) {
    script.late(TO_COUNTER);
    assertEquals(new SetResult.Done(9), set(own(subject), 9));
    other(subject).delete("a");
    assertInstanceOf(WriteResult.ConditionFailed.class, script.arrive().getFirst());
    assertEquals(Optional.empty(), other(subject).read("a"));
    assertFalse(other(subject).list("", "", 10).counters().stream().findAny().isPresent());
  }

  /** Or an add whose reply was lost would be applied twice. */
  @ParameterizedTest
  @EnumSource(names = {"OPTIMISTIC", "WITH_HISTORY", "TOKEN_SET", "MARKER_ITEM"})
  void anAddWithALostReplyIsFoundAfterADeletion(Subject subject) {
    script.after(TO_COUNTER, () -> other(subject).delete("a")).replyLost(TO_COUNTER);
    add(own(subject), 5);
    assertTrue(script.isDone());
    assertEquals(Optional.empty(), other(subject).read("a"));
  }
}
