package dev.quipu.testkit.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Measure;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.store.group.Group;
import dev.quipu.store.group.GroupCommit;
import dev.quipu.store.group.Member;
import dev.quipu.store.group.Sum;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * Random adds of many callers, with and without markers, to one number, whose store fails at
 * random: before and after it has applied a group, and partly. The store records each application;
 * all results must agree with the record.
 */
final class GroupCommitRandomTest {
  private static final Key KEY = new Key("p", "value");
  private static final int CALLERS = 16;
  private static final int CALLS = 400; // of each caller
  private static final int IDS = 1_500;

  /** One call, and how often it was applied. */
  private static final class Call {
    private final List<Write> writes;
    private int applied;
    private long valueAfter;
    private String result = "";

    Call(List<Write> writes) {
      this.writes = writes;
    }
  }

  /** A table in memory that fails at random. */
  private static final class RandomTable implements GroupCommit.Table {
    private final RandomGenerator random;
    private final IdentityHashMap<List<Write>, Call> calls = new IdentityHashMap<>();
    private final Map<Key, Item> markers = new HashMap<>();
    private BigInteger value = BigInteger.ZERO;

    RandomTable(RandomGenerator random) {
      this.random = random;
    }

    synchronized Call begin(List<Write> writes) {
      Call call = new Call(writes);
      calls.put(writes, call);
      return call;
    }

    @Override
    public boolean accepts(Member member) {
      return true;
    }

    /** Decides by the sum of the group, or each member in order, or leaves some to be separate. */
    @Override
    public synchronized List<Optional<WriteResult>> write(Group group) {
      int chance = random.nextInt(20);
      failBefore(chance);
      List<Optional<WriteResult>> results =
          random.nextBoolean() ? bySum(group) : each(group.members());
      failAfter(chance);
      return results;
    }

