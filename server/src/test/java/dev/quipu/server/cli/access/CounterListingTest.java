package dev.quipu.server.cli.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Limits;
import dev.quipu.Quipu;
import dev.quipu.server.http.HttpOptions;
import dev.quipu.server.http.HttpServer;
import dev.quipu.server.http.route.Services;
import dev.quipu.store.Key;
import dev.quipu.time.Clock;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Listings over HTTP of a server on the engine, while counters are added and deleted. */
final class CounterListingTest {
  private static final int COUNTERS = 5 * Limits.PAGE_COUNTERS_MAX / 2;

  @TempDir Path directory;
  private Quipu quipu;
  private HttpServer server;
  private RemoteAccess access;
  private final Map<String, Long> permanent = new TreeMap<>(Key.ORDER);

  @BeforeEach
  void start() throws Exception {
    quipu = Quipu.builder().directory(directory).build();
    HttpOptions options = HttpOptions.defaults().at("127.0.0.1", 0, Optional.empty(), false);
    server = HttpServer.start(options, Services.of(quipu, "test"), Clock.system());
    access =
        new RemoteAccess(
            URI.create("http://127.0.0.1:" + server.address().getPort()), Optional.empty());
    for (int i = 0; i < COUNTERS; i++) {
      permanent.put("page/%05d".formatted(i), i + 1L);
    }
    permanent.put("\"quoted\"\\", 1L);
    permanent.put("\u00e4\uD83D\uDE00", Long.MAX_VALUE);
    permanent.put("negative", Long.MIN_VALUE);
    List<Add> adds = new ArrayList<>();
    permanent.forEach((name, value) -> adds.add(new Add(name, value, null)));
    for (int from = 0; from < adds.size(); from += Limits.PAGE_COUNTERS_MAX) {
      int to = Math.min(from + Limits.PAGE_COUNTERS_MAX, adds.size());
      quipu
          .counters()
          .addAll(adds.subList(from, to))
          .forEach(each -> assertTrue(each.result().isApplied()));
    }
  }

  @AfterEach
  void stop() throws Exception {
    access.close();
    server.close();
    quipu.close();
  }

  private List<CounterPage.Entry> listed(String prefix, long limit) {
    List<CounterPage.Entry> entries = new ArrayList<>();
    new CounterListing(access, prefix).forEachPage(limit, entries::addAll);
    return entries;
  }

  private static Map<String, Long> values(List<CounterPage.Entry> entries) {
    Map<String, Long> values = new TreeMap<>(Key.ORDER);
    for (CounterPage.Entry each : entries) {
      assertEquals(each.reading().value(), each.reading().low());
      assertEquals(each.reading().value(), each.reading().high());
      assertEquals(null, values.put(each.name(), each.reading().value()), each.name());
    }
    return values;
  }

  @Test
  void allCountersAreListedOnce() {
    List<CounterPage.Entry> entries = listed("", Long.MAX_VALUE);
    assertEquals(permanent, values(entries));
    assertEquals(
        List.copyOf(permanent.keySet()), entries.stream().map(CounterPage.Entry::name).toList());
  }

  @Test
  void limitAndPrefixHold() {
    for (int limit : new int[] {0, 1, 999, 1_000, 1_001, COUNTERS - 1, COUNTERS}) {
      List<CounterPage.Entry> entries = listed("page/", limit);
      assertEquals(limit, entries.size());
      assertTrue(entries.stream().allMatch(each -> each.name().startsWith("page/")));
    }
    assertEquals(COUNTERS, listed("page/", Long.MAX_VALUE).size());
    assertEquals(List.of(), listed("missing", 10));
  }

  /** Half of the changes precede the place of the listing, and half follow it. */
  @Test
  void countersThatExistThroughoutAreListedOnceWhileOthersComeAndGo() throws Exception {
    long seed = Long.getLong("seed", 20261129);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Counters counters = quipu.counters();
    Thread writer =
        Thread.ofVirtual()
            .start(() -> {
              for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
                change(counters, "page/%05d+".formatted(i % COUNTERS), i % 2 == 0);
              }
            });
    try {
      for (int round = 0; round < 3; round++) {
        List<CounterPage.Entry> entries = new ArrayList<>();
        new CounterListing(access, "")
            .forEachPage(
                Long.MAX_VALUE,
                page -> {
                  entries.addAll(page);
                  for (int i = 0; i < 200; i++) { // while the next page is read
                    String name = "page/%05d-".formatted(random.nextInt(COUNTERS));
                    change(counters, name, random.nextBoolean());
                  }
                });
        Map<String, Long> found = values(entries);
        for (int i = 1; i < entries.size(); i++) {
          assertTrue(
              Key.ORDER.compare(entries.get(i - 1).name(), entries.get(i).name()) < 0,
              entries.get(i).name());
        }
        found.keySet().removeIf(name -> name.endsWith("-") || name.endsWith("+"));
        assertEquals(permanent, found);
      }
    } finally {
      writer.interrupt();
      writer.join();
    }
  }

  private static void change(Counters counters, String name, boolean adds) {
    if (adds) {
      assertTrue(counters.add(new Add(name, 1, null)).isApplied());
    } else {
      counters.delete(name);
    }
  }

  @Test
  void anActionThatFailsEndsTheListing() {
    List<Integer> pages = new ArrayList<>();
    UncheckedIOException failure = new UncheckedIOException("full", new java.io.IOException());
    UncheckedIOException thrown =
        assertThrows(
            UncheckedIOException.class,
            () ->
                new CounterListing(access, "")
                    .forEachPage(
                        Long.MAX_VALUE,
                        page -> {
                          pages.add(page.size());
                          throw failure;
                        }));
    assertNotNull(thrown);
    assertEquals(List.of(Limits.PAGE_COUNTERS_MAX), pages);
  }
}
