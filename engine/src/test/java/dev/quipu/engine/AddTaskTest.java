package dev.quipu.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.ItemResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.log.Frame;
import dev.quipu.engine.state.Followers;
import dev.quipu.engine.state.State;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Several adds in one call: frames, failures, and the results of the others. */
final class AddTaskTest {
  /** Bytes that an add of a counter with a one-letter name reserves. */
  private static final int ONE_ADD = 4 * 64 + 3;

  private static final RequestId ID = RequestId.of("one");

  private final State state = new State(7, 1_000, 1_000, 0);
  private final Group group = new Group(ByteBuffer.allocate(1 << 20), new Followers());
  private final CounterAccess access = new CounterAccess(state, group);

  AddTaskTest() {
    state.wallMillis = 1;
    group.begin(null);
  }

  private static AddResult applied(long added, long value) {
    return new AddResult.Applied(added, OptionalLong.of(value));
  }

  private static Group groupOf(int bytes) {
    ByteBuffer out = ByteBuffer.allocate(Frame.HEAD_BYTES + Frame.ALIGNMENT + bytes);
    Group small = new Group(out, new Followers());
    small.begin(null);
    return small;
  }

  private OptionalLong value(String counter) {
    return access.get(counter);
  }

  /** Leaves no memory for new counters. */
  private void fillMemory() {
    state.limitMemory(state.memoryBytes());
  }

  private List<ItemResult> results(Add... adds) {
    AddTask task = new AddTask(List.of(adds));
    assertTrue(task.run(state, group));
    return task.results();
  }

  private static void expectFull(ItemResult result) {
    QuipuException why = assertThrows(QuipuException.class, result::result);
    assertEquals(Outcome.NOT_APPLIED, why.outcome());
    assertEquals(Reason.FULL, why.reason());
  }

  private static void expectText(ItemResult result) {
    Exception why = assertThrows(IllegalArgumentException.class, result::result);
    assertEquals("text holds a text, not a number", why.getMessage());
  }

  @Test
  void eachAddHasItsResultInOrder() {
    AddTask task =
        new AddTask(
            List.of(
                new Add("a", 5, ID),
                new Add("b", 1, null),
                new Add("a", 5, ID),
                new Add("a", -6, Bounds.atLeast(0), null)));
    assertTrue(task.run(state, group));
    assertEquals(
        List.of(
            applied(5, 5),
            applied(1, 1),
            new AddResult.Replayed(5, OptionalLong.of(5)),
            new AddResult.Rejected(Rejection.FLOOR, 5)),
        task.results());
  }

  @Test
  void anAddThatDoesNotFitWaitsForTheNextFrame() {
    AddTask task = new AddTask(List.of(new Add("name", 1, null)));
    int bytes = 4 * 64 + 3 * 4; // a char may take three bytes
    assertFalse(task.run(state, groupOf(bytes - 1)));
    assertEquals(OptionalLong.empty(), value("name"));
    assertTrue(task.run(state, groupOf(bytes)));
    assertEquals(List.of(applied(1, 1)), task.results());
  }

  @Test
  void addsAppliedInOneFrameAreNotAppliedAgainInTheNext() {
    AddTask task = new AddTask(List.of(new Add("a", 1, null), new Add("a", 1, null)));
    assertFalse(task.run(state, groupOf(ONE_ADD)));
    assertEquals(OptionalLong.of(1), value("a"));
    assertTrue(task.run(state, groupOf(ONE_ADD)));
    assertEquals(OptionalLong.of(2), value("a"));
    assertEquals(List.of(applied(1, 1), applied(1, 2)), task.results());
  }

  @Test
  void aTextFailsOnlyItsAdd() {
    access.setText("text", new byte[] {'t'});
    List<ItemResult> results =
        results(new Add("a", 1, null), new Add("text", 1, null), new Add("a", 1, null));
    assertEquals(applied(1, 1), results.get(0));
    expectText(results.get(1));
    assertEquals(applied(1, 2), results.get(2));
  }

  @Test
  void aRememberedRequestIsReplayedThoughItsCounterNowHoldsAText() {
    access.add(new Add("a", 5, ID));
    access.setText("a", new byte[] {'t'});
    AddTask task = new AddTask(List.of(new Add("a", 5, ID)));
    assertTrue(task.run(state, group));
    assertEquals(List.of(new AddResult.Replayed(5, OptionalLong.of(5))), task.results());
  }

  @Test
  void anAddBeyondTheMemoryLimitFailsAlone() {
    access.set("a", 1);
    Add repeat = new Add("a", 5, ID);
    access.add(repeat);
    fillMemory();
    List<ItemResult> results =
        results(new Add("new", 1, RequestId.of("new")), repeat, new Add("a", 1, null));
    expectFull(results.get(0));
    assertEquals(new AddResult.Replayed(5, OptionalLong.of(6)), results.get(1));
    assertEquals(applied(1, 7), results.get(2));
  }

  @Test
  void aTextStoredBetweenTwoFramesFailsOnlyItsAdd() {
    AddTask task = new AddTask(List.of(new Add("a", 1, null), new Add("text", 1, null)));
    assertFalse(task.run(state, groupOf(ONE_ADD)));
    access.setText("text", new byte[] {'t'});
    assertTrue(task.run(state, group));
    assertEquals(applied(1, 1), task.results().getFirst());
    expectText(task.results().getLast());
  }

  /** Memory then differs from the log: the task must not end as if it had only been rejected. */
  @Test
  void anExceptionWithinAChangeIsThrown() {
    Group broken = new Group(ByteBuffer.allocate(1 << 16).asReadOnlyBuffer(), new Followers());
    broken.begin(null);
    AddTask task = new AddTask(List.of(new Add("a", 1, null)));
    assertThrows(ReadOnlyBufferException.class, () -> task.run(state, broken));
  }

  @Test
  void severalRequestsArePrefetched() {
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < 33; i++) {
      adds.add(new Add("c" + i, 1, RequestId.of(1, i)));
      access.add(adds.getLast());
    }
    adds.add(3, new Add("no id", 1, null));
    adds.add(5, new Add("not there", 1, ID));
    for (Add add : adds) {
      RequestId id = add.id();
      int ordinal = state.counters.find(add.counter());
      if (id != null && ordinal >= 0) {
        read(id, ordinal);
      }
    }
    long expected = state.ids.touched();
    assertTrue(expected != 0);
    assertTrue(new AddTask(adds).run(state, group));
    assertEquals(2 * expected, state.ids.touched(), "each of them once");
  }

  /** Adds are prefetched 32 at a time; the 33rd is then a single one. */
  @Test
  void theLastRequestIsNotPrefetchedAlone() {
    List<Add> adds = new ArrayList<>();
    for (int i = 0; i < 33; i++) {
      adds.add(new Add("a", 1, RequestId.of(1, i)));
      access.add(adds.getLast());
    }
    for (int i = 0; i < 32; i++) {
      read(RequestId.of(1, i), 0);
    }
    long expected = state.ids.touched();
    assertTrue(new AddTask(adds).run(state, group));
    assertEquals(2 * expected, state.ids.touched());
  }

  private void read(RequestId id, int ordinal) {
    state.ids.expect(id.high(), id.low(), ordinal);
    state.ids.readAhead();
  }

  @Test
  void aSingleRequestIsNotPrefetched() {
    Add add = new Add("a", 1, ID);
    access.add(add);
    assertTrue(new AddTask(List.of(add)).run(state, group));
    assertEquals(0, state.ids.touched());
  }
}
