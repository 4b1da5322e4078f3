package dev.quipu.testkit.scenario;

import dev.quipu.sequence.UniqueValues;
import dev.quipu.simulation.steps.LinkFaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Owners that take values and give them up. An owner keeps a value until it gives it up. */
final class UniqueValuesRun extends SharedRun<UniqueValues> {
  private static final String PROPERTY = "email";
  private static final int VALUES = 2;
  private static final List<String> OWNERS = List.of("ann", "bob", "cid");

  private final Map<String, Holding> holdings = new HashMap<>();
  private final Map<String, Long> losses = new HashMap<>(); // how often a value was given up
  private final List<String> asked = new ArrayList<>(); // owner and value of each put

  /** What is known about one owner and value. */
  private static final class Holding {
    int dropsRunning;
    long dropsSent;
    boolean isHeld; // acknowledged, and no drop was sent since the put was
  }

  UniqueValuesRun(long seed, LinkFaults faults, Duration skew) {
    super(
        new World(seed, faults, skew, World.Limit.NONE), Duration.ofMinutes(2), UniqueValues::new);
  }

  private Holding holding(String owner, String value) {
    return holdings.computeIfAbsent(owner + " " + value, key -> new Holding());
  }

  @Override
  void operation(Client<UniqueValues> client) {
    String value = "value " + random.nextInt(VALUES);
    String owner = OWNERS.get(random.nextInt(OWNERS.size()));
    int kind = random.nextInt(100);
    if (kind < 50) {
      put(client, value, owner);
    } else if (kind < 85) {
      drop(client, value, owner);
    } else {
      Optional<String> held = holder(value);
      long lost = lost(value);
      Optional<String> found = client.own().owner(PROPERTY, value);
      if (held.isPresent() && lost == lost(value)) {
        world.check(found.equals(held), "%s is of %s, not %s", value, held, found);
      }
    }
  }

  private long lost(String value) {
    return losses.getOrDefault(value, 0L);
  }

  /** Returns the certain owner of a value. */
  private Optional<String> holder(String value) {
    return OWNERS.stream().filter(owner -> holding(owner, value).isHeld).findFirst();
  }

  private void put(Client<UniqueValues> client, String value, String owner) {
    Holding holding = holding(owner, value);
    boolean wasHeld = holding.isHeld;
    boolean isQuiet = holding.dropsRunning == 0;
    long drops = holding.dropsSent;
    Optional<String> before = holder(value);
    long lost = lost(value);
    asked.add(owner + " " + value);
    switch (client.own().putUnique(PROPERTY, value, owner)) {
      case UniqueValues.Owned owned -> {
        boolean isOthers = before.isPresent() && lost == lost(value);
        world.check(
            !isOthers || before.equals(Optional.of(owner)),
            "%s is of %s and of %s",
            value,
            owner,
            before);
        holding.isHeld |= isQuiet && drops == holding.dropsSent;
      }
      case UniqueValues.OwnedByOther other -> {
        boolean isHeld = wasHeld && drops == holding.dropsSent;
        world.check(!isHeld, "%s was of %s and is of %s", value, owner, other.owner());
        world.check(asked.contains(other.owner() + " " + value), "%s never asked", other.owner());
      }
    }
  }

  private void drop(Client<UniqueValues> client, String value, String owner) {
    Holding holding = holding(owner, value);
    if (holding.isHeld) {
      holding.isHeld = false;
      losses.merge(value, 1L, Long::sum);
    }
    holding.dropsRunning++;
    holding.dropsSent++;
    try {
      client.own().drop(PROPERTY, value, owner);
    } finally {
      holding.dropsRunning--;
    }
  }

  @Override
  void settle(Client<UniqueValues> client) {
    for (int i = 0; i < VALUES; i++) {
      String value = "value " + i;
      Optional<String> held = holder(value);
      Optional<String> found = client.own().owner(PROPERTY, value);
      world.check(held.isEmpty() || held.equals(found), "%s is of %s, not %s", value, held, found);
      for (String owner : OWNERS) {
        client.own().drop(PROPERTY, value, owner);
      }
      world.check(client.own().owner(PROPERTY, value).isEmpty(), "%s is not free", value);
      for (String owner : OWNERS) {
        UniqueValues.Result result = client.own().putUnique(PROPERTY, value, owner);
        boolean isFirst = owner.equals(OWNERS.getFirst());
        world.check(result instanceof UniqueValues.Owned == isFirst, "%s: %s", owner, result);
      }
    }
  }
}
