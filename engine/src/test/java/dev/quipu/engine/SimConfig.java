package dev.quipu.engine;

import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.ScaleRules;
import dev.quipu.engine.history.HistoryRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** The configuration that a seed selects: a random subset of operations, faults and sizes. */
final class SimConfig {
  /** Minimum number of calls of one run. */
  static final int OPERATIONS = 200;

  private static final long[] WINDOWS_SECONDS = {60, 3_600, 86_400};
  private static final long[] DEADLINES_MILLIS = {50, 10_000, 86_400_000};

  private static final List<SimOperations.Kind> CHURN =
      List.of(
          SimOperations.Kind.SET_MANY,
          SimOperations.Kind.REMOVE_MANY,
          SimOperations.Kind.EXPIRE_MANY,
          SimOperations.Kind.SET,
          SimOperations.Kind.REMOVE);

  final boolean churns;
  final int counters;
  final int ids;
  final int items;
  final int textBytesMax;
  final int clients;
  final int processes;
  final int switchOneIn;
  final int addsMax;
  final List<SimOperations.Kind> kinds = new ArrayList<>();
  final boolean hasBounds;
  final boolean hasLargeDeltas;
  final boolean hasInterrupts;
  final boolean jumps;
  final boolean throwsErrors;
  final boolean hasDiskErrors;
  final boolean getsFull;
  final boolean cutsPower;
  final boolean passesTime;
  final int leapOneIn;
  final boolean thinks;
  final int switchAtSites;
  final int checkpointOneIn;
  final int sweepOneIn;
  final long windowMillis;
  final boolean isSynced;
  final boolean transacts;
  final EngineOptions options;
  private final String[] names;

  SimConfig(SplittableRandom random, SimClock clock) {
    churns = random.nextInt(8) == 0; // counters are created and removed, and few of them have ids
    // From 32 on, snapshots may refer to a file of counters.
    counters = churns ? 80 : random.nextInt(5) == 0 ? 40 : 1 + random.nextInt(8);
    ids = 2 + random.nextInt(30);
    items = random.nextBoolean() ? 0 : 1 + random.nextInt(8);
    boolean isBulky = random.nextInt(3) == 0;
    textBytesMax = isBulky ? 9_000 : 20;
    clients = 1 + random.nextInt(4);
    processes = 2 + random.nextInt(4);
    switchOneIn = random.nextInt(3) == 0 ? 4 : 1;
    addsMax = random.nextInt(4) == 0 ? 250 : 4;
    hasBounds = random.nextBoolean();
    hasLargeDeltas = random.nextInt(4) == 0;
    hasInterrupts = random.nextInt(3) == 0;
    jumps = random.nextInt(3) == 0;
    throwsErrors = random.nextInt(3) == 0;
    hasDiskErrors = random.nextInt(3) == 0;
    getsFull = random.nextInt(4) == 0;
    cutsPower = random.nextBoolean();
    passesTime = random.nextBoolean();
    switchAtSites = random.nextBoolean() ? 0 : 20 << random.nextInt(7);
    thinks = random.nextBoolean();
    leapOneIn = random.nextBoolean() ? 12 : 150;
    boolean isGradual = churns && random.nextBoolean(); // few counters change between snapshots
    checkpointOneIn = isGradual ? 4 : random.nextBoolean() ? 12 : 80;
    sweepOneIn = churns ? 5 : random.nextBoolean() ? 12 : 200;
    windowMillis = 1_000 * WINDOWS_SECONDS[random.nextInt(WINDOWS_SECONDS.length)];
    long deadline = DEADLINES_MILLIS[random.nextInt(DEADLINES_MILLIS.length)];
    for (SimOperations.Kind kind : EnumSet.allOf(SimOperations.Kind.class)) {
      if (!churns && random.nextInt(3) > 0) {
        kinds.add(kind);
      }
    }
    if (isGradual) {
      kinds.add(SimOperations.Kind.SET_MANY);
      for (int i = 0; i < 10; i++) {
        kinds.add(SimOperations.Kind.SET);
        kinds.add(SimOperations.Kind.REMOVE);
      }
    } else if (churns) {
      kinds.addAll(CHURN);
    } else if (kinds.isEmpty()) {
      kinds.add(SimOperations.Kind.ADD_ONCE);
    }
    if (isBulky) {
      kinds.add(SimOperations.Kind.SET_TEXT);
      kinds.add(SimOperations.Kind.SET_TEXT);
    }
    names = new String[counters];
    for (int i = 0; i < counters; i++) {
      names[i] = i % 7 == 3 ? "zähler-" + i : "counter-" + i;
    }
    Durability durability =
        switch (random.nextInt(6)) {
          case 0 -> Durability.NONE;
          case 1 -> new Durability.Interval(Duration.ofMillis(1 + random.nextInt(2_000)));
          default -> Durability.FSYNC;
        };
    transacts = random.nextInt(3) == 0;
    isSynced = durability.equals(Durability.FSYNC);
    int idsInMemory = 16 + random.nextInt(30);
    options =
        new EngineOptions(
            Duration.ofMillis(windowMillis),
            1 << 16,
            1 << 16,
            idsInMemory,
            idsInMemory % 3 == 0 ? 1 << 20 : 0, // others look most ids up in files
            random.nextInt(6) == 0 ? (64 << 10) + random.nextInt(64 << 10) : 1 << 30,
            durability,
            Duration.ofMillis(deadline),
            clock,
            ScaleRules.none(),
            random.nextInt(3) == 0
                ? Optional.of(HistoryRules.parse("*=minute:2d,hour:9d,day@Europe/Berlin:1y"))
                : Optional.empty());
  }

  /** Returns the names of all counters. */
  List<String> names() {
    return List.of(names);
  }

  String counter(SplittableRandom random) {
    return names[random.nextInt(counters)];
  }

  long id(SplittableRandom random) {
    return random.nextInt(ids);
  }

  RequestId request(long id) {
    return RequestId.of(id, 77);
  }

  /** Returns the delta that most requests under an id have: repeats outnumber conflicts. */
  long delta(SplittableRandom random, long id) {
    return random.nextInt(4) == 0 ? delta(random) : 1 + id % 5;
  }

  long delta(SplittableRandom random) {
    if (hasLargeDeltas && random.nextInt(8) == 0) {
      return random.nextBoolean() ? Long.MAX_VALUE - random.nextInt(3) : Long.MIN_VALUE + 1;
    }
    int delta = random.nextInt(-3, 8);
    return delta == 0 ? 1 : delta;
  }

  Bounds bounds(SplittableRandom random, long id) {
    return hasBounds && (id % 3 == 0 || random.nextInt(6) == 0)
        ? Bounds.between(-2 - id % 2, random.nextInt(9) == 0 ? 21 : 200 * (1 + id % 2))
        : Bounds.none();
  }

  /** Returns the milliseconds until a counter expires: soon, late, or in the past. */
  long expiry(long choice) {
    return switch ((int) (choice % 4)) {
      case 0 -> choice % 40;
      case 1 -> choice % 5_000;
      case 2 -> windowMillis / 4 + choice % windowMillis;
      default -> -(choice % 50);
    };
  }
}
