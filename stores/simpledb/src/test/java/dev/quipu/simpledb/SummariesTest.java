package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.display.DurableFirst;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.HitLogOptions;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.simpledbserver.SimpleDbFault;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.store.StoreDriver;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Summaries that readers make, and a cache in front of the hit log, on SimpleDB. */
@SuppressWarnings("CheckReturnValue") // adds before the measured ones
final class SummariesTest {
  private static final String PAGE = "page";
  private static final int PART = 20; // of a count
  private static final int HITS_MAX = 3 * PART;

  private final ShiftedClock clock = new ShiftedClock();
  private final SimpleDbServer server =
      SimpleDbServer.start(SimpleDbOptions.DEFAULT.countingInPartsOf(PART), Clock.system());
  private final StoreDriver driver = Servers.open(server, 5_000);
  private final HitLog hits =
      new HitLog(new Store(driver, clock), HitLogOptions.DEFAULT.summarizingAt(HITS_MAX));

  @AfterEach
  void close() {
    driver.close();
    server.close();
  }

  private void add(int number) {
    hits.add(new Add(PAGE, 1, RequestId.of("hit " + number)));
  }

  private boolean isSummarized() {
    return hits.stored(PAGE).end().isPresent();
  }

  @Test
  void aReadWhoseCountComesInSeveralPartsMakesASummary() {
    for (int i = 1; i < HITS_MAX; i++) {
      add(i);
    }
    clock.advance(HitLogOptions.DEFAULT.settle());
    assertEquals(Reading.exact(HITS_MAX - 1), hits.read(PAGE).orElseThrow());
    assertFalse(isSummarized());
    add(HITS_MAX);
    assertEquals(Reading.exact(HITS_MAX), hits.read(PAGE).orElseThrow());
    assertTrue(isSummarized());
    assertEquals(1, hits.stored(PAGE).hitsAfter(), "the last has not settled");
    assertEquals(Reading.exact(HITS_MAX), hits.read(PAGE).orElseThrow());
  }

  /** The first cache is lost; replies of the store are lost, too. */
  @Test
  void aLostCacheIsFilledFromTheHits() {
    DurableFirst before = behindAnEmptyCache();
    server.use(Map.of(SimpleDbFault.REPLY_DROPPED, 0.2));
    for (int i = 0; i < 30; i++) {
      viewUntilKnown(before, RequestId.of("view " + i));
    }
    int dropped = server.fired().getOrDefault(SimpleDbFault.REPLY_DROPPED, 0);
    server.use(Map.of());
    assertTrue(dropped > 0, "no reply was dropped");
    assertEquals(30, behindAnEmptyCache().read(PAGE).orElseThrow().value());
    clock.advance(HitLogOptions.DEFAULT.settle());
    hits.rollUpDue();
    assertEquals(30, behindAnEmptyCache().read(PAGE).orElseThrow().value());
  }

  private DurableFirst behindAnEmptyCache() {
    Store cache = new Store(new MemoryDriver(), clock);
    return new DurableFirst(cache.operations(), hits, clock, Duration.ofSeconds(1));
  }

  private static void viewUntilKnown(DurableFirst views, RequestId id) {
    for (int attempt = 0; ; attempt++) {
      try {
        views.view(PAGE, Optional.of(id));
        return;
      } catch (QuipuException e) {
        if (attempt == 20) {
          throw e;
        }
      }
    }
  }
}
