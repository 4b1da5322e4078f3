package dev.quipu.testkit.scenario;

import dev.quipu.hits.VersionTree;
import dev.quipu.hits.VersionTreeOptions;
import dev.quipu.hits.VersionTrees;
import dev.quipu.layer.Store;
import dev.quipu.simulation.steps.LinkFaults;
import dev.quipu.store.StoreDriver.Consistency;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** A version tree that is pruned and folded while it is used. */
final class VersionTreeRun extends LogRun<VersionTree> {
  private static final Duration SETTLE = Duration.ofMinutes(6);
  private static final VersionTreeOptions OPTIONS =
      VersionTreeOptions.DEFAULT.over(2).settling(SETTLE, SETTLE.plusMinutes(2));

  VersionTreeRun(long seed, LinkFaults faults, Duration skew) {
    this(new World(seed, faults, skew, World.Limit.NONE));
  }

  private VersionTreeRun(World world) {
    super(world, SETTLE, Duration.ZERO, store -> both(store, world.random));
  }

  private static Both<VersionTree> both(Store store, RandomGenerator random) {
    return new Both<>(
        new VersionTree(store, random, OPTIONS),
        new VersionTree(store, random, OPTIONS.reading(Consistency.EVENTUAL)));
  }

  @Override
  void maintain(Client<Both<VersionTree>> client) {
    client.own().strong().prune(COUNTER);
  }

  @Override
  void drain(Client<Both<VersionTree>> client) {
    for (int i = 0; i < 8; i++) {
      sleep(client, SETTLE);
      client.own().strong().prune(COUNTER);
    }
    for (VersionTrees tree : client.own().strong().trees(COUNTER).values()) {
      int left = tree.nodes().size() + tree.goneValues().size() + tree.goneRoots().size();
      world.check(left == 0, "%d values or roots stay", left);
    }
  }
}
