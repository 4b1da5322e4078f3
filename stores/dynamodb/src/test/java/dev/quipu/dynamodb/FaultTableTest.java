package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.backend.Backends;
import dev.quipu.hits.HitLog;
import dev.quipu.hits.VersionTree;
import dev.quipu.layer.Store;
import dev.quipu.simulation.proxy.DynamoDbProtocol;
import dev.quipu.simulation.proxy.FaultPlan;
import dev.quipu.simulation.proxy.FaultProxy;
import dev.quipu.simulation.proxy.WireFault;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProvider;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * What each technique makes of each fault, measured: the drift of a counter after a few adds, each
 * of which meets the fault once. The page is compared; {@code -Dquipu.docs.write=true} writes it.
 */
final class FaultTableTest {
  private static final Path PAGE = Path.of("../../docs/reference/faults.md");
  private static final int ADDS = 2;
  private static final int REPEATS_MAX = 20;
  private static final Duration TIMEOUT = Duration.ofSeconds(1);
  private static final Duration DELAY = Duration.ofSeconds(2);
  private static final Set<Capability> TRANSACTIONS =
      EnumSet.of(Capability.ATOMIC_BATCH, Capability.TOKEN_BATCH);
  private static final List<WireFault> FAULTS =
      List.of(
          WireFault.ERROR_BEFORE_APPLY,
          WireFault.ERROR_AFTER_APPLY,
          WireFault.REPLY_DROPPED,
          WireFault.DELAYED_APPLY,
          WireFault.DUPLICATE);
  private static final String HEAD =
      """
      # What a fault does to a count

      Measured on DynamoDB Local through the fault proxy: each add meets the fault once, and then
      the caller either gives up when it hears "unknown", or asks again until it has an answer,
      under the same id where the technique keeps ids. `exact`: the counter holds what was asked
      for; `over` and `under`: each add that met the fault counts once too often, or not at all.
      The last row of each technique is a client that repeats by itself, as the AWS SDK comes,
      after a dropped reply.

      One client writes. With others at the same time, `optimistic` may end unknown, and
      `optimistic-with-history` too when more than a hundred came between; see
      [their pages](../concepts/optimistic.md).

      Made by a test (FaultTableTest), which compares it.
      """;

  @Test
  void thePageTellsWhatIsMeasured() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    page.append("\n| technique | fault | gives up | asks again |\n|---|---|---|---|\n");
    int port = Tables.server().endpoint().getPort();
    try (FaultProxy proxy =
        FaultProxy.start(new DynamoDbProtocol(), port, DELAY, FaultTableTest::adds)) {
      String uri = Tables.newUri(URI.create("http://127.0.0.1:" + proxy.port()), TIMEOUT);
      try (StoreDriver driver = StoreProvider.open(uri);
          DynamoDbClient client = asItComes(proxy);
          StoreDriver repeating =
              DynamoDbDriver.of(client, "fault-table", Duration.ofSeconds(10))) {
        for (TechniqueSpec spec : Techniques.ALL) {
          for (WireFault fault : FAULTS) {
            row(page, spec, word(fault), drifts(proxy, driver, spec, fault));
          }
          String[] drifts = drifts(proxy, repeating, spec, WireFault.REPLY_DROPPED);
          row(page, spec, "the client repeats", drifts);
        }
      }
    }
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(PAGE, page.toString());
    }
    assertEquals(Files.readString(PAGE), page.toString());
  }

  /** What an applied write adds to the counters: not a note of a request, nor a name's entry. */
  private static long adds(byte[] write) {
    String text = new String(write, StandardCharsets.UTF_8);
    boolean ofValue = text.contains("counter/") && !text.contains("\"token/");
    return ofValue || text.contains("\"hits/") || text.contains("\"tree/") ? 1 : 0;
  }

  private static DynamoDbClient asItComes(FaultProxy proxy) {
    return DynamoDbClient.builder()
        .region(Region.US_EAST_1)
        .endpointOverride(URI.create("http://127.0.0.1:" + proxy.port()))
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("key", "secret")))
        .build();
  }

  private static void row(StringBuilder page, TechniqueSpec spec, String fault, String[] drifts) {
    page.append("| `%s` | %s | %s | %s |%n".formatted(spec.name(), fault, drifts[0], drifts[1]));
  }

  private static String word(WireFault fault) {
    return fault.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String[] drifts(
      FaultProxy proxy, StoreDriver driver, TechniqueSpec spec, WireFault fault) {
    return new String[] {
      drift(proxy, driver, spec, fault, false), drift(proxy, driver, spec, fault, true)
    };
  }

  private static String drift(
      FaultProxy proxy, StoreDriver driver, TechniqueSpec spec, WireFault fault, boolean again) {
    Store store = new Store(driver, Clock.system());
    Counters counters = Backends.technique(spec, store, Randomness.secure(), Optional.empty());
    String name = fault + "/" + again + "/" + spec.name();
    long summed = proxy.ledger().sum();
    add(counters, spec, name, -1, true); // connections and the list of names are there
    long fired = proxy.ledger().fired(fault);
    for (int i = 0; i < ADDS; i++) {
      proxy.use(FaultPlan.of(fault));
      add(counters, spec, name, i, again);
      proxy.use(FaultPlan.none());
    }
    proxy.awaitDelayed();
    assertEquals(fired + ADDS, proxy.ledger().fired(fault), name);
    long value = counters.read(name).orElseThrow().value();
    // A transaction has a token, the SDK's own if no other: to a repeat of it DynamoDB says
    // "applied" once more, to no effect.
    // And hits and versions are put again, to no effect either.
    boolean putsAgain = spec.equals(HitLog.SPEC) || spec.equals(VersionTree.SPEC);
    boolean tells = !putsAgain && Collections.disjoint(spec.needs(), TRANSACTIONS);
    long ledger = proxy.ledger().sum() - summed;
    assertTrue(tells ? ledger == value : ledger >= value, name + ": the ledger has " + ledger);
    long drift = value - 1 - ADDS;
    assertEquals(0, Math.abs(drift) % ADDS, name + ": not each add came to the same: " + drift);
    assertNotEquals(2, Math.abs(drift) / ADDS, name);
    return drift == 0 ? "exact" : drift > 0 ? "over" : "under";
  }

  private static void add(
      Counters counters, TechniqueSpec spec, String name, int number, boolean again) {
    RequestId id = spec.remembersIds() ? RequestId.of("request " + number) : null;
    Add add = new Add(name, 1, Bounds.none(), id);
    for (int attempt = 0; attempt < REPEATS_MAX; attempt++) {
      try {
        counters.add(add);
        return;
      } catch (QuipuException e) {
        if (e.outcome() == Outcome.UNKNOWN && !again) {
          return;
        }
      }
    }
    throw new IllegalStateException("no answer for " + name);
  }
}
