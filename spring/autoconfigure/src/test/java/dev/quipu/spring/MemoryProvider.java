package dev.quipu.spring;

import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import java.net.URI;
import java.util.List;

/** Opens a store in the memory of the test, by {@code memory:store}. */
public final class MemoryProvider implements StoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public MemoryProvider() {}

  @Override
  public List<String> schemes() {
    return List.of("memory");
  }

  @Override
  public String usage() {
    return "memory:store";
  }

  @Override
  public StoreProfile fullProfile() {
    return new MemoryDriver().profile();
  }

  @Override
  public String schema(URI uri) {
    return "creates nothing";
  }

  @Override
  public StoreDriver open(URI uri) {
    return new MemoryDriver();
  }
}
