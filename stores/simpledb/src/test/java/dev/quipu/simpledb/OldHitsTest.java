package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.layer.Store;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.Write;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Hits that are added, edited and deleted later, on SimpleDB. */
@SuppressWarnings("CheckReturnValue") // adds before the measured ones
final class OldHitsTest {
  private static final String PAGE = "page";
  private static final HitLogOptions OPTIONS = HitLogOptions.DEFAULT;

  private final ShiftedClock clock = new ShiftedClock();
  private final SimpleDbServer server =
      SimpleDbServer.start(SimpleDbOptions.DEFAULT, Clock.system());
  private final StoreDriver driver = Servers.open(server, 5_000);
  private final HitLog hits = new HitLog(new Store(driver, clock), OPTIONS);

  @AfterEach
  void close() {
    driver.close();
    server.close();
  }

  private void isRead(long count) {
    assertEquals(Optional.of(Reading.exact(count)), hits.read(PAGE));
  }

  private Instant now() {
    return Instant.ofEpochMilli(clock.epochMillis());
  }

  private List<HitLog.Hit> all(int limit) {
    List<HitLog.Hit> all = new ArrayList<>();
    Optional<String> from = Optional.of("");
    while (from.isPresent()) {
      HitLog.HitPage page = hits.page(PAGE, from.get(), limit);
      all.addAll(page.hits());
      from = page.resumeAt();
    }
    return all;
  }

  /** A client that changes hits and leaves the summary alone, as the article warns. */
  @Test
  void theCountIsOffByTheChangesUntilTheSummaryIsRecomputed() {
    for (int i = 0; i < 6; i++) {
      hits.add(new Add(PAGE, i < 3 ? 1 : 5, RequestId.of("hit " + i)));
    }
    clock.advance(OPTIONS.settle());
    assertTrue(hits.rollUp(PAGE).isStored());
    isRead(18);
    List<HitLog.Hit> old = all(2);
    driver.write(new Write.Delete(key("hits/", old.get(0)), Condition.always()));
    driver.write(amount(old.get(4), 50));
    HitLog.Hit added = new HitLog.Hit(old.get(0).at(), "added", 100);
    driver.write(amount(added, 100));
    isRead(18);
    assertEquals(new HitLog.RollUp(true, -1 + 45 + 100), hits.rollUp(PAGE));
    isRead(162);
  }

  private static Key key(String kind, HitLog.Hit hit) {
    return new Key(kind + PAGE, "%015d/%s".formatted(hit.at().toEpochMilli(), hit.id()));
  }

  private static Write amount(HitLog.Hit hit, long amount) {
    Map<String, Field> fields = Map.of(Item.VALUE, new Field.Number(amount));
    return new Write.Put(key("amounts/", hit), fields, Optional.empty(), Condition.always());
  }

  @Test
  void hitsAreListedAddedEditedAndDeletedBeyondTheWindow() {
    Instant start = now();
    for (int i = 0; i < 7; i++) {
      hits.add(new Add(PAGE, i % 2 == 0 ? 1 : 10, RequestId.of("hit " + i)));
    }
    clock.advance(OPTIONS.settle());
    hits.rollUp(PAGE);
    clock.advance(OPTIONS.window().plus(Duration.ofMinutes(5)));
    isRead(34);
    List<HitLog.Hit> all = all(2);
    assertEquals(7, all.size());
    assertEquals(all, hits.hits(PAGE, start.minusMillis(1), now()));

    HitLog.Hit one = all.stream().filter(hit -> hit.amount() == 1).findFirst().orElseThrow();
    HitLog.Hit ten = all.stream().filter(hit -> hit.amount() == 10).findFirst().orElseThrow();
    assertTrue(hits.edit(PAGE, one, 4));
    isRead(37);
    assertTrue(hits.edit(PAGE, ten, 0), "deleted");
    isRead(27);
    assertEquals(6, all(3).size());
    hits.add(new Add(PAGE, 1000, null), start.plusMillis(1));
    isRead(1027);
    assertEquals(7, all(100).size());
    assertEquals(7, all(1).size());
    Add withId = new Add(PAGE, 1, RequestId.of("old"));
    assertThrows(IllegalArgumentException.class, () -> hits.add(withId, start));
    assertThrows(IllegalArgumentException.class, () -> hits.add(withId, now().plusSeconds(5)));

    for (int i = 0; i < 4; i++) {
      clock.advance(OPTIONS.settle().multipliedBy(2));
      hits.rollUpDue();
      isRead(1027);
    }
    assertEquals(List.of(), all(100), "all are swept");
    assertFalse(hits.edit(PAGE, one, 9));
    isRead(1027);
  }
}
