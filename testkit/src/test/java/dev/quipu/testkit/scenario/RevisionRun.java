package dev.quipu.testkit.scenario;

import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.simulation.steps.LinkFaults;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One seed of entities that are created, changed and deleted, and whose count is in the newest
 * revision.
 */
final class RevisionRun {
  private static final String SERIES = "series";
  private static final int OPERATIONS = 220;
  private static final int ENTITIES = 6;
  private static final List<Revision.Kind> KINDS = List.of(Revision.Kind.values());

  private final World world;
  private final Map<Long, String> written = new HashMap<>();
  private int operations;
  private int payloads;

  private RevisionRun(long seed) {
    this.world =
        new World(seed, LinkFaults.ALL.repeating(0.01), Duration.ofMinutes(5), World.Limit.NONE);
  }

  /** Runs a seed; returns the violations. */
  static List<String> run(long seed) {
    RevisionRun run = new RevisionRun(seed);
    return run.world.checked(run::run);
  }

  private void run() {
    for (int i = 0; i < 3; i++) {
      RevisionLog[] log = new RevisionLog[1];
      world.process(
          2, store -> log[0] = new RevisionLog(store, world.random), () -> client(log[0]));
    }
    world.run();
    world.calmly(store -> settle(new RevisionLog(store, world.random)));
  }

  private void client(RevisionLog log) {
    while (operations++ < OPERATIONS && world.violations.isEmpty()) {
      World.quietly(() -> {
        if (world.random.nextInt(5) == 0) {
          read(log);
        } else {
          write(log);
        }
      });
    }
  }

  private long lastWritten() {
    return written.keySet().stream().mapToLong(each -> each).max().orElse(0);
  }

  private void read(RevisionLog log) {
    long least = lastWritten();
    long newest = log.newest(SERIES).map(Revision::number).orElse(0L);
    world.check(newest >= least, "the newest is %d, and %d was written", newest, least);
  }

  private void write(RevisionLog log) {
    String entity = "entity-" + world.random.nextInt(ENTITIES);
    Revision.Kind kind = KINDS.get(world.random.nextInt(KINDS.size()));
    String payload = "payload-" + payloads++;
    long least = lastWritten();
    if (log.write(SERIES, entity, kind, payload) instanceof RevisionLog.Written done) {
      world.check(done.number() > least, "revision %d was written after %d", done.number(), least);
      String other = written.put(done.number(), payload);
      world.check(other == null, "revision %d is %s and %s", done.number(), other, payload);
    }
  }

  private void settle(RevisionLog log) {
    long last = log.newest(SERIES).map(Revision::number).orElse(0L);
    Set<String> entities = new HashSet<>();
    Set<String> seen = new HashSet<>();
    for (long number = 1; number <= last; number++) {
      Optional<Revision> found = log.revision(SERIES, number);
      if (found.isEmpty()) {
        world.violation("revision %d is a gap, the newest is %d", number, last);
        return;
      }
      Revision revision = found.get();
      boolean isNew = revision.kind() == Revision.Kind.INSERT;
      world.check(
          entities.contains(revision.entity()) != isNew, "%s, among %s", revision, entities);
      if (isNew) {
        entities.add(revision.entity());
      } else if (revision.kind() == Revision.Kind.DELETE) {
        entities.remove(revision.entity());
      }
      world.check(revision.count() == entities.size(), "%s, among %s", revision, entities);
      world.check(seen.add(revision.payload()), "duplicate revision %s", revision);
      String known = written.getOrDefault(number, revision.payload());
      world.check(known.equals(revision.payload()), "%s was written as %s", revision, known);
    }
    world.check(lastWritten() <= last, "revision %d is gone", lastWritten());
    world.check(log.count(SERIES) == entities.size(), "the count is %d", log.count(SERIES));
    for (int i = 0; i < ENTITIES; i++) {
      String entity = "entity-" + i;
      boolean isThere =
          log.current(SERIES, entity)
              .filter(each -> each.kind() != Revision.Kind.DELETE)
              .isPresent();
      world.check(isThere == entities.contains(entity), "%s is there: %s", entity, isThere);
    }
  }
}
