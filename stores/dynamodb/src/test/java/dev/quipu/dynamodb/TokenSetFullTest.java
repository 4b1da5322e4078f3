package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Counters;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.Optimistic;
import dev.quipu.technique.TokenSet;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A set of tokens that is full, and the method that has no such limit, on DynamoDB Local. */
final class TokenSetFullTest {
  private static final int SLOTS = 20;
  private static final String FULL = "full";
  private static final String OTHER = "other";

  private final StoreDriver driver =
      StoreProvider.open(Tables.newUri(Tables.server().endpoint(), Duration.ofSeconds(30)));
  private final Store store = new Store(driver, Clock.system());

  @AfterEach
  void close() {
    driver.close();
  }

  private static Add add(String counter, int number) {
    return new Add(counter, 1, RequestId.of("id " + number));
  }

  @Test
  void aFullSetTakesNothingMoreAndMethod3Does() {
    TokenSet set = new TokenSet(store, Randomness.seeded(1), SLOTS);
    for (int i = 0; i < SLOTS; i++) {
      assertInstanceOf(AddResult.Applied.class, set.add(add(FULL, i)));
    }
    for (int i = SLOTS; i < SLOTS + 3; i++) {
      Add more = add(FULL, i);
      QuipuException full = assertThrows(QuipuException.class, () -> set.add(more));
      assertEquals(Outcome.NOT_APPLIED, full.outcome());
      assertEquals(Reason.FULL, full.reason());
    }
    assertInstanceOf(AddResult.Replayed.class, set.add(add(FULL, 7)));
    assertEquals(Optional.of(Reading.exact(SLOTS)), set.read(FULL));

    Counters tagged = Optimistic.withHistory(store);
    for (int i = 0; i < SLOTS + 3; i++) {
      Add more = new Add(OTHER, 1, null); // it finds its own tag
      assertInstanceOf(AddResult.Applied.class, tagged.add(more));
    }
    assertEquals(Optional.of(Reading.exact(SLOTS + 3)), tagged.read(OTHER));
  }
}
