package dev.quipu.micrometer;

import dev.quipu.Quipu;
import dev.quipu.engine.Engine;
import dev.quipu.layer.Store;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Optional;

/**
 * Binds the meters of a {@link Quipu} to a registry: the results and times of its calls, its store
 * and its engine. No tag is the name of a counter: all tags have a fixed set of values.
 *
 * <pre>{@code
 * new QuipuMetrics(quipu).bindTo(registry);
 * }</pre>
 */
public final class QuipuMetrics implements MeterBinder {
  /** The value of the tags {@code store} and {@code technique} for counters on a server. */
  private static final String SERVER = "server";

  private final Quipu quipu;
  private final Tags tags;

  /** Creates a binder. */
  public QuipuMetrics(Quipu quipu) {
    this(quipu, Tags.empty());
  }

  /**
   * Creates a binder with additional tags of all meters, which distinguish several stores in one
   * registry.
   */
  public QuipuMetrics(Quipu quipu, Iterable<Tag> tags) {
    this.quipu = quipu;
    this.tags = Tags.of(tags);
  }

  /** Registers all meters, and measures the calls from now on. */
  @Override
  public void bindTo(MeterRegistry registry) {
    Optional<Store> store = store();
    Tags all =
        tags.and(
            "technique",
            // A server is not asked: it may not respond yet, and has meters of its own.
            store.isPresent() ? quipu.counters().technique() : SERVER,
            "store",
            store.map(each -> each.profile().name()).orElse(SERVER));
    Optional<Engine> engine = quipu.counters().as(Engine.class);
    quipu.observe(new CallMeters(registry, all, engine));
    engine.ifPresent(each -> EngineMeters.bind(each, registry, tags));
    store.ifPresent(each -> each.observe(new StoreMeters(each, registry, all)));
  }

  /** Returns the store; empty for counters on a server. */
  private Optional<Store> store() {
    try {
      return Optional.of(quipu.part(Store.class));
    } catch (UnsupportedOperationException e) {
      return Optional.empty();
    }
  }
}
