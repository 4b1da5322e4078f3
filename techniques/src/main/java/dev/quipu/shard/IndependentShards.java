package dev.quipu.shard;

import dev.quipu.Reading;
import dev.quipu.Uncertainty;
import dev.quipu.shard.StoredParts.Part;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.Technique;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Reads shards that have no bounds and do not act together. */
record IndependentShards(Technique technique) {
  private static final Reading NOTHING = Reading.exact(0);

  /** Reads all shards twice: the difference is the uncertainty. */
  Optional<Reading> read(String counter, ShardPlan plan) {
    List<Optional<Reading>> first = each(counter, plan);
    List<Optional<Reading>> second = plan.shards() == 1 ? first : each(counter, plan);
    if (Stream.concat(first.stream(), second.stream()).allMatch(Optional::isEmpty)) {
      return Optional.empty();
    }
    long value = 0;
    long low = 0;
    long high = 0;
    long moved = 0;
    Set<Uncertainty> uncertainties = new LinkedHashSet<>();
    for (int shard = 0; shard < plan.shards(); shard++) {
      Reading before = first.get(shard).orElse(NOTHING);
      Reading after = second.get(shard).orElse(NOTHING);
      value = CounterItems.plus(counter, value, after.value());
      low = CounterItems.plus(counter, low, Math.min(before.low(), after.low()));
      high = CounterItems.plus(counter, high, Math.max(before.high(), after.high()));
      moved += Math.abs(after.value() - before.value());
      uncertainties.addAll(after.uncertainties());
    }
    if (moved != 0) {
      uncertainties.add(new Uncertainty(Uncertainty.Cause.MOVING, counter, moved));
    }
    return Optional.of(new Reading(value, low, high, List.copyOf(uncertainties)));
  }

  private List<Optional<Reading>> each(String counter, ShardPlan plan) {
    return IntStream.range(0, plan.shards())
        .mapToObj(shard -> technique.read(ShardPlan.shardName(counter, shard)))
        .toList();
  }

  /** Returns the value of each shard; see {@link dev.quipu.shard.StoredParts}. */
  List<Part> parts(String counter, ShardPlan plan) {
    List<Optional<Reading>> found = each(counter, plan);
    List<Part> parts = new ArrayList<>();
    for (int shard = 0; shard < found.size(); shard++) {
      long value = found.get(shard).orElse(NOTHING).value();
      parts.add(
          new Part(
              "shard " + shard,
              value,
              OptionalLong.empty(),
              OptionalLong.empty(),
              Optional.empty()));
    }
    return parts;
  }
}
