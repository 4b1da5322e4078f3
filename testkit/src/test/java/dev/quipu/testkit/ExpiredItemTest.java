package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.RequestId;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.store.Condition;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.MarkerItem;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * An expired item is removed, or replaced by another client, between the write that found it and
 * the write that replaces it.
 */
final class ExpiredItemTest {
  private static final Key KEY = new Key("partition", "sort");
  private static final Duration KEEP = Duration.ofMinutes(1);
  private static final ViewEvent VIEW =
      new ViewEvent("https://a.example/page", Instant.parse("2026-11-22T10:00:00Z"), "client");

  private final ManualClock clock = new ManualClock(1_700_000_000_000L);
  private final StoreDriver driver = new MemoryDriver();
  private final Store other = new Store(driver, clock);
  private final CallScript script = new CallScript();
  private final Store store = new Store(script.around(driver), clock);

  private void sweep() {
    driver.removeExpired(Instant.ofEpochMilli(clock.epochMillis()), Integer.MAX_VALUE);
  }

  private Write put(String text, Condition condition) {
    Optional<Instant> until = Optional.of(other.now().plus(KEEP));
    return new Write.Put(KEY, Map.of("text", new Field.Text(text)), until, condition);
  }

  private Optional<String> text() {
    return other.get(KEY, Consistency.STRONG).flatMap(item -> item.text("text"));
  }

  private void expired() {
    other.write(put("old", Condition.always()));
    clock.advance(KEEP);
  }

  @Test
  void aWriteTakesThePlaceOfAnItemThatIsRemovedMeanwhile() {
    expired();
    script.before(CallScript.to(""), () -> {}).before(CallScript.to(""), this::sweep);
    assertInstanceOf(WriteResult.Applied.class, store.write(put("new", new Condition.Absent())));
    assertTrue(script.isDone());
    assertEquals(Optional.of("new"), text());
  }

  @Test
  void aWriteIsJudgedByTheItemThatAnotherClientPutInItsPlace() {
    expired();
    script
        .before(CallScript.to(""), () -> {})
        .before(CallScript.to(""), () -> other.write(put("theirs", new Condition.Absent())));
    WriteResult.ConditionFailed failed =
        assertInstanceOf(
            WriteResult.ConditionFailed.class, store.write(put("new", new Condition.Absent())));
    assertEquals(
        Optional.of("theirs"), failed.found().flatMap(item -> item.text("text")), "what is there");
    assertEquals(Optional.of("theirs"), text());
    assertEquals(2, store.statistics().calls(), "the store has judged it");
  }

  @Test
  void aConditionThatFailsOnAnItemThatIsThereIsJudgedOnce() {
    other.write(put("theirs", Condition.always()));
    assertInstanceOf(
        WriteResult.ConditionFailed.class, store.write(put("new", new Condition.Absent())));
    assertEquals(1, store.statistics().calls());
  }

  @Test
  void aConditionThatHoldsOnTheNewItemAppliesToIt() {
    expired();
    Condition one = new Condition.Lacks("tokens", "a");
    script
        .before(CallScript.to(""), () -> {})
        .before(CallScript.to(""), () -> other.write(put("theirs", new Condition.Absent())));
    Condition both = Condition.all(one, new Condition.FieldIs("text", new Field.Text("theirs")));
    assertInstanceOf(WriteResult.ConditionFailed.class, store.write(put("new", both)));
    assertEquals(Optional.empty(), text(), "the condition did not hold on what was not there");
  }

  @Test
  void aBatchTakesThePlaceOfAnItemThatIsRemovedMeanwhile() {
    ViewOptions options = ViewOptions.EXACT.keeping(KEEP);
    assertTrue(new ViewCounter(other, options).add(VIEW));
    clock.advance(KEEP);
    script.before(CallScript.to(""), () -> {}).before(CallScript.to(""), this::sweep);
    assertTrue(new ViewCounter(store, options).add(VIEW), "it counts again");
    assertTrue(script.isDone());
    assertEquals(2, other.get(number(), Consistency.STRONG).orElseThrow().number("views"));
    assertFalse(new ViewCounter(other, options).add(VIEW), "the marker is stored");
  }

  private static Key number() {
    return new Key("views/" + VIEW.url(), "STATISTICS");
  }

  @Test
  void aBatchMeetsTheMarkerThatAnotherClientPutInItsPlace() {
    ViewOptions options = ViewOptions.EXACT.keeping(KEEP);
    ViewCounter theirs = new ViewCounter(other, options);
    assertTrue(theirs.add(VIEW));
    clock.advance(KEEP);
    script
        .before(CallScript.to(""), () -> {})
        .before(CallScript.to(""), () -> assertTrue(theirs.add(VIEW)));
    assertFalse(new ViewCounter(store, options).add(VIEW), "the other client counted it");
    assertEquals(2, other.get(number(), Consistency.STRONG).orElseThrow().number("views"));
  }

  @Test
  void aRequestIdThatIsForgottenMeanwhileCountsAgain() {
    Add add = new Add("counter", 1, RequestId.of("request"));
    HitLogOptions options = HitLogOptions.DEFAULT.keeping(KEEP);
    new HitLog(other, options).add(add);
    clock.advance(KEEP);
    script
        .before(CallScript.to("counter/"), () -> {})
        .before(CallScript.to("counter/"), this::sweep);
    assertInstanceOf(AddResult.Applied.class, new HitLog(store, options).add(add));
    assertEquals(2, new HitLog(other, options).read("counter").orElseThrow().value());
  }

  @Test
  void aMarkerItemThatIsForgottenMeanwhileCountsAgain() {
    Add add = new Add("counter", 1, RequestId.of("request"));
    new MarkerItem(other, KEEP).add(add);
    clock.advance(KEEP);
    script
        .before(writes -> writes.size() > 1, () -> {})
        .before(writes -> writes.size() > 1, this::sweep);
    assertInstanceOf(AddResult.Applied.class, new MarkerItem(store, KEEP).add(add));
    assertTrue(script.isDone());
    assertEquals(2, new MarkerItem(other).read("counter").orElseThrow().value());
  }
}
