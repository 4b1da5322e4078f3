package dev.quipu.server.http;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.time.Instant;
import java.util.Optional;

/** A store that cannot know whether it lost data. */
final class Forgetful implements StoreDriver {
  private final MemoryDriver memory = new MemoryDriver();

  @Override
  public StoreProfile profile() {
    return memory.profile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return memory.get(key, consistency);
  }

  @Override
  public WriteResult write(Write write) {
    return memory.write(write);
  }

  @Override
  public Instant intactSince() {
    return Instant.MAX;
  }

  @Override
  public void close() {
    memory.close();
  }
}
