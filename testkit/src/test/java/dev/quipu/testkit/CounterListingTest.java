package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.CounterPage;
import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.store.Key;
import dev.quipu.technique.AtomicAdd;
import dev.quipu.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The directory of names: where they are written, and how many calls a page takes. */
class CounterListingTest {
  private final RecordingDriver calls = new RecordingDriver(new MemoryDriver());
  private final AtomicAdd counters = new AtomicAdd(new Store(calls, Clock.system()));

  /** Adds another number to each counter, and returns the expected listing. */
  private Map<String, Long> added(List<String> names) {
    Map<String, Long> expected = new TreeMap<>(Key.ORDER);
    for (int i = 0; i < names.size(); i++) {
      assertTrue(counters.add(new Add(names.get(i), i + 1, null)).isApplied());
      expected.put(names.get(i), i + 1L);
    }
    return expected;
  }

  private static List<String> names(int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add("page/" + i);
    }
    return names;
  }

  private static Map<String, Long> values(CounterPage page) {
    Map<String, Long> found = new TreeMap<>(Key.ORDER);
    page.counters().forEach(entry -> found.put(entry.name(), entry.reading().value()));
    return found;
  }

  @Test
  void namesAreSpreadEvenlyOverPartitions() {
    added(names(1_600));
    Map<String, Integer> written = new HashMap<>();
    for (String call : calls.calls()) {
      if (call.startsWith("write counters/")) {
        written.merge(call.substring(0, call.indexOf("/page")), 1, Integer::sum);
      }
    }
    assertEquals(8, written.size(), written::toString);
    for (int each : written.values()) {
      assertTrue(each > 140 && each < 260, written::toString); // 200 each if they were even
    }
  }

  @Test
  void aKnownNameIsWrittenOnce() {
    added(List.of("a", "a", "a"));
    assertEquals(1, calls.callsOf("write counters/"));
  }

  @Test
  void aPageIsReadInBatches() {
    Map<String, Long> expected = added(names(1_500));
    calls.calls();
    CounterPage page = counters.list("", "", 1_000);
    List<String> made = calls.calls();
    assertEquals(0, made.stream().filter(call -> call.startsWith("get page")).count());
    assertEquals(11, made.stream().filter(call -> call.startsWith("get each")).count());
    long scans = made.stream().filter(call -> call.startsWith("scan")).count();
    assertTrue(scans >= 8 && scans <= 16, () -> scans + " scans");
    assertEquals(made.size(), 11 + scans, made::toString);
    Map<String, Long> found = new TreeMap<>(Key.ORDER);
    found.putAll(values(page));
    CounterPage last = counters.list("", page.resumeAfter().orElseThrow(), 1_000);
    assertEquals(Optional.empty(), last.resumeAfter());
    found.putAll(values(last));
    assertEquals(expected, found);
    assertEquals(1_500, page.counters().size() + last.counters().size());
  }

  @Test
  void aPageEndsAtThePrefixAndSkipsCountersWithoutANumber() {
    List<String> names = new ArrayList<>(names(40));
    names.addAll(List.of("page", "pagf", "a", "\uD83D\uDE00", "\uFFFD"));
    Map<String, Long> expected = added(names);
    assertEquals(List.copyOf(expected.keySet()), listed("", 7));
    expected.keySet().removeIf(name -> !name.startsWith("page/"));
    for (int i = 0; i < 40; i += 3) {
      counters.delete("page/" + i);
      expected.remove("page/" + i);
    }
    for (int limit : List.of(1, 2, 13, expected.size() - 1, expected.size(), 1_000)) {
      assertEquals(List.copyOf(expected.keySet()), listed("page/", limit), "limit " + limit);
    }
  }

  @Test
  void countersAddedWhileItIsListedDisplaceNone() {
    Map<String, Long> expected = added(names(300));
    List<String> found = new ArrayList<>();
    String after = "";
    for (int i = 0; ; i++) {
      CounterPage page = counters.list("", after, 10);
      page.counters().forEach(entry -> found.add(entry.name()));
      if (page.resumeAfter().isEmpty()) {
        break;
      }
      after = page.resumeAfter().get();
      assertTrue(counters.add(new Add(after + "-later", 1, null)).isApplied()); // on the next page
      assertTrue(counters.add(new Add("early/" + i, 1, null)).isApplied()); // on one before
      expected.put(after + "-later", 1L);
    }
    assertEquals(List.copyOf(expected.keySet()), found);
  }

  private List<String> listed(String prefix, int limit) {
    List<String> found = new ArrayList<>();
    String after = "";
    while (true) {
      CounterPage page = counters.list(prefix, after, limit);
      page.counters().forEach(entry -> found.add(entry.name()));
      if (page.resumeAfter().isEmpty()) {
        return found;
      }
      after = page.resumeAfter().get();
    }
  }
}
