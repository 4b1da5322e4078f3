package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.Reading;
import dev.quipu.simulation.checker.ReadingOracle;
import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.testkit.pace.Progress;
import dev.quipu.testkit.pace.Soak;
import dev.quipu.testservers.DynamoDbReplica;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Three regions sell a million pieces, with ten times the demand, over replicated DynamoDB Local
 * instances. Regions are partitioned, servers killed, replies lost, requests repeated in other
 * regions: all pieces are sold, none twice, and every read is within its bounds.
 */
final class RegionsIT {
  private static final List<String> NAMES = List.of("ap", "eu", "us");
  private static final long STOCK = 1_000_000;
  private static final int CLIENTS = 6;
  private static final int REQUESTS = Soak.size(80, 200); // of each client
  private static final int AMOUNT_MAX = 3_340_000 / REQUESTS; // in total ten times the stock
  private static final Duration WEATHER = Duration.ofMillis(1_500);
  private static final Duration ANSWER_MAX = Duration.ofSeconds(30);
  private static final String TABLE = "regions";

  @TempDir Path directory;

  private final Clock clock = Clock.system();
  private final List<DynamoDbServer> stores = new ArrayList<>();
  private final List<DynamoDbReplica> replicas = new ArrayList<>();
  private final List<List<FaultProxy>> proxies = new ArrayList<>(); // from, to
  private final QuipuProcess[] servers = new QuipuProcess[NAMES.size()];
  private final HttpClient client =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();
  private final ReadingOracle oracle = new ReadingOracle();
  private final Map<String, Long> sold = new ConcurrentHashMap<>();
  private final List<String> wrong = new ArrayList<>();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicLong soldWhileCut = new AtomicLong();
  private final AtomicLong replays = new AtomicLong();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong heldElsewhere = new AtomicLong();
  private final AtomicLong wideReads = new AtomicLong();
  private final AtomicLong exactReads = new AtomicLong();
  private int cutOff = -1;
  private int kills;
  private int partitions;

  /** A response of a server. */
  private record Answer(int status, JsonNode body) {
    String type() {
      return body.path("type").asString("");
    }
  }

  @Test
  void aMillionPieces() throws Exception {
    for (int i = 0; i < NAMES.size(); i++) {
      Optional<DynamoDbServer> store = DynamoDbServer.start();
      assumeTrue(store.isPresent(), "no DynamoDB Local: build with -Pdynamodb-local");
      stores.add(store.get());
    }
    try {
      for (DynamoDbServer store : stores) {
        replicas.add(new DynamoDbReplica(store.endpoint(), store.endpoint(), TABLE));
      }
      GlobalTable<Map<String, AttributeValue>, Map<String, AttributeValue>> table =
          new GlobalTable<>(replicas, clock, Randomness.seeded(1), Duration.ofMillis(500));
      startAll();
      running.incrementAndGet();
      Thread joining = Thread.ofPlatform().start(() -> join(table));
      sell(table);
      running.decrementAndGet();
      joining.join();
    } finally {
      for (QuipuProcess server : servers) {
        server.close();
      }
      proxies.forEach(from -> from.forEach(FaultProxy::close));
      replicas.forEach(DynamoDbReplica::close);
      stores.forEach(DynamoDbServer::close);
    }
  }

  private void startAll() throws IOException {
    for (int from = 0; from < NAMES.size(); from++) {
      List<FaultProxy> seen = new ArrayList<>();
      StringBuilder regions = new StringBuilder();
      for (int to = 0; to < NAMES.size(); to++) {
        FaultProxy proxy =
            FaultProxy.start(
                new DynamoDbProtocol(),
                stores.get(to).endpoint().getPort(),
                Duration.ofSeconds(1),
                write -> 0);
        seen.add(proxy);
        String endpoint = "http://127.0.0.1:" + proxy.port();
        regions.append(
            "%s\"%s\": \"dynamodb://key:secret@us-east-1/%s?endpoint=%s&timeoutMillis=%d\""
                .formatted(
                    to == 0 ? "" : ", ",
                    NAMES.get(to),
                    TABLE,
                    endpoint,
                    to == from ? 5_000 : 1_000));
      }
      proxies.add(seen);
      String topology =
          "{\"initial\": [\"ap\", \"eu\", \"us\"], \"regions\": {%s}, \"floor\": 0, \"cells\": 4}"
              .formatted(regions);
      Files.writeString(directory.resolve(NAMES.get(from)), topology);
    }
    for (int region = 0; region < NAMES.size(); region++) {
      start(region, 0);
    }
  }

