package dev.quipu.verify.steps;

import dev.quipu.Bounds;
import dev.quipu.store.StoreException;
import dev.quipu.technique.Guarantee;
import dev.quipu.technique.RequestTokens;
import dev.quipu.technique.ShardOptions;
import dev.quipu.technique.Sharded;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** All scenarios, by name. */
final class Scenarios {
  private static final Bounds STOCK = Bounds.between(0, 12);

  /** Runs one seed; returns what is not as promised. */
  interface Scenario {
    List<String> run(long seed);
  }

  private Scenarios() {}

  /** Returns them in the order of their names. */
  static Map<String, Scenario> all() {
    Map<String, Scenario> all = new TreeMap<>();
    for (TechniqueSpec spec : Techniques.ALL) {
      if (spec.equals(RequestTokens.SPEC)) {
        continue;
      }
      all.put(spec.name(), seed -> CounterRun.run(technique(spec, Bounds.none()), seed));
      if (spec.promises(Guarantee.BOUNDED)) {
        all.put(spec.name() + "-bounded", seed -> CounterRun.run(technique(spec, STOCK), seed));
      }
    }
    for (String name : List.of("marker-item", "token-set")) {
      all.put(
          "sharded-" + name, seed -> CounterRun.run(sharded(name, ShardOptions.fixed(3)), seed));
      all.put(
          "sharded-bounded-" + name,
          seed -> CounterRun.run(sharded(name, ShardOptions.fixed(3).within(STOCK)), seed));
    }
    ShardOptions growing = ShardOptions.growing(1, 8).hotAt(3);
    all.put("growing-atomic-add", seed -> CounterRun.run(sharded("atomic-add", growing), seed));
    all.put("growing-marker-item", seed -> CounterRun.run(sharded("marker-item", growing), seed));
    all.put(
        "growing-bounded-marker-item",
        seed -> CounterRun.run(sharded("marker-item", growing.within(STOCK)), seed));
    return all;
  }

  private static CounterRun.Subject technique(TechniqueSpec spec, Bounds bounds) {
    return CounterRun.Subject.of(
        (store, random) -> Techniques.open(spec, store, random, Optional.empty()),
        spec.remembersIds(),
        bounds);
  }

  private static CounterRun.Subject sharded(String name, ShardOptions options) {
    return CounterRun.Subject.of(
            (store, random) ->
                new Sharded(
                    store,
                    Techniques.open(Techniques.named(name), store, random, Optional.empty()),
                    options,
                    random),
            Techniques.named(name).remembersIds(),
            options.bounds())
        .with(counters -> {
          Sharded sharded = (Sharded) counters;
          if (options.shardsMax() > options.shards()) {
            try {
              sharded.grow("counter", Math.min(2 * sharded.shards("counter"), options.shardsMax()));
            } catch (StoreException e) {
              // the next may
            }
          }
        });
  }
}
