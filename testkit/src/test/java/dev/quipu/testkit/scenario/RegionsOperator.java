package dev.quipu.testkit.scenario;

import dev.quipu.QuipuException;
import dev.quipu.simulation.steps.SimProcess;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/** Cuts regions off, loses, restores and retires them. */
final class RegionsOperator {
  final Set<Integer> gone = new HashSet<>(); // lost, or restored from a backup
  boolean hasLost; // what a region had counted may be lost
  boolean isDisturbed; // the work is done
  boolean areEqual; // two regions may have retired each other
  long restoredNanos = Long.MAX_VALUE;
  int restored = -1;
  private long restoredRights; // without those that it received from others
  private final RegionWorld world;
  private final RandomGenerator random;
  private final BooleanSupplier isOver;

  RegionsOperator(RegionWorld world, BooleanSupplier isOver) {
    this.world = world;
    this.random = world.random;
    this.isOver = isOver;
  }

  /** Returns the maximum rights whose use or transfer a restored replica forgot. */
  long twiceMax() {
    return restored < 0 ? 0 : restoredRights + world.given(restored);
  }

  /** Disturbs the regions by actions of an operator and by faults. */
  void disturb(SimProcess own, RegionsRun.Kind kind) {
    switch (kind) {
      case PARTITIONS -> {
        while (!isOver.getAsBoolean()) {
          int region = random.nextInt(world.regions());
          world.cutOff(region);
          pause(own, Duration.ofMinutes(2));
          world.heal();
          pause(own, Duration.ofMinutes(1));
        }
      }
      case RETIREMENT -> {
        pause(own, Duration.ofMinutes(3));
        if (random.nextInt(4) == 0) {
          retireEachOther(own);
        } else {
          loseSome(own);
        }
        isDisturbed = true;
      }
      case RESTORE -> {
        int region = random.nextInt(world.regions());
        pause(own, Duration.ofMinutes(2));
        Map<Key, Item> backup = world.backup(region);
        pause(own, RegionWorld.NOTICED.plus(Duration.ofMinutes(3)));
        if (world.isOlderThanABeat(region, backup)) {
          gone.add(region);
          restored = region;
          restoredNanos = world.nowNanos();
          restoredRights = world.rightsBut(region, backup);
          hasLost = true;
          world.restore(region, backup);
        }
        pause(own, Duration.ofMinutes(2));
        isDisturbed = true;
      }
    }
  }

  /** Cuts off from each other two regions that reach all others, and retires both. */
  private void retireEachOther(SimProcess own) {
    int one = random.nextInt(world.regions());
    int other = (one + 1) % world.regions();
    hasLost = true; // one of the two may be retired, with what it had not sent
    areEqual = true;
    world.table.separate(one, other);
    for (int[] pair : new int[][] {{one, other}, {other, one}}) {
      world.process(
          pair[0], operator -> operator.start(() -> tryToRetire(operator, Set.of(pair[1]))));
    }
    own.sleep(RegionWorld.TERMS.lease().multipliedBy(4));
    world.heal();
  }

  private void pause(SimProcess own, Duration max) {
    own.sleep(Duration.ofNanos(random.nextLong(max.toNanos())));
  }

  private void loseSome(SimProcess own) {
    int first = random.nextInt(world.regions());
    lose(first);
    if (random.nextBoolean()) {
      int second = random.nextInt(world.regions());
      if (world.regions() > 3 && second != first) {
        // the successor may be lost halfway
        world.process(
            (first + 1) % world.regions(),
            operator -> operator.start(() -> tryToRetire(operator, gone)));
        pause(own, RegionWorld.TERMS.lease().multipliedBy(2));
        lose(second);
      }
    }
  }

  /**
   * Loses a region with its unsent changes, or after sending everything; or cuts it off
   * permanently.
   */
  private void lose(int region) {
    gone.add(region);
    switch (random.nextInt(3)) {
      case 0 -> {
        world.kill(region);
        world.table.settle();
        world.lose(region);
      }
      case 1 -> {
        hasLost = true;
        world.kill(region);
        world.lose(region);
      }
      default -> {
        hasLost = true;
        world.cutOffForEver(region);
      }
    }
  }

  private void tryToRetire(RegionWorld.Region operator, Set<Integer> lost) {
    operator.startKeeper(isOver);
    for (int i = 0; i < 60 && !isOver.getAsBoolean(); i++) {
      for (int region : List.copyOf(lost)) {
        if (region != operator.number()) {
          retire(operator, region, Set.of());
        }
      }
      operator.pause(Duration.ofSeconds(30));
    }
  }

  boolean retire(RegionWorld.Region operator, int region, Set<String> destroyed) {
    try {
      operator.counters().retire(world.name(region), destroyed);
      return true;
    } catch (IllegalStateException | QuipuException e) {
      return false; // again later
    }
  }
}