  private void start(int region, int port) throws IOException {
    String name = NAMES.get(region);
    servers[region] =
        QuipuProcess.serveAt(
            port,
            directory.resolve(name + ".out"),
            "--region",
            name,
            "--topology",
            directory.resolve(name).toString());
  }

  private void join(GlobalTable<?, ?> table) {
    while (running.get() > 0) {
      table.pass();
      pause(20);
    }
  }

  private void pause(long millis) {
    try {
      clock.sleep(Duration.ofMillis(millis));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void sell(GlobalTable<?, ?> table) throws Exception {
    deliver(0, STOCK / 2);
    deliver(1, STOCK / 4);
    deliver(2, STOCK / 4);
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int number = i;
      clients.add(Thread.ofPlatform().start(() -> buyAll(number)));
    }
    weather(table, clients);
    for (List<FaultProxy> from : proxies) {
      from.forEach(proxy -> proxy.use(FaultPlan.none()));
    }
    long before = sold.values().stream().mapToLong(each -> each).sum();
    long left = sellOut(STOCK - before);
    System.out.printf(
        "RegionsIT: sold %d of %d in %d requests, %d while their region was cut off; %d replays,"
            + " %d held elsewhere, %d wide reads, %d partitions, %d servers killed%n",
        STOCK - left,
        STOCK,
        sold.size(),
        soldWhileCut.get(),
        replays.get(),
        heldElsewhere.get(),
        wideReads.get(),
        partitions,
        kills);
    assertEquals(0, left);
    onlyCountersAreServed();
    theCommandShowsRegions();
    synchronized (wrong) {
      assertEquals(List.of(), wrong);
    }
    long dropped =
        proxies.stream()
            .flatMap(List::stream)
            .mapToLong(proxy -> proxy.ledger().fired(WireFault.REPLY_DROPPED))
            .sum();
    for (long fired :
        List.of(
            soldWhileCut.get(),
            replays.get(),
            heldElsewhere.get(),
            wideReads.get(),
            exactReads.get(),
            (long) partitions,
            (long) kills,
            dropped)) {
      assertTrue(fired > 0, "not everything happened, so this run is void");
    }
  }

  private void onlyCountersAreServed() {
    for (String path : List.of("/v1/presence/room", "/v1/sequences/invoices", "/v1/views?url=u")) {
      assertEquals(501, send(0, path, "", null).orElseThrow().status, path);
    }
    Answer unnamed = send(0, "/v1/counters/stock/add", "order-981", "{\"delta\":1}").orElseThrow();
    assertEquals(400, unnamed.status, unnamed.toString());
  }

  private void theCommandShowsRegions() throws Exception {
    Path out = directory.resolve("regions.out");
    String topology = directory.resolve("eu").toString();
    List<String> look = List.of("regions", "--topology", topology, "--region", "eu");
    assertEquals(0, QuipuProcess.run(out, look.toArray(String[]::new)).waitFor());
    List<String> lines = Files.readAllLines(out);
    assertEquals(NAMES, lines.stream().map(line -> line.substring(0, 2)).toList());
    for (String line : lines) {
      assertTrue(line.contains("responds, lease until 2"), line);
    }
    List<String> retire = new ArrayList<>(look);
    retire.addAll(List.of("--retire", "us"));
    assertEquals(2, QuipuProcess.run(out, retire.toArray(String[]::new)).waitFor());
  }

  private void deliver(int region, long pieces) {
    ReadingOracle.Pending delivery = oracle.begin(pieces, clock.epochMillis());
    String id = NAMES.get(region) + "/delivery";
    Answer delivered = untilDefinite(region, id, pieces, Randomness.seeded(1));
    assertEquals(200, delivered.status, delivered.toString());
    delivery.acked(clock.epochMillis());
  }

  /** Injects faults one after another until all clients are done. */
  private void weather(GlobalTable<?, ?> table, List<Thread> clients) throws Exception {
    Progress asked = new Progress("requests answered", answered::get);
    while (clients.stream().anyMatch(Thread::isAlive)) {
      asked.check();
      int region = kills % NAMES.size();
      cutOff(table, region);
      await(asked, clients);
      heal(table, region);
      int port = servers[region].uri().getPort();
      servers[region].close();
      kills++;
      start(region, port);
      for (int i = 0; i < NAMES.size(); i++) {
        proxies
            .get(i)
            .get(i)
            .use(FaultPlan.atRandom(kills, 0.05, WireFault.REPLY_DROPPED, write -> true));
      }
      await(asked, clients);
    }
  }

  /** Waits for some time and enough answers that the fault has affected a client. */
  private void await(Progress asked, List<Thread> clients) {
    long enough = answered.get() + 2L * CLIENTS;
    pause(WEATHER.toMillis());
    while (answered.get() < enough && clients.stream().anyMatch(Thread::isAlive)) {
      asked.check();
      pause(20);
    }
  }

  private void cutOff(GlobalTable<?, ?> table, int region) {
    table.cutOff(region);
    for (int other = 0; other < NAMES.size(); other++) {
      if (other != region) {
        proxies.get(region).get(other).reject();
        proxies.get(other).get(region).reject();
      }
    }
    partitions++;
    synchronized (wrong) {
      cutOff = region;
    }
  }

  private void heal(GlobalTable<?, ?> table, int region) {
    synchronized (wrong) {
      cutOff = -1;
    }
    for (int other = 0; other < NAMES.size(); other++) {
      if (other != region) {
        proxies.get(region).get(other).accept();
        proxies.get(other).get(region).accept();
      }
    }
    table.heal();
  }

  private boolean isCutOff(int region) {
    synchronized (wrong) {
      return cutOff == region;
    }
  }

  private void buyAll(int number) {
    int home = number % NAMES.size();
    RandomGenerator random = Randomness.seeded(100 + number);
    for (int i = 0; i < REQUESTS; i++) {
      long most =
          1 + 2L * AMOUNT_MAX * i / REQUESTS; // small amounts first, so that the stock lasts
      long amount = 1 + random.nextLong(most);
      buy(home, "%s/%d-%d".formatted(NAMES.get(home), number, i), amount, random);
      answered.incrementAndGet();
      if (random.nextInt(3) == 0) {
        check(random.nextInt(NAMES.size()));
      }
    }
  }

  private void buy(int home, String id, long amount, RandomGenerator random) {
    ReadingOracle.Pending pending = oracle.begin(-amount, clock.epochMillis());
    boolean isApart = isCutOff(home);
    Answer answer = untilDefinite(home, id, -amount, random);
    if (answer.status == 200) {
      pending.acked(clock.epochMillis());
      note(id, amount, answer);
      soldWhileCut.addAndGet(isApart && isCutOff(home) ? 1 : 0);
      if (random.nextInt(5) == 0) {
        Answer again = untilDefinite(random.nextInt(NAMES.size()), id, -amount, random);
        if (again.status != 200 || !again.body.path("replayed").asBoolean()) {
          say("a repeat of " + id + " was answered " + again);
        }
        replays.incrementAndGet();
      }
      return;
    }
    heldElsewhere.addAndGet(answer.type().endsWith("held-elsewhere") ? 1 : 0);
    Answer outcome = cancel(id, random); // a lost attempt may have been applied
    if (outcome.body.path("outcome").asString("").equals("applied")) {
      pending.acked(clock.epochMillis());
      note(id, amount, outcome);
    } else {
      pending.rejected();
    }
  }

  private void note(String id, long amount, Answer answer) {
    if (!answer.body.path("added").asString("").equals(Long.toString(-amount))) {
      say(id + " was answered " + answer);
    }
    sold.put(id, amount);
  }

  private void say(String what) {
    synchronized (wrong) {
      wrong.add(what);
    }
  }

  /** Repeats a request, in its region or in any, until it is applied or rejected. */
  private Answer untilDefinite(int region, String id, long delta, RandomGenerator random) {
    int at = region;
    for (int attempt = 0; ; attempt++) {
      Optional<Answer> answer = send(at, "/v1/counters/stock/add", id, "{\"delta\":" + delta + "}");
      int status = answer.map(Answer::status).orElse(503);
      if (status != 503 && status != 429) {
        return answer.orElseThrow();
      }
      if (attempt == 1_000) {
        throw new IllegalStateException("no definite answer for " + id + ": " + answer);
      }
      pause(50);
      at = random.nextBoolean() ? region : random.nextInt(NAMES.size());
    }
  }

  private Answer cancel(String id, RandomGenerator random) {
    for (int attempt = 0; attempt < 1_000; attempt++) {
      String path = "/v1/requests/" + id.replace("/", "%2F") + "/cancel?counter=stock";
      Optional<Answer> answer = send(random.nextInt(NAMES.size()), path, "", "");
      if (answer.isPresent() && answer.get().status == 200) {
        return answer.get();
      }
      pause(50);
    }
    throw new IllegalStateException("nobody cancels " + id);
  }

  private void check(int region) {
    long from = clock.epochMillis();
    Optional<Reading> reading = read(region);
    if (reading.isPresent()) {
      Reading read = reading.get();
      // An unreachable region may add without limit but sells at most the stock.
      long widthMax = read.high() == Long.MAX_VALUE ? Long.MAX_VALUE : STOCK;
      oracle.wrong(read, from, clock.epochMillis(), widthMax).ifPresent(this::say);
      if (read.low() < 0) {
        say("a read is below the floor: " + read);
      }
      (read.low() < read.high() ? wideReads : exactReads).incrementAndGet();
    }
  }

  private Optional<Reading> read(int region) {
    return send(region, "/v1/counters/stock", "", null)
        .filter(answer -> answer.status == 200)
        .map(answer ->
            new Reading(
                answer.body.path("value").asLong(),
                answer.body.path("low").asLong(),
                answer.body.path("high").asLong()));
  }

  /** Returns the response; empty if there was none. */
  private Optional<Answer> send(int region, String path, String id, @Nullable String body) {
    URI uri = servers[region].uri().resolve(path);
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(ANSWER_MAX);
    if (!id.isEmpty()) {
      request.header("Idempotency-Key", "\"" + id + "\"");
    }
    if (body != null) {
      request.header("Content-Type", "application/json");
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    try {
      HttpResponse<String> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return Optional.of(
          new Answer(response.statusCode(), JsonMapper.shared().readTree(response.body())));
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Heals all partitions, sells the rest in one region and returns what is left. */
  private long sellOut(long left) throws Exception {
    Optional<Reading> all = Optional.of(Reading.exact(left));
    for (int i = 0; i < NAMES.size(); i++) {
      int region = i;
      String what = "read of %d in %s".formatted(left, NAMES.get(region));
      Progress.await(what, () -> read(region).equals(all));
    }
    RandomGenerator random = Randomness.seeded(3);
    long rest = left;
    for (int i = 0; rest > 0; i++) {
      long amount = Math.max(1, rest / 2);
      Answer answer = untilDefinite(1, "eu/rest-" + i, -amount, random);
      assertEquals(200, answer.status, answer.toString());
      sold.put("eu/rest-" + i, amount);
      rest -= amount;
    }
    Answer answer = untilDefinite(2, "us/more", -1, random);
    assertTrue(answer.type().endsWith("bound-reached"), answer.toString());
    return STOCK - sold.values().stream().mapToLong(each -> each).sum();
  }
}
