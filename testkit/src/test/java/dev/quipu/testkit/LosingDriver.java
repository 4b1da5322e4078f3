package dev.quipu.testkit;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.Optional;

/** A cache that can lose all data, like one that is killed and restarted. */
final class LosingDriver implements StoreDriver {
  private MemoryDriver memory = new MemoryDriver();

  synchronized void lose() {
    memory = new MemoryDriver();
  }

  @Override
  public StoreProfile profile() {
    return memory.profile();
  }

  @Override
  public synchronized Optional<Item> get(Key key, Consistency consistency) {
    return memory.get(key, consistency);
  }

  @Override
  public synchronized WriteResult write(Write write) {
    return memory.write(write);
  }

  @Override
  public void close() {
    memory.close();
  }
}
