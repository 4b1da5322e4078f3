package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Counters;
import dev.quipu.Quipu;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.display.CacheFirst;
import dev.quipu.display.DisplayCounters;
import dev.quipu.display.DisplayReading;
import dev.quipu.display.DurableFirst;
import dev.quipu.store.Outcome;
import dev.quipu.store.Store;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.MarkerItem;
import dev.quipu.testservers.MemcachedServer;
import dev.quipu.testservers.RedisServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import dev.quipu.verify.pace.Progress;
import dev.quipu.verify.pace.Soak;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Views (in a soak a million) of a thousand pages on two real memcached servers, which are killed
 * three times, and a process that writes back, which is killed as well: what is durable is within
 * the bound, or exact, and every reader was told so.
 */
final class ShownIT {
  private static final int VIEWS = Soak.size(200_000, 1_000_000);
  private static final int PAGES = 1_000;
  private static final int FRONT_ENDS = 4;
  private static final int THREADS_EACH = 24;
  private static final int UNFLUSHED_MAX = 100;
  private static final List<Integer> KILLS = List.of(VIEWS / 5, VIEWS / 2, VIEWS * 4 / 5);
  private static final int READS_MIN = 1_000;
  private static final int FAILURES_BEFORE_RESTART = 200;
  private static final int VIEWS_BEFORE_RESTART = VIEWS / 20; // if nothing fails
  private static final Duration WINDOW = Duration.ofHours(24);
  private static final Duration LOOK = Duration.ofMillis(2);
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Optional<RequestId> NO_ID = Optional.empty();

  @TempDir Path temporary;
  private final List<MemcachedServer> caches = new ArrayList<>();
  private final Ledger ledger = new Ledger();

  @SuppressWarnings("NullAway.Init") // JUnit sets the directory
  ShownIT() {}

  @BeforeEach
  void startCaches() {
    for (int i = 0; i < 2; i++) {
      Optional<MemcachedServer> started = MemcachedServer.start();
      assumeTrue(started.isPresent(), "no memcached on this machine: ./dev deps installs it");
      caches.add(started.orElseThrow());
    }
  }

  @AfterEach
  void stopCaches() {
    caches.forEach(MemcachedServer::kill);
  }

  private String cache() {
    return "memcached://127.0.0.1:%d,127.0.0.1:%d?timeoutMillis=2000"
        .formatted(caches.get(0).port(), caches.get(1).port());
  }

  /** What clients began, what was answered, and what they do not know, by page. */
  private static final class Ledger {
    final AtomicLongArray begun = new AtomicLongArray(PAGES);
    final AtomicLongArray answered = new AtomicLongArray(PAGES);
    final AtomicLongArray unknown = new AtomicLongArray(PAGES);
    final AtomicLong done = new AtomicLong();
    final AtomicInteger failures = new AtomicInteger();
    final AtomicInteger reads = new AtomicInteger();
    final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();

    static long sum(AtomicLongArray of) {
      long sum = 0;
      for (int page = 0; page < PAGES; page++) {
        sum += of.get(page);
      }
      return sum;
    }
  }

  private static String name(int page) {
    return "page/" + page;
  }

  /** Views a page once, so that it counts or nobody knows. */
  private void view(DisplayCounters views, int page) throws InterruptedException {
    ledger.begun.incrementAndGet(page);
    while (true) {
      try {
        views.view(name(page), NO_ID);
        ledger.answered.incrementAndGet(page);
        return;
      } catch (StoreException e) {
        ledger.failures.incrementAndGet();
        if (e.outcome() == Outcome.UNKNOWN) {
          ledger.unknown.incrementAndGet(page);
          return;
        }
        Clock.system().sleep(PAUSE); // not counted: the browser tries again
      }
    }
  }

  private void load(DisplayCounters views, long seed) throws InterruptedException {
    RandomGenerator random = Randomness.seeded(seed);
    while (ledger.done.incrementAndGet() <= VIEWS) {
      view(views, random.nextInt(PAGES));
    }
  }

  /** Reads pages as long as they are viewed, and often enough; holds the answers to the ledger. */
  private void read(DisplayCounters views, long seed) throws InterruptedException {
    RandomGenerator random = Randomness.seeded(seed);
    while (ledger.done.get() <= VIEWS || ledger.reads.get() < READS_MIN) {
      int page = random.nextInt(PAGES);
      long before = ledger.answered.get(page);
      long start = Clock.system().epochMillis();
      try {
        Optional<DisplayReading> read = views.read(name(page));
        long after = ledger.begun.get(page);
        ledger.reads.incrementAndGet();
        read.ifPresent(reading -> check(page, reading, before, after, start));
      } catch (StoreException e) {
        ledger.failures.incrementAndGet();
      }
      Clock.system().sleep(LOOK);
    }
  }

