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
 * Measures the effect of each fault on each technique: the drift of a counter after a few adds with
 * one fault each. The test compares the page; {@code -Dquipu.docs.write=true} writes it.
 */
@SuppressWarnings("CheckReturnValue") // adds before the measured ones
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
      # Effect of faults on counts

      Measured on DynamoDB Local behind the fault proxy: each add has one fault; then the caller
      either gives up on an unknown outcome, or retries until it has a definite one, with the same
      request id if the technique keeps ids. `exact`: the counter equals the requested adds;
      `over` and `under`: each add with a fault counts once too often, or not at all. The last row
      of each technique is a client with retries, the default of the AWS SDK, after a dropped
      reply.

      One client writes. With concurrent writers, `optimistic` may end with an unknown outcome,
      and `optimistic-with-history` too after more than a hundred other writes; see [their
      pages](../concepts/optimistic.md).

      Made by a test (FaultTableTest), which compares it.
      """;

  @Test
  void thePageTellsWhatIsMeasured() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    page.append("\n| technique | fault | gives up | retries |\n|---|---|---|---|\n");
    int port = Tables.server().endpoint().getPort();
    try (FaultProxy proxy =
        FaultProxy.start(new DynamoDbProtocol(), port, DELAY, FaultTableTest::adds)) {
      String uri = Tables.newUri(URI.create("http://127.0.0.1:" + proxy.port()), TIMEOUT);
      try (StoreDriver driver = StoreProvider.open(uri);
          DynamoDbClient client = defaultClient(proxy);
          StoreDriver repeating =
              DynamoDbDriver.of(client, "fault-table", Duration.ofSeconds(10))) {
        for (TechniqueSpec spec : Techniques.ALL) {
          for (WireFault fault : FAULTS) {
            row(page, spec, word(fault), drifts(proxy, driver, spec, fault));
          }
          String[] drifts = drifts(proxy, repeating, spec, WireFault.REPLY_DROPPED);
          row(page, spec, "retrying client", drifts);
        }
      }
    }
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(PAGE, page.toString());
    }
    assertEquals(Files.readString(PAGE), page.toString());
  }

  /**
   * Returns what an applied write adds to the counters; markers and entries of names add nothing.
   */
  private static long adds(byte[] write) {
    String text = new String(write, StandardCharsets.UTF_8);
    boolean ofValue = text.contains("counter/") && !text.contains("\"token/");
    return ofValue || text.contains("\"hits/") || text.contains("\"tree/") ? 1 : 0;
  }

  private static DynamoDbClient defaultClient(FaultProxy proxy) {
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
    add(counters, spec, name, -1, true); // connections and the list of names exist
    long fired = proxy.ledger().fired(fault);
    for (int i = 0; i < ADDS; i++) {
      proxy.use(FaultPlan.of(fault));
      add(counters, spec, name, i, again);
      proxy.use(FaultPlan.none());
    }
    proxy.awaitDelayed();
    assertEquals(fired + ADDS, proxy.ledger().fired(fault), name);
    long value = counters.read(name).orElseThrow().value();
    // A transaction has a token, by default from the SDK: DynamoDB replays the result of a repeat.
    // And puts of hits and versions are idempotent.
    boolean isIdempotent = spec.equals(HitLog.SPEC) || spec.equals(VersionTree.SPEC);
    boolean isComparable = !isIdempotent && Collections.disjoint(spec.needs(), TRANSACTIONS);
    long ledger = proxy.ledger().sum() - summed;
    assertTrue(
        isComparable ? ledger == value : ledger >= value, name + ": the ledger has " + ledger);
    long drift = value - 1 - ADDS;
    assertEquals(0, Math.abs(drift) % ADDS, name + ": the drift differs between adds: " + drift);
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
    throw new IllegalStateException("no case for " + name);
  }
}
