package dev.quipu.testkit.technique;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.sequence.Revision;
import dev.quipu.sequence.Revision.Kind;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.RevisionLog.Rejected;
import dev.quipu.sequence.RevisionLog.Written;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.testkit.ConcurrentClients;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of {@link RevisionLog} on every store with strong reads and ordered scans. */
public abstract class RevisionsContract extends EmptyStoreFixture {
  private static final String SERIES = "customers, with 数";

  private RevisionLog log;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // JUnit calls openLog before each test
  protected RevisionsContract() {}

  @BeforeEach
  final void openLog() {
    assumeTrue(driver.profile().has(Capability.STRONG_READ), "no strong reads");
    assumeTrue(driver.profile().has(Capability.ORDERED_SCAN), "no ordered scans");
    log = new RevisionLog(store);
  }

  @Test
  final void insertsUpdatesAndDeletes() {
    assertEquals(0, log.count(SERIES));
    assertEquals(Optional.empty(), log.newest(SERIES));
    assertEquals(new Written(1, 1), log.write(SERIES, "ann", Kind.INSERT, "a"));
    assertEquals(new Rejected(true, 1), log.write(SERIES, "ann", Kind.INSERT, "b"));
    assertEquals(new Rejected(false, 1), log.write(SERIES, "bob", Kind.UPDATE, "b"));
    assertEquals(new Rejected(false, 1), log.write(SERIES, "bob", Kind.DELETE, ""));
    assertEquals(new Written(2, 2), log.write(SERIES, "bob", Kind.INSERT, "b"));
    assertEquals(new Written(3, 2), log.write(SERIES, "ann", Kind.UPDATE, "c"));
    assertEquals("c", log.current(SERIES, "ann").orElseThrow().payload());
    assertEquals(new Written(4, 1), log.write(SERIES, "ann", Kind.DELETE, ""));
    assertEquals(Optional.empty(), log.current(SERIES, "ann"));
    assertEquals(new Written(5, 2), log.write(SERIES, "ann", Kind.INSERT, "d"));
    assertEquals(2, log.count(SERIES));
    assertEquals(0, log.count("others"));
  }

  /** An update is a new revision, and the earlier ones stay. */
  @Test
  final void everyRevisionIsKept() {
    log.write(SERIES, "ann", Kind.INSERT, "a");
    log.write(SERIES, "ann", Kind.UPDATE, "b");
    log.write(SERIES, "ann", Kind.DELETE, "");
    for (int number = 1; number <= 3; number++) {
      Revision revision = log.revision(SERIES, number).orElseThrow();
      assertEquals(List.of(Kind.INSERT, Kind.UPDATE, Kind.DELETE).get(number - 1), revision.kind());
      assertEquals("ann", revision.entity());
      assertEquals(number == 1 ? "a" : number == 2 ? "b" : "", revision.payload());
      assertEquals(number == 3 ? 0 : 1, revision.count());
      assertEquals(clock.epochMillis(), revision.at().toEpochMilli());
    }
    assertEquals(Optional.empty(), log.revision(SERIES, 4));
    assertEquals(Optional.empty(), log.revision(SERIES, 0));
  }

  @Test
  final void theCountIsOneRead() {
    for (int i = 0; i < 30; i++) {
      log.write(SERIES, "entity " + i, Kind.INSERT, "");
    }
    long before = store.statistics().calls();
    assertEquals(30, log.count(SERIES));
    assertEquals(before + 1, store.statistics().calls());
  }

  /** A writer whose number is taken computes its number and the count again. */
  @Test
  final void theCountOfManyWritersIsThatOfTheirRevisions() throws Exception {
    ConcurrentClients.run(
        8,
        client -> {
          RevisionLog own = client % 2 == 0 ? log : new RevisionLog(store);
          for (int i = 0; i < 4; i++) {
            Kind kind = i == 3 ? Kind.DELETE : i == 2 ? Kind.UPDATE : Kind.INSERT;
            String entity = "entity " + (i == 1 ? "of all" : client);
            own.write(SERIES, entity, kind, client + "/" + i);
          }
          return 0;
        });
    Revision newest = log.newest(SERIES).orElseThrow();
    assertEquals(8 + 1 + 8 + 8, newest.number());
    assertEquals(1, newest.count());
    Set<String> there = new HashSet<>();
    for (long number = 1; number <= newest.number(); number++) {
      Revision revision = log.revision(SERIES, number).orElseThrow();
      boolean isNew = revision.kind() == Kind.INSERT;
      assertEquals(!isNew, there.contains(revision.entity()), revision::toString);
      if (isNew) {
        there.add(revision.entity());
      } else if (revision.kind() == Kind.DELETE) {
        there.remove(revision.entity());
      }
      assertEquals(there.size(), revision.count(), revision::toString);
    }
    assertTrue(log.current(SERIES, "entity of all").isPresent());
  }

  @Test
  final void valuesOutsideTheLimitsAreRejected() {
    String tooLong = "x".repeat(SequenceOfRecords.PAYLOAD_BYTES_MAX + 1);
    assertThrows(
        IllegalArgumentException.class, () -> log.write(SERIES, "ann", Kind.INSERT, tooLong));
    assertThrows(IllegalArgumentException.class, () -> log.write(SERIES, "", Kind.INSERT, ""));
    assertThrows(IllegalArgumentException.class, () -> log.write("", "ann", Kind.INSERT, ""));
    assertEquals(0, log.count(SERIES));
  }
}
