package dev.quipu.postgresql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Opens {@code postgresql://user:password@host:port/database}. */
public final class PostgresProvider implements StoreProvider {
  private static final int PORT = 5_432;
  private static final int CONNECTIONS_MAX = 1_000;
  private static final long CONNECT_MILLIS_MIN = 250; // the minimum of the pool

  /** Creates the provider; for the service loader. */
  public PostgresProvider() {}

  @Override
  public List<String> schemes() {
    return List.of("postgresql", "postgres");
  }

  @Override
  public String usage() {
    return "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?table=quipu_items&connections=8&sslmode=prefer"
        + "&durability=fsync&combine=on";
  }

  @Override
  public StoreProfile fullProfile() {
    return PostgresDriver.profile(true);
  }

  @Override
  public String schema(URI uri) {
    Schema schema = new Schema(parse(uri).parameter("table").orElse(Schema.TABLE));
    return schema.ddl() + schema.grants();
  }

  private static StoreUri parse(URI uri) {
    return new StoreUri(
        uri,
        PORT,
        Set.of("table", "connections", "sslmode", StoreUri.DURABILITY_NAME, StoreUri.COMBINE_NAME));
  }

  @Override
  public StoreDriver open(URI uri) {
    StoreUri parsed = parse(uri);
    parsed.durability(); // reports a wrong value before connecting
    parsed.combines();
    int timeoutMillis = (int) parsed.timeout().toMillis();
    HikariConfig config = new HikariConfig();
    String hosts =
        parsed.hosts().stream()
            .map(host -> host.name() + ":" + host.port())
            .collect(Collectors.joining(","));
    config.setJdbcUrl("jdbc:postgresql://%s/%s".formatted(hosts, parsed.path()));
    parsed.user().ifPresent(config::setUsername);
    parsed.password().ifPresent(config::setPassword);
    int connectionsMax =
        parsed.parameter("connections", PostgresDriver.CONNECTIONS, 1, CONNECTIONS_MAX);
    config.setMaximumPoolSize(connectionsMax);
    config.setConnectionTimeout(Math.max(timeoutMillis, CONNECT_MILLIS_MIN));
    config.setPoolName("quipu");
    config.addDataSourceProperty("ApplicationName", "quipu");
    config.addDataSourceProperty("connectTimeout", seconds(timeoutMillis));
    config.addDataSourceProperty("loginTimeout", seconds(timeoutMillis));
    config.addDataSourceProperty("tcpKeepAlive", "true");
    parsed.parameter("sslmode").ifPresent(mode -> config.addDataSourceProperty("sslmode", mode));
    String table = parsed.parameter("table").orElse(Schema.TABLE);
    new Schema(table); // reports a wrong name before connecting
    HikariDataSource pool;
    try {
      pool = new HikariDataSource(config);
    } catch (HikariPool.PoolInitializationException e) {
      throw Failures.ofPool(e, hosts);
    }
    try {
      Connections connections =
          new Connections(pool, hosts, connectionsMax, parsed.timeout(), true);
      return PostgresDriver.open(
          connections, table, parsed.durability(), parsed.combines(), pool::close);
    } catch (RuntimeException e) {
      pool.close();
      throw e;
    }
  }

  private static String seconds(int millis) {
    return Integer.toString(Math.max(1, millis / 1_000));
  }
}
