package dev.quipu.postgresql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.store.BatchDriver;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Creation of the table, and data sources of the user. */
final class PostgresSetupTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Write ADD =
      new Write.Update(
          new Key("p", "s"), List.of(new Change.Add(Item.VALUE, 1)), Condition.always());

  private static final Write OTHER =
      new Write.Update(
          new Key("p", "t"), List.of(new Change.Add(Item.VALUE, 1)), Condition.always());

  private static PGSimpleDataSource source(String user) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {Databases.SERVER.port()});
    source.setUser(user);
    source.setDatabaseName("postgres");
    return source;
  }

  private static void execute(String sql) throws SQLException {
    try (Connection connection = source("postgres").getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void serversThatStartAtOnceCreateOneTable() throws Exception {
    String uri = Databases.newUri(Databases.SERVER.port(), TIMEOUT) + "&connections=2";
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<StoreDriver>> opening = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        opening.add(executor.submit(() -> StoreProvider.open(uri)));
      }
      for (Future<StoreDriver> each : opening) {
        try (StoreDriver driver = each.get()) {
          driver.write(ADD);
        }
      }
    }
    try (StoreDriver driver = StoreProvider.open(uri)) {
      Item item = driver.get(ADD.key(), Consistency.STRONG).orElseThrow();
      assertEquals(8, item.number(Item.VALUE));
    }
  }

  @Test
  void aRoleThatMayNotCreateUsesWhatAnAdministratorCreated() throws Exception {
    execute("CREATE ROLE counting LOGIN");
    QuipuException e =
        assertThrows(
            QuipuException.class, () -> PostgresDriver.of(source("counting"), "by_hand", TIMEOUT));
    assertEquals(Outcome.NOT_APPLIED, e.outcome());
    assertEquals(Reason.DENIED, e.reason());
    String schema =
        StoreProvider.of(URI.create("postgresql://db/app"))
            .schema(URI.create("postgresql://db/app?table=by_hand"));
    execute(schema.replace("-- ", "").replace(" TO quipu", " TO counting"));
    try (StoreDriver driver = PostgresDriver.of(source("counting"), "by_hand", TIMEOUT)) {
      driver.write(ADD);
    }
  }

  @Test
  void aSourceThatWasHandedInStaysOpen() throws Exception {
    PGSimpleDataSource source = source("postgres");
    StoreDriver driver = PostgresDriver.of(source, "handed_in", TIMEOUT);
    driver.write(ADD);
    driver.close();
    try (Connection connection = source.getConnection()) {
      assertTrue(connection.isValid(1));
    }
  }

  @Test
  void durabilityIsWhatTheServerSays() throws Exception {
    assertTrue(
        PostgresDriver.of(source("postgres"), "durable", TIMEOUT)
            .profile()
            .has(Capability.DURABLE));
    execute("CREATE ROLE careless LOGIN SUPERUSER");
    execute("ALTER ROLE careless SET synchronous_commit = off");
    assertFalse(
        PostgresDriver.of(source("careless"), "careless", TIMEOUT)
            .profile()
            .has(Capability.DURABLE));
  }

  /** Faults of the store are not reported as invalid requests. */
  @Test
  void aTableThatCannotBeWrittenIsUnavailable() throws Exception {
    execute("CREATE ROLE reading LOGIN SUPERUSER");
    try (StoreDriver driver = PostgresDriver.of(source("reading"), "fault", TIMEOUT)) {
      driver.write(ADD);
      execute("ALTER ROLE reading SET default_transaction_read_only = on");
      expectUnavailable(driver);
      execute("ALTER ROLE reading RESET default_transaction_read_only");
      execute("ALTER TABLE fault RENAME COLUMN version TO older");
      expectUnavailable(driver);
      execute("ALTER TABLE fault RENAME COLUMN older TO version");
      execute("ALTER TABLE fault RENAME TO away");
      expectUnavailable(driver);
      execute("ALTER TABLE away RENAME TO fault");
      driver.write(ADD);
      Item item = driver.get(ADD.key(), Consistency.STRONG).orElseThrow();
      assertEquals(2, item.number(Item.VALUE));
    }
  }

  /** What was sent fits into the table that was created, and not into the one that is there. */
  @Test
  void aTableThatWasAlteredIsUnavailableAndTheSchemaIsNamed() throws Exception {
    try (StoreDriver driver = PostgresDriver.of(source("postgres"), "altered", TIMEOUT)) {
      driver.write(ADD);
      for (List<String> alter :
          List.of(
              List.of(
                  "ALTER COLUMN value TYPE integer USING 2147483647",
                  "ALTER COLUMN value TYPE bigint USING 1"),
              List.of("ADD CONSTRAINT small CHECK (value < 2)", "DROP CONSTRAINT small"),
              List.of(
                  "ALTER COLUMN sort TYPE varchar(1) USING left(sort, 1)",
                  "ALTER COLUMN sort TYPE text"))) {
        execute("ALTER TABLE altered " + alter.getFirst());
        QuipuException why =
            assertThrows(QuipuException.class, () -> driver.write(alteredWrite(alter)));
        assertEquals(Outcome.NOT_APPLIED, why.outcome(), why.getMessage());
        assertEquals(Reason.UNAVAILABLE, why.reason(), why.getMessage());
        assertTrue(why.getMessage().contains("quipu schema"), why.getMessage());
        execute("ALTER TABLE altered " + alter.getLast());
      }
    }
  }

  private static Write alteredWrite(List<String> alter) {
    Key key = new Key("p", "sort-of-many-characters");
    return alter.getFirst().contains("varchar")
        ? new Write.Put(key, Map.of(), Optional.empty(), Condition.always())
        : ADD;
  }

  private static void expectUnavailable(StoreDriver driver) {
    for (List<Write> writes : List.of(List.of(ADD), List.of(ADD, OTHER))) {
      QuipuException why =
          assertThrows(
              QuipuException.class,
              () -> {
                if (writes.size() == 1) {
                  driver.write(writes.getFirst());
                } else {
                  BatchDriver.of(driver).writeAll(writes, null);
                }
              });
      assertEquals(Outcome.NOT_APPLIED, why.outcome());
      assertEquals(Reason.UNAVAILABLE, why.reason());
    }
  }

  @Test
  void whatIsWrongInAUriIsNamed() {
    wrong(
        "postgresql://127.0.0.1:99999/db",
        "port in the store's URI is not a number from 1 to 65535");
    wrong("postgresql://127.0.0.1/db?table=Robert'); DROP", "not well-formed");
    wrong("postgresql://127.0.0.1/db?table=Robert", "table is 'Robert'");
    wrong("postgresql://127.0.0.1/db?tabel=x", "unknown parameter 'tabel'");
    wrong("postgresql://127.0.0.1/db?connections=0", "connections in the store's URI is '0'");
    wrong("postgresql://127.0.0.1/db?timeoutMillis=0", "timeoutMillis in the store's URI is '0'");
    wrong("postgresql:///db", "has no host");
    wrong("postgresql://127.0.0.1/db?durability=some", "durability in the store's URI is 'some'");
  }

  private static void wrong(String uri, String message) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> StoreProvider.open(uri));
    assertTrue(String.valueOf(e.getMessage()).contains(message), e.getMessage());
  }

  @Test
  void aPasswordIsInNoMessage() {
    QuipuException e =
        assertThrows(
            QuipuException.class,
            () -> StoreProvider.open("postgresql://u:the-secret@127.0.0.1:1/db?timeoutMillis=300"));
    assertFalse(e.toString().contains("the-secret"));
    assertEquals(Reason.UNAVAILABLE, e.reason());
  }

  @Test
  void aMissingRoleOrDatabaseIsReportedWithTheServer() {
    String server = "127.0.0.1:" + Databases.SERVER.port();
    unconnected(server, "nope", "postgres", "Check the user and the password in the store's URI");
    unconnected(server, "postgres", "nope", "Check the database in the store's URI");
  }

  private static void unconnected(String server, String user, String database, String remedy) {
    QuipuException e =
        assertThrows(
            QuipuException.class,
            () -> StoreProvider.open("postgresql://%s@%s/%s".formatted(user, server, database)));
    String message = String.valueOf(e.getMessage());
    assertTrue(message.startsWith("PostgreSQL (" + server + "): cannot connect: "), message);
    assertTrue(message.contains("\"nope\" does not exist"), message);
    assertTrue(message.endsWith(remedy), message);
  }

  private static List<String> settings(StoreDriver driver) {
    return driver.inspect().stream().map(each -> each.effect() + " " + each.setting()).toList();
  }

  @Test
  void settingsThatEndangerWritesAreFoundAtRuntime() throws Exception {
    execute("CREATE ROLE watched LOGIN");
    String uri = "postgresql://db/app?table=watched";
    String schema = StoreProvider.of(URI.create(uri)).schema(URI.create(uri));
    execute(schema.replace("-- ", "").replace(" TO quipu", " TO watched"));
    try (StoreDriver driver = PostgresDriver.of(source("watched"), "watched", TIMEOUT)) {
      assertEquals(List.of(), settings(driver));
      execute("ALTER ROLE watched SET synchronous_commit = off");
      assertEquals(List.of("LOSES_WRITES synchronous_commit=off"), settings(driver));
      execute("ALTER ROLE watched RESET synchronous_commit");
      execute("ALTER TABLE watched SET UNLOGGED");
      assertEquals(List.of("LOSES_WRITES table=unlogged"), settings(driver));
      execute("ALTER TABLE watched SET LOGGED");
      execute("ALTER ROLE watched SET default_transaction_read_only = on");
      assertEquals(List.of("REJECTS_WRITES transaction_read_only=on"), settings(driver));
      execute("ALTER ROLE watched RESET default_transaction_read_only");
      execute("REVOKE DELETE ON watched FROM watched");
      assertEquals(List.of("REJECTS_WRITES rights=missing"), settings(driver));
      execute("GRANT DELETE ON watched TO watched");
      execute("ALTER TABLE watched RENAME COLUMN version TO older");
      assertEquals(List.of("REJECTS_WRITES schema=outdated"), settings(driver));
      execute("DROP TABLE watched");
      assertEquals(List.of("REJECTS_WRITES schema=outdated"), settings(driver));
    }
  }
}