    private void failBefore(int chance) {
      if (chance == 10) { // others arrive in the meantime
        try {
          Clock.system().sleep(Duration.ofNanos(50_000));
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      switch (chance) {
        case 0 -> throw new NotAppliedException(Reason.THROTTLED, "injected");
        case 1 -> throw new NotAppliedException(Reason.INVALID, "injected");
        case 2 -> throw new OutcomeUnknownException(Reason.TIMEOUT, "injected", null);
        default -> {
          // goes on
        }
      }
    }

    private void failAfter(int chance) {
      if (chance == 3 || chance == 4) {
        throw new OutcomeUnknownException(Reason.UNAVAILABLE, "injected", null);
      }
    }

    private List<Optional<WriteResult>> bySum(Group group) {
      Set<Key> inserted = new HashSet<>();
      group.markers().forEach(each -> inserted.add(each.key()));
      inserted.removeAll(markers.keySet());
      Map<Key, Item> existing = new HashMap<>();
      for (Key each : group.markersOutside(inserted)) {
        existing.put(each, markers.get(each));
      }
      Optional<Sum> sum = group.sum(inserted);
      if (sum.isEmpty() || !sum.get().allows(value.longValueExact())) {
        return group.results(inserted, Optional.empty(), existing);
      }
      for (Member each : group.members()) {
        if (each.markerKey().map(inserted::contains).orElse(true)) {
          apply(each.writes());
        }
      }
      return group.results(inserted, Optional.of(number()), existing);
    }

    private List<Optional<WriteResult>> each(List<Member> members) {
      List<Optional<WriteResult>> results = new ArrayList<>();
      for (Member each : members) {
        results.add(
            random.nextInt(10) == 0 ? Optional.empty() : Optional.of(execute(each.writes())));
      }
      return results;
    }

    @Override
    public synchronized WriteResult alone(List<Write> writes) {
      int chance = random.nextInt(20);
      failBefore(chance);
      WriteResult result = execute(writes);
      failAfter(chance);
      return result;
    }

    private WriteResult execute(List<Write> writes) {
      if (writes.size() == 2) {
        Item found = markers.get(writes.getFirst().key());
        if (found != null) {
          return new WriteResult.ConditionFailed(found.key(), Optional.of(found));
        }
      }
      if (!isWithin(value.add(delta(writes)), writes)) {
        return new WriteResult.ConditionFailed(KEY, Optional.of(number()));
      }
      apply(writes);
      return new WriteResult.Applied(Optional.of(number()));
    }

    private Item number() {
      return new Item(
          KEY,
          Map.of(Item.VALUE, new Field.Number(value.longValueExact())),
          new Version(value.toString()),
          Optional.empty());
    }

    /** Applies the writes of a call, which must be allowed, and records it. */
    private void apply(List<Write> writes) {
      value = value.add(delta(writes));
      assertTrue(isWithin(value, writes), () -> value + " violates " + writes);
      if (writes.size() == 2 && writes.getFirst() instanceof Write.Put put) {
        Item marker = new Item(put.key(), put.fields(), new Version("m"), Optional.empty());
        assertEquals(null, markers.put(put.key(), marker), "applied twice");
      }
      Call call = calls.get(writes);
      assertTrue(call != null, "unknown call");
      call.applied++;
      call.valueAfter = value.longValueExact();
    }
  }

  private static BigInteger delta(List<Write> writes) {
    return writes.getLast() instanceof Write.Update update
            && update.changes().getFirst() instanceof Change.Add add
        ? BigInteger.valueOf(add.delta())
        : BigInteger.ZERO;
  }

  private static boolean isWithin(BigInteger value, List<Write> writes) {
    long min = Long.MIN_VALUE;
    long max = Long.MAX_VALUE;
    if (writes.getLast().condition() instanceof Condition.Within within) {
      min = within.min();
      max = within.max();
    }
    return value.compareTo(BigInteger.valueOf(min)) >= 0
        && value.compareTo(BigInteger.valueOf(max)) <= 0;
  }

  private static List<Write> writes(RandomGenerator random) {
    long delta =
        switch (random.nextInt(12)) {
          case 0 -> Long.MAX_VALUE - random.nextInt(3);
          case 1 -> Long.MIN_VALUE + random.nextInt(3);
          default -> random.nextInt(-5, 6);
        };
    Condition condition =
        switch (random.nextInt(4)) {
          case 0 -> new Condition.Within(Item.VALUE, 0, Long.MAX_VALUE);
          case 1 -> new Condition.Within(Item.VALUE, -20, random.nextInt(0, 40));
          default -> Condition.always();
        };
    Write add = new Write.Update(KEY, List.of(new Change.Add(Item.VALUE, delta)), condition);
    if (random.nextInt(4) == 0) {
      return new ArrayList<>(List.of(add)); // a list of its own identifies the call
    }
    Key marker = new Key("p", "request/" + random.nextInt(IDS));
    Write put = new Write.Put(marker, Map.of(), new Condition.Absent());
    return new ArrayList<>(List.of(put, add));
  }

  @Test
  void eachResultAgreesWithWhatWasApplied() throws Exception {
    long seed = Long.getLong("seed", 5);
    System.out.println("GroupCommitRandomTest: seed " + seed);
    for (int lanes = 1; lanes <= 3; lanes++) {
      for (int round = 0; round < 8; round++) {
        run(lanes, seed + round);
      }
    }
  }

  private static void run(int lanes, long seed) throws Exception {
    RandomTable table = new RandomTable(Randomness.seeded(seed));
    GroupCommit groups = new GroupCommit("table", table, lanes, 12, Progress.STALL_MAX);
    List<Call> calls = new ArrayList<>();
    try (ExecutorService executor = Executors.newFixedThreadPool(CALLERS)) {
      List<Future<List<Call>>> running = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        RandomGenerator random = Randomness.seeded(seed * CALLERS + i);
        running.add(executor.submit(() -> calls(table, groups, random)));
      }
      for (Future<List<Call>> each : running) {
        calls.addAll(each.get());
      }
    }
    Map<Measure, Long> measures = groups.measures();
    long adds = measures.getOrDefault(Measure.FOLDED_ADDS, 0L);
    long writes = measures.getOrDefault(Measure.FOLDED_WRITES, 0L);
    assertTrue(
        writes < adds,
        () -> "%d lanes, seed %d: %d groups of %d".formatted(lanes, seed, writes, adds));
    BigInteger sum = BigInteger.ZERO;
    for (Call each : calls) {
      String text =
          "seed %d: %s: %s, applied %d".formatted(seed, each.writes, each.result, each.applied);
      assertTrue(each.applied <= 1, text);
      switch (each.result) {
        case "UNKNOWN" -> {
          // both are right
        }
        case "NOT_APPLIED", "unmet" -> assertEquals(0, each.applied, text);
        default -> assertEquals(each.valueAfter + " 1", each.result + " " + each.applied, text);
      }
      if (each.applied == 1) {
        sum = sum.add(delta(each.writes));
      }
    }
    assertEquals(table.value, sum, "seed " + seed);
  }

  private static List<Call> calls(RandomTable table, GroupCommit groups, RandomGenerator random) {
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      Call call = table.begin(writes(random));
      calls.add(call);
      try {
        call.result =
            switch (groups.write(call.writes)) {
              case WriteResult.Applied applied ->
                  "" + applied.after().orElseThrow().number(Item.VALUE);
              case WriteResult.ConditionFailed failed -> "unmet";
            };
      } catch (QuipuException e) {
        call.result = e.outcome() == Outcome.UNKNOWN ? "UNKNOWN" : "NOT_APPLIED";
      }
    }
    return calls;
  }
}
