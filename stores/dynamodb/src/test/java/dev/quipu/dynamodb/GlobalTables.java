package dev.quipu.dynamodb;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.quipu.simulation.region.GlobalTable;
import dev.quipu.testservers.DynamoDbReplica;
import dev.quipu.testservers.DynamoDbServer;
import dev.quipu.time.Clock;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Three servers of DynamoDB Local, and tables with a replica in each. */
final class GlobalTables {
  static final int REGIONS = 3;

  private static final AtomicInteger TABLES = new AtomicInteger();
  private static final List<DynamoDbServer> SERVERS = start();

  private GlobalTables() {}

  private static List<DynamoDbServer> start() {
    List<DynamoDbServer> servers = new ArrayList<>();
    for (int i = 0; i < REGIONS; i++) {
      Optional<DynamoDbServer> server = DynamoDbServer.start();
      server.ifPresent(servers::add);
    }
    return servers;
  }

  static URI endpoint(int region) {
    assumeTrue(SERVERS.size() == REGIONS, Tables.NOT_BUILT);
    return SERVERS.get(region).endpoint();
  }

  /** A table and its replicas. */
  record Global(
      List<DynamoDbReplica> replicas,
      GlobalTable<Map<String, AttributeValue>, Map<String, AttributeValue>> table)
      implements AutoCloseable {
    @Override
    public void close() {
      replicas.forEach(DynamoDbReplica::close);
    }
  }

  static Global open(Clock clock, RandomGenerator random, Duration lagMax) {
    return open(clock, random, lagMax, List.of(endpoint(0), endpoint(1), endpoint(2)));
  }

  /** Creates a table; calls of the regions go through these endpoints. */
  static Global open(Clock clock, RandomGenerator random, Duration lagMax, List<URI> seen) {
    String name = "global" + TABLES.incrementAndGet();
    List<DynamoDbReplica> replicas = new ArrayList<>();
    for (int i = 0; i < REGIONS; i++) {
      replicas.add(new DynamoDbReplica(endpoint(i), seen.get(i), name));
    }
    return new Global(replicas, new GlobalTable<>(replicas, clock, random, lagMax));
  }
}
