package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.testkit.RegionSchedule.Process;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Regions with a replica restored from a backup, another plan, and sums near 64 bits. */
final class RegionStateTest {
  private static final Bounds QUOTA = Bounds.between(0, 300);

  private static void assertTells(RuntimeException e, String what) {
    assertTrue(String.valueOf(e.getMessage()).contains(what), e.toString());
  }

  @Test
  void aRestoredReplicaIsNoticedWithinABeat() {
    RegionSchedule schedule = new RegionSchedule(Bounds.atLeast(0), "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    Process eu = all.get(1);
    assertInstanceOf(AddResult.Applied.class, eu.add(100));
    Map<Key, Item> backup = schedule.replicas.get(1).copy();
    schedule.clock.advance(Duration.ofMinutes(2));
    all.forEach(each -> each.leases().renewIfDue());
    assertInstanceOf(AddResult.Applied.class, eu.add(-60));
    schedule.table.settle();
    schedule.replicas.get(1).setBack(backup); // a process continues, at 100
    schedule.clock.advance(Duration.ofMinutes(2));
    assertThrows(QuipuException.class, () -> eu.leases().renewIfDue());
    assertThrows(QuipuException.class, () -> eu.add(-1));
    Reading reading = all.get(0).read();
    assertTrue(reading.low() < reading.high(), reading.toString());
    assertNotEquals(List.of(), reading.uncertainties());
    assertThrows(QuipuException.class, () -> all.get(0).add(-1, "eu/x"));
  }

  @Test
  void othersNoticeARestoredReplicaWithoutProcesses() {
    RegionSchedule schedule = new RegionSchedule(Bounds.atLeast(0), "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(100));
    Map<Key, Item> backup = schedule.replicas.get(1).copy();
    all.get(1).leases().renew();
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(-60));
    schedule.table.settle();
    schedule.replicas.get(1).setBack(backup);
    all.get(0).leases().renew();
    Reading reading = all.get(0).read();
    assertTrue(reading.low() < reading.high(), reading.toString());
    assertEquals(40, reading.value());
    assertThrows(QuipuException.class, () -> all.get(0).add(-1, "eu/x"));
  }

  @Test
  void aServerWithOtherInitialRegionsIsRejected() {
    RegionSchedule schedule = new RegionSchedule(QUOTA, "ap", "eu", "us");
    List<Process> all = schedule.running("ap", "eu", "us");
    Process other = schedule.in("ap", List.of("ap"));
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(100));
    assertInstanceOf(AddResult.Applied.class, all.get(2).add(100));
    QuipuException e =
        assertThrows(
            QuipuException.class,
            () -> {
              other.leases().renew();
              other.add(300);
            });
    assertTells(e, "ap,eu,us");
    assertInstanceOf(AddResult.Applied.class, all.get(0).add(100));
    assertInstanceOf(AddResult.Rejected.class, all.get(0).add(1));
    assertEquals(Reading.exact(300), all.get(0).read());
  }

  @Test
  void sumsBeyond64BitsAreRead() {
    RegionSchedule schedule = new RegionSchedule(Bounds.none(), "ap", "eu");
    List<Process> all = schedule.running("ap", "eu");
    Process ap = all.get(0);
    for (int i = 0; i < 5; i++) {
      assertInstanceOf(AddResult.Applied.class, ap.add(Long.MAX_VALUE), "round " + i);
      assertInstanceOf(AddResult.Applied.class, ap.add(-Long.MAX_VALUE), "round " + i);
    }
    assertInstanceOf(AddResult.Applied.class, ap.add(1));
    assertEquals(Reading.exact(1), ap.read());
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(Long.MIN_VALUE));
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(Long.MAX_VALUE));
    assertEquals(Reading.exact(0), ap.read());
    assertInstanceOf(AddResult.Applied.class, all.get(0).add(Long.MAX_VALUE));
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(Long.MAX_VALUE));
    assertEquals(Long.MAX_VALUE, ap.read().value()); // beyond 64 bits, and still a reading
    assertInstanceOf(AddResult.Applied.class, all.get(1).add(-Long.MAX_VALUE));
    assertEquals(Reading.exact(Long.MAX_VALUE), ap.read());
  }

  @Test
  void transfersContinueIndefinitely() {
    RegionSchedule schedule = new RegionSchedule(Bounds.atLeast(0), "ap", "eu");
    List<Process> all = schedule.running("ap", "eu");
    long much = Long.MAX_VALUE / 2;
    for (int i = 0; i < 8; i++) {
      assertInstanceOf(AddResult.Applied.class, all.get(0).add(much), "round " + i);
      assertInstanceOf(AddResult.Applied.class, all.get(1).add(-much), "round " + i);
    }
    assertEquals(Reading.exact(0), all.get(0).read());
  }
}
