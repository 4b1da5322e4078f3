package dev.quipu.shard;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.shard.StoredParts.Part;
import dev.quipu.store.Item;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.technique.AddPart;
import dev.quipu.technique.CounterItems;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/** The plan of a counter and the items of its shards, at one moment. */
record ShardSnapshot(Optional<Item> planItem, ShardPlan plan, List<Optional<Item>> shards) {
  long value(int shard) {
    return shards.get(shard).map(item -> item.number(CounterItems.VALUE)).orElse(0L);
  }

  /** Returns the sum; it stays within 64 bits, since each shard stays within its share. */
  long total() {
    return IntStream.range(0, shards.size()).mapToLong(this::value).sum();
  }

  /** Returns each shard, and what it may count within its share of the bounds. */
  List<Part> parts() {
    if (!wasAddedTo()) {
      return List.of();
    }
    return IntStream.range(0, shards.size()).mapToObj(this::part).toList();
  }

  private Part part(int shard) {
    Bounds local = plan.local(shard);
    long value = value(shard);
    boolean hasFloor = plan.bounds().floor() != Long.MIN_VALUE;
    boolean hasCeiling = plan.bounds().ceiling() != Long.MAX_VALUE;
    return new Part(
        "shard " + shard,
        value,
        hasFloor
            ? OptionalLong.of(saturatedDifference(value, local.floor()))
            : OptionalLong.empty(),
        hasCeiling
            ? OptionalLong.of(saturatedDifference(local.ceiling(), value))
            : OptionalLong.empty(),
        Optional.empty());
  }

  boolean wasAddedTo() {
    return shards.stream()
        .anyMatch(item -> item.isPresent() && item.get().fields().containsKey(CounterItems.VALUE));
  }

  /** Splits an amount: the home shard first, then the shards with the greatest slack. */
  AddPart split(String counter, long delta, int home) {
    long[] room = new long[plan.shards()]; // slack in the direction of the add, with its sign
    List<Integer> others = new ArrayList<>();
    for (int shard = 0; shard < room.length; shard++) {
      Bounds local = plan.local(shard);
      long end = delta < 0 ? local.floor() : local.ceiling();
      room[shard] = saturatedDifference(end, value(shard));
      if (shard != home) {
        others.add(shard);
      }
    }
    others.sort(
        (a, b) -> delta < 0 ? Long.compare(room[a], room[b]) : Long.compare(room[b], room[a]));
    long own = nearer(delta, room[home]);
    long rest = delta - own;
    long back = // slack of the home shard in the other direction, signed
        saturatedDifference(
            delta < 0 ? plan.local(home).ceiling() : plan.local(home).floor(), value(home) + own);
    List<Write> beside = new ArrayList<>();
    for (int shard : others) {
      if (rest == 0) {
        break;
      }
      long part = nearer(rest, room[shard]);
      long half = room[shard] / 2;
      boolean gives = rest == part && Math.abs(half) > Math.abs(part);
      long more = gives ? -nearer(part - half, back) : 0; // the home shard takes that back
      beside.add(
          new Write.Update(
              plan.valueKey(counter, shard),
              List.of(new Change.Add(CounterItems.VALUE, part + more)),
              plan.condition(shard)));
      own -= more;
      rest -= part;
    }
    return new AddPart(plan.valueKey(counter, home), own, plan.condition(home), beside, false);
  }

  /** Returns a result without a value, since no shard knows the sum. */
  static AddResult withoutValue(AddResult answer) {
    return switch (answer) {
      case AddResult.Applied applied ->
          new AddResult.Applied(applied.added(), OptionalLong.empty());
      case AddResult.Replayed again -> new AddResult.Replayed(again.added(), OptionalLong.empty());
      case AddResult.Rejected rejected -> rejected;
      case AddResult.Conflict conflict -> conflict;
    };
  }

  /** Divides an amount evenly over all shards. */
  AddPart evenly(String counter, long delta, int home) {
    long each = delta / plan.shards();
    long rest = delta % plan.shards(); // the first shards take one more
    List<Write> beside = new ArrayList<>();
    long own = 0;
    for (int shard = 0; shard < plan.shards(); shard++) {
      long part = each + (shard < Math.abs(rest) ? Long.signum(delta) : 0);
      if (shard == home) {
        own = part;
      } else {
        beside.add(
            new Write.Update(
                plan.valueKey(counter, shard),
                List.of(new Change.Add(CounterItems.VALUE, part)),
                plan.condition(shard)));
      }
    }
    return new AddPart(plan.valueKey(counter, home), own, plan.condition(home), beside, false);
  }

  /** Returns the one of two numbers of the same sign, or 0, that is nearer to 0. */
  private static long nearer(long a, long b) {
    return a < 0 || b < 0 ? Math.max(a, b) : Math.min(a, b);
  }

  private static long saturatedDifference(long a, long b) {
    long difference = a - b;
    boolean overflows = ((a ^ b) & (a ^ difference)) < 0;
    return overflows ? (a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : difference;
  }
}
