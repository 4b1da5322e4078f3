package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Guarantee;
import dev.quipu.Quipu;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Stores are found by the scheme of their URI. */
final class StoreProviderTest {
  /** An in-memory store, as a service of these tests. */
  public static final class InMemory implements StoreProvider {
    /** For the service loader. */
    public InMemory() {}

    @Override
    public List<String> schemes() {
      return List.of("memory", "memory-too");
    }

    @Override
    public String usage() {
      return "memory:";
    }

    @Override
    public StoreProfile fullProfile() {
      return new MemoryDriver().profile();
    }

    @Override
    public String schema(URI uri) {
      return "";
    }

    @Override
    public StoreDriver open(URI uri) {
      return new MemoryDriver();
    }
  }

  @Test
  void aProviderIsFoundByEachOfItsSchemes() {
    assertEquals(1, StoreProvider.all().size());
    for (String uri : List.of("memory:a", "memory-too:a")) {
      assertInstanceOf(InMemory.class, StoreProvider.of(StoreUri.parse(uri)));
      assertInstanceOf(MemoryDriver.class, StoreProvider.open(uri));
    }
  }

  @Test
  void aBuilderOpensAStoreByItsUri() {
    try (Quipu quipu = Quipu.builder().store("memory:a").build()) {
      assertEquals(1, quipu.counter("visits").add(1).orElseThrow().added());
    }
    assertThrows(IllegalArgumentException.class, Quipu.builder().store("other:a")::build);
  }

  @Test
  void aBuilderTakesATechniqueAndTheRetentionOfRequestIds() {
    try (Quipu quipu = Quipu.builder().store("memory:a").build()) {
      assertEquals("marker-item", quipu.counters().technique());
      assertTrue(quipu.counters().promises(Guarantee.IDEMPOTENT));
    }
    try (Quipu quipu = Quipu.builder().store("memory:a").technique("token-set").build()) {
      assertEquals("token-set", quipu.counters().technique());
    }
    try (Quipu quipu =
        Quipu.builder().store("memory:a").requestIdRetention(Duration.ofHours(1)).build()) {
      assertTrue(quipu.counters().promises(Guarantee.IDEMPOTENT_WITHIN_WINDOW));
    }
    assertThrows(
        IllegalArgumentException.class,
        Quipu.builder().store("memory:a").technique("abacus")::build);
  }

  @Test
  void anUnknownSchemeIsRejectedWithThoseThatThereAre() {
    for (String uri : List.of("other:a", "no-scheme")) {
      String why =
          String.valueOf(
              assertThrows(IllegalArgumentException.class, () -> StoreProvider.open(uri))
                  .getMessage());
      assertTrue(why.endsWith("; available: memory, memory-too"), why);
    }
  }
}
