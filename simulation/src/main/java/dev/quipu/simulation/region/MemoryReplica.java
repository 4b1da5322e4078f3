package dev.quipu.simulation.region;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.simulation.driver.InterceptingDriver;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** An in-memory replica that can be reset to an earlier state. Used by one thread at a time. */
public final class MemoryReplica implements Replica<Key, Item> {
  private final MemoryDriver memory = new MemoryDriver();
  private final List<Written<Key, Item>> written = new ArrayList<>();
  private final Set<Key> keys = new HashSet<>();
  private final StoreDriver noting = new InterceptingDriver(memory, new Noting());

  /** Creates an empty replica. */
  public MemoryReplica() {}

  @Override
  public StoreDriver driver() {
    return noting;
  }

  @Override
  public List<Written<Key, Item>> written() {
    List<Written<Key, Item>> since = List.copyOf(written);
    written.clear();
    return since;
  }

  @Override
  public void receive(Written<Key, Item> change) {
    keys.add(change.key());
    memory.write(
        change
            .item()
            .<Write>map(item ->
                new Write.Put(item.key(), item.fields(), item.expiresAt(), Condition.always()))
            .orElse(new Write.Delete(change.key(), Condition.always())));
  }

  /** Returns a copy of all items, for {@link #setBack}. */
  public Map<Key, Item> copy() {
    Map<Key, Item> items = new HashMap<>();
    for (Key key : keys) {
      memory.get(key, Consistency.STRONG).ifPresent(item -> items.put(key, item));
    }
    return items;
  }

  /** Resets the replica as by a restore from a backup: no region is notified. */
  public void setBack(Map<Key, Item> copy) {
    for (Key key : Set.copyOf(keys)) {
      receive(new Written<>(key, Optional.ofNullable(copy.get(key))));
    }
  }

  private void note(Key key) {
    keys.add(key);
    written.add(new Written<>(key, memory.get(key, Consistency.STRONG)));
  }

  private final class Noting implements InterceptingDriver.Interceptor {
    @Override
    public WriteResult write(List<Write> writes, Supplier<WriteResult> call) {
      WriteResult result = call.get();
      if (result instanceof WriteResult.Applied) {
        writes.forEach(write -> note(write.key()));
      }
      return result;
    }
  }
}
