package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.shard.ShardOptions;
import dev.quipu.shard.Sharded;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.MarkerItem;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The first delivery of a stock that is divided over shards, on DynamoDB Local. */
final class DeliveryTest {
  private static final int SHARDS = 10;
  private static final Bounds STOCK = Bounds.atLeast(0);

  @Test
  void theFirstDeliveryIsSpreadEvenly() {
    try (StoreDriver driver =
        StoreProvider.open(Tables.newUri(Tables.server().endpoint(), Duration.ofMinutes(1)))) {
      Store store = new Store(driver, Clock.system());
      MarkerItem plain = new MarkerItem(store);
      Sharded counters = new Sharded(store, plain, ShardOptions.fixed(SHARDS).within(STOCK));
      Add delivery = new Add("stock", 1_000, STOCK, RequestId.of("delivery"));
      assertInstanceOf(AddResult.Applied.class, counters.add(delivery));
      assertEquals(Collections.nCopies(SHARDS, 100L), shards(plain, "stock"));

      Sharded other = new Sharded(store, plain, ShardOptions.fixed(SHARDS).within(STOCK));
      assertInstanceOf(AddResult.Replayed.class, other.add(delivery));
      assertInstanceOf(
          AddResult.Applied.class, other.add(new Add("stock", -950, STOCK, RequestId.of("sale"))));
      assertEquals(Optional.of(Reading.exact(50)), counters.read("stock"));

      counters.add(new Add("odd", 1_003, STOCK, null));
      List<Long> odd = shards(plain, "odd");
      assertEquals(1_003, odd.stream().mapToLong(each -> each).sum());
      assertEquals(List.of(100L, 101L), odd.stream().distinct().sorted().toList());

      counters.add(new Add("few", 9, STOCK, null)); // less than one for each shard
      assertEquals(Optional.of(Reading.exact(9)), counters.read("few"));
    }
  }

  private static List<Long> shards(MarkerItem plain, String counter) {
    List<Long> values = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      String name = i == 0 ? counter : counter + "#shard-" + i;
      values.add(plain.read(name).map(Reading::value).orElse(0L));
    }
    return values;
  }
}
