package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.Add;
import dev.quipu.NotAppliedException;
import dev.quipu.Reading;
import dev.quipu.hits.VersionTree;
import dev.quipu.layer.Store;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A domain whose counters another client wrote, with the algorithm of the article. */
@SuppressWarnings("CheckReturnValue") // adds before the measured ones
final class AdoptTest {
  private static final String PAGE = "page";
  private static final String SHOP = "shop";
  private static final String ATTRIBUTE = "value";
  private static final Set<String> EXAMPLE =
      Set.of(
          "Ver010-1700000000000-7 Count10",
          "Ver011-1700000000100-7 Base010-1700000000000-7 Count11",
          "Ver011-1700000000100-8 Base010-1700000000000-7 Count11",
          "Ver011-1700000000101-9 Base010-1700000000000-7 Count11",
          "Ver012-1700000000200-7 Base011-1700000000100-7 Count12");

  private final SimpleDbServer server =
      SimpleDbServer.start(SimpleDbOptions.DEFAULT, Clock.system());
  private final ForeignClient foreign =
      new SdkClient(server.endpoint().toString(), ForeignClients.KEY, ForeignClients.SECRET);
  private final SimpleDbDriver driver = (SimpleDbDriver) Servers.open(server, 5_000);
  private final VersionTree tree = new VersionTree(new Store(driver, Clock.system()));

  @AfterEach
  void close() {
    driver.close();
    foreign.close();
    server.close();
  }

  private void write(Set<String> values) throws Exception {
    call("CreateDomain", Map.of("DomainName", SHOP));
    for (String value : values) {
      Map<String, String> pair = Map.of("Name", ATTRIBUTE, "Value", value);
      call(
          "PutAttributes",
          Map.of("DomainName", SHOP, "ItemName", PAGE, "Attributes", List.of(pair)));
    }
  }

  private void call(String action, Map<String, ?> parameters) throws Exception {
    var answer = foreign.call(action, ForeignClient.JSON.valueToTree(parameters));
    assertTrue(answer.hasNonNull("result"), answer::toString);
  }

  private long adopt() {
    return tree.adopt(PAGE, driver.valuesOf(SHOP, PAGE, ATTRIBUTE));
  }

  private void isRead(long count) {
    assertEquals(Optional.of(Reading.exact(count)), tree.read(PAGE));
  }

  @Test
  void theExampleOfTheArticleIsFourteen() throws Exception {
    write(EXAMPLE);
    assertEquals(14, adopt());
    isRead(14);
    assertEquals(14, adopt(), "a repeat has no effect");
    isRead(14);
    tree.add(new Add(PAGE, 3, null));
    tree.prune(PAGE);
    isRead(17);
    write(Set.of("Ver013-1700000000300-9 Base011-1700000000101-9 Count13"));
    assertEquals(16, adopt(), "a later value of the other client");
    isRead(19);
    assertEquals(PAGE, tree.list("", "", 9).counters().getFirst().name());
  }

  @Test
  void withoutTheBaseTheExampleHasNoResult() throws Exception {
    write(
        EXAMPLE.stream()
            .map(value -> value.replaceAll("Base\\S+ ", ""))
            .collect(Collectors.toSet()));
    assertThrows(NotAppliedException.class, this::adopt);
    assertEquals(Optional.empty(), tree.read(PAGE));
  }

  @Test
  void anAuditTrailWithoutBasesIsAChain() throws Exception {
    write(Set.of("Ver015 Count089", "Ver016 Count090"));
    assertEquals(90, adopt());
    isRead(90);
  }

  @Test
  void deletedBasesAreReportedUnlessTheyAreOfOneValue() {
    assertEquals(12, tree.adopt("one", Set.of("Ver012-b Base011-a Count12")));
    Set<String> two = Set.of("Ver012-b Base011-a Count12", "Ver011-c Base010-a Count11");
    assertThrows(NotAppliedException.class, () -> tree.adopt("two", two));
    Set<String> malformed = Set.of("12");
    assertThrows(IllegalArgumentException.class, () -> tree.adopt("two", malformed));
    Set<String> circle = Set.of("Ver011-a Base012-b Count1", "Ver012-b Base011-a Count2");
    assertThrows(NotAppliedException.class, () -> tree.adopt("two", circle));
    assertEquals(Optional.empty(), tree.read("two"));
  }
}