  private void check(int page, DisplayReading reading, long before, long after, long start) {
    boolean old = reading.asOf().toEpochMilli() < start; // then more may have come since
    if (reading.low() > after || (!old && reading.high() < before)) {
      ledger.wrong.add(
          "page %d: %s, but %d were answered and %d begun".formatted(page, reading, before, after));
    }
  }

  /** Runs the load, and kills at the appointed numbers of views. */
  private void run(List<DisplayCounters> frontEnds, List<Runnable> accidents) throws Exception {
    Progress shown = new Progress("views and reads", () -> ledger.done.get() + ledger.reads.get());
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < frontEnds.size(); i++) {
        DisplayCounters views = frontEnds.get(i);
        for (int thread = 0; thread < THREADS_EACH; thread++) {
          long seed = 1_000L * i + thread;
          running.add(executor.submit(() -> call(() -> load(views, seed))));
        }
        long seed = 1_000_000L + i;
        running.add(executor.submit(() -> call(() -> read(views, seed))));
      }
      int kills = 0;
      while (running.stream().anyMatch(each -> !each.isDone())) {
        shown.check();
        if (kills < KILLS.size() && ledger.done.get() >= KILLS.get(kills)) {
          MemcachedServer killed = caches.get(kills % caches.size());
          int failures = ledger.failures.get();
          killed.kill();
          accidents.get(kills).run();
          while (ledger.failures.get() < failures + FAILURES_BEFORE_RESTART
              && ledger.done.get() < KILLS.get(kills) + VIEWS_BEFORE_RESTART) {
            shown.check();
            Clock.system().sleep(LOOK);
          }
          killed.restart();
          kills++;
        }
        Clock.system().sleep(LOOK);
      }
      for (Future<?> each : running) {
        each.get();
      }
      assertEquals(KILLS.size(), kills);
    }
    assertEquals(List.of(), List.copyOf(ledger.wrong));
    assertEquals(VIEWS, Ledger.sum(ledger.begun));
  }

  private interface Step {
    void run() throws InterruptedException;
  }

  private static boolean call(Step step) throws InterruptedException {
    step.run();
    return true;
  }

  @Test
  void cacheFirstLosesNoMoreThanItTells() throws Exception {
    try (RedisServer redis = RedisServer.startDurable()) {
      String store = "redis://127.0.0.1:" + redis.port();
      List<QuipuProcess> writers = new CopyOnWriteArrayList<>(List.of(writeBack(store)));
      List<StoreDriver> opened = new ArrayList<>();
      List<DisplayCounters> frontEnds = new ArrayList<>();
      for (int i = 0; i < FRONT_ENDS; i++) {
        StoreDriver cached = StoreProvider.open(cache());
        StoreDriver durable = StoreProvider.open(store);
        opened.addAll(List.of(cached, durable));
        frontEnds.add(cacheFirst(cached, durable));
      }
      try {
        Runnable nothing = () -> {};
        run(frontEnds, List.of(nothing, () -> killWriteBack(writers, store), nothing));
        Progress.await("start of the second write-back", () -> writers.size() == 2);
        writers.getLast().process().destroy(); // SIGTERM: it writes back a last time
        writers.getLast().process().onExit().join();
        checkBounds(opened.get(0), opened.get(1));
      } finally {
        writers.forEach(QuipuProcess::close);
        opened.forEach(StoreDriver::close);
      }
    }
  }

  private static CacheFirst cacheFirst(StoreDriver cached, StoreDriver durable) {
    Store store = new Store(durable, Clock.system());
    Counters counters = new MarkerItem(store, WINDOW);
    Store cache = new Store(cached, Clock.system());
    return new CacheFirst(cache.operations(), store, counters, UNFLUSHED_MAX);
  }

  private QuipuProcess writeBack(String store) throws Exception {
    return QuipuProcess.serve(
        temporary.resolve("out"),
        "--store",
        store,
        "--cache",
        cache(),
        "--cache-first",
        "--unflushed",
        Integer.toString(UNFLUSHED_MAX),
        "--write-back",
        "0.2s");
  }

  /** Kills it while it writes; the next can start only when all caches are there again. */
  private void killWriteBack(List<QuipuProcess> writers, String store) {
    writers.getLast().close();
    Thread.ofVirtual()
        .start(() -> {
          while (writers.size() == 1) {
            try {
              writers.add(writeBack(store));
            } catch (Exception e) {
              // a cache is away
            }
          }
        });
  }

  private void checkBounds(StoreDriver cached, StoreDriver durable) {
    CacheFirst views = cacheFirst(cached, durable);
    Counters counters = new MarkerItem(new Store(durable, Clock.system()), WINDOW);
    long held = 0;
    long mayBeLost = 0;
    for (int page = 0; page < PAGES; page++) {
      DisplayReading reading = views.read(name(page)).orElseThrow();
      long told = reading.high() - reading.value();
      long is = counters.read(name(page)).map(Reading::value).orElse(0L);
      long answered = ledger.answered.get(page);
      long unknown = ledger.unknown.get(page);
      String all =
          "page %d: durable %d, answered %d, unknown %d, %s"
              .formatted(page, is, answered, unknown, reading);
      assertTrue(is <= answered + unknown, all);
      assertTrue(is >= answered - told, all);
      assertTrue(told <= (long) KILLS.size() * UNFLUSHED_MAX, all);
      held += is;
      mayBeLost += told;
    }
    long answered = Ledger.sum(ledger.answered);
    assertTrue(held < answered, "nothing was lost, so nothing was proved");
    System.out.printf(
        "ShownIT: cache first: %d views answered, %d unknown, %d durable, %d lost, at most %d told,"
            + " %d reads%n",
        answered, Ledger.sum(ledger.unknown), held, answered - held, mayBeLost, ledger.reads.get());
  }

  @Test
  void durableFirstLosesNothing() throws Exception {
    try (Quipu quipu = Quipu.open(temporary.resolve("data"));
        StoreDriver cached = StoreProvider.open(cache())) {
      Store cache = new Store(cached, Clock.system());
      List<DisplayCounters> frontEnds = new ArrayList<>();
      for (int i = 0; i < FRONT_ENDS; i++) {
        frontEnds.add(quipu.display(cache.operations(), DurableFirst.AGE_DEFAULT));
      }
      Runnable nothing = () -> {};
      run(frontEnds, List.of(nothing, nothing, nothing));
      for (int page = 0; page < PAGES; page++) {
        long is = quipu.counters().read(name(page)).map(Reading::value).orElse(0L);
        assertEquals(ledger.answered.get(page), is, name(page));
      }
      assertEquals(VIEWS, Ledger.sum(ledger.answered), "no view needs the cache");
      System.out.printf(
          "ShownIT: durable first: %d views, all durable, %d reads%n",
          Ledger.sum(ledger.answered), ledger.reads.get());
    }
  }

  @Test
  void twoServersShareACacheAndAStore() throws Exception {
    try (RedisServer redis = RedisServer.startDurable()) {
      String store = "redis://127.0.0.1:" + redis.port();
      String[] options = {
        "--store", store, "--cache", cache(), "--online", "approximate", "--online-window", "10m"
      };
      try (QuipuProcess one = QuipuProcess.serve(temporary.resolve("one"), options);
          QuipuProcess two = QuipuProcess.serve(temporary.resolve("two"), options)) {
        for (QuipuProcess each : List.of(one, two)) {
          ask(each, "/v1/display/page/view", "", "Idempotency-Key", "\"view-1\"");
          ask(each, "/v1/presence/lobby", "{\"clientId\":\"ann\"}");
          ask(
              each,
              "/v1/presence/lobby",
              "{\"clientId\":\"of %d\"}".formatted(each.uri().getPort()));
        }
        for (QuipuProcess each : List.of(one, two)) {
          assertEquals("1", ask(each, "/v1/display/page", null).path("value").asString());
          assertEquals("3", ask(each, "/v1/presence/lobby", null).path("value").asString());
          Path out = temporary.resolve("online");
          Process online =
              QuipuProcess.run(out, "online", "lobby", "--server", each.uri().toString());
          assertEquals(0, online.waitFor());
        }
        assertEquals("3\n3\n", Files.readString(temporary.resolve("online")));
        caches.forEach(MemcachedServer::kill);
        assertEquals("1", ask(one, "/v1/display/page", null).path("value").asString());
        assertEquals("store-unavailable", type(ask(two, "/v1/presence/lobby", null)));
      }
    }
  }

  private static String type(JsonNode problem) {
    return problem.path("type").asString("").replace("/problems/", "");
  }

  /** Posts, or gets if there is no body. */
  private static JsonNode ask(
      QuipuProcess server, String path, @Nullable String body, String... headers) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(server.uri().resolve(path));
    request.header("Content-Type", "application/json");
    if (headers.length > 0) {
      request.headers(headers);
    }
    if (body != null) {
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    try (HttpClient client = HttpClient.newHttpClient()) {
      String answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
      return JsonMapper.builder().build().readTree(answer);
    }
  }
}
