package dev.quipu.transaction;

import dev.quipu.HoldReading;
import dev.quipu.Holds;
import dev.quipu.Holds.Balance;
import dev.quipu.Limits;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.technique.CounterItems;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Reads the open holds on a counter. */
final class OpenHolds {
  private static final int READ_ITEMS = 25; // of one snapshot
  private static final int BALANCE_ROUNDS = 3;

  private final Store store;
  private final HoldIndex index;

  OpenHolds(Store store, HoldIndex index) {
    this.store = store;
    this.index = index;
  }

  List<HoldReading> list(String counter, @Nullable RequestId after, int limit) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Limits.checkPage(limit, Holds.PAGE_HOLDS_MAX);
    List<HoldReading> found = new ArrayList<>();
    RequestId last = after;
    while (found.size() < limit) {
      int wanted = limit - found.size();
      List<RequestId> ids = index.on(counter, last, wanted);
      for (int from = 0; from < ids.size(); from += READ_ITEMS) {
        found.addAll(open(ids.subList(from, Math.min(from + READ_ITEMS, ids.size()))));
      }
      if (ids.size() < wanted) {
        break;
      }
      last = ids.getLast();
    }
    return found;
  }

  /** Returns those of some holds that are open. */
  private List<HoldReading> open(List<RequestId> ids) {
    List<Optional<Item>> items = store.getAll(ids.stream().map(Stored::key).toList());
    List<HoldReading> open = new ArrayList<>();
    for (int i = 0; i < ids.size(); i++) {
      RequestId id = ids.get(i);
      items
          .get(i)
          .flatMap(item -> Stored.held(id, item))
          .filter(hold -> hold.isOpen() && !hold.isDue(store.now()))
          .ifPresent(hold -> open.add(hold.reading()));
    }
    return open;
  }

  /** Reads all open holds on the counter for their bounds, 1,000 in each request. */
  Optional<Balance> balance(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Key key = CounterItems.valueKey(counter);
    Optional<Item> item = store.get(key);
    for (int round = 1; ; round++) {
      if (item.isEmpty() || !item.get().fields().containsKey(CounterItems.VALUE)) {
        return Optional.empty();
      }
      long value = item.get().number(CounterItems.VALUE);
      long held = item.get().number(CounterItems.HELD);
      if (item.get().number(CounterItems.HOLDS) == 0) {
        return Optional.of(new Balance(value, 0, OptionalLong.empty(), OptionalLong.empty()));
      }
      HoldIndex.Extremes extremes = index.extremes(counter);
      Optional<Item> now = store.get(key);
      boolean isUnchanged = now.map(Item::version).equals(item.map(Item::version));
      if (isUnchanged || round == BALANCE_ROUNDS) { // on a busy counter, of moments apart
        return Optional.of(Balance.of(value, held, extremes.floor(), extremes.ceiling()));
      }
      item = now;
    }
  }
}
