package dev.quipu.simpledb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.amazonaws.SdkClientException;
import dev.quipu.simpledbserver.SimpleDbFault;
import dev.quipu.simpledbserver.SimpleDbOptions;
import dev.quipu.simpledbserver.SimpleDbServer;
import dev.quipu.simulation.time.ManualClock;
import dev.quipu.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/**
 * One suite for three third-party clients, whose agreement defines the protocol. On another server,
 * it reports the differences.
 */
final class ForeignClientsTest {
  private static final Map<String, Object> DOMAIN = Map.of("DomainName", "shop");

  private final ManualClock clock = new ManualClock(Clock.system().epochMillis());
  private SimpleDbServer server = SimpleDbServer.start(SimpleDbOptions.DEFAULT, clock);
  private ForeignClient client = new SdkClient("http://127.0.0.1:1", "", "");

  private void open(ForeignClients kind) throws Exception {
    client = kind.open(server);
    ok("CreateDomain", DOMAIN);
  }

  private void open(ForeignClients kind, SimpleDbOptions options) throws Exception {
    server.close();
    server = SimpleDbServer.start(options, clock);
    open(kind);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  // ---- domains

  @ParameterizedTest
  @EnumSource
  void domains(ForeignClients kind) throws Exception {
    open(kind);
    ok("CreateDomain", DOMAIN); // a repeat has no effect
    for (int i = 0; i < 4; i++) {
      ok("CreateDomain", Map.of("DomainName", "more-" + i));
    }
    JsonNode page = ok("ListDomains", Map.of("MaxNumberOfDomains", 3));
    Set<String> names = new TreeSet<>(texts(page.get("DomainNames")));
    assertEquals(3, names.size());
    JsonNode rest = ok("ListDomains", Map.of("NextToken", page.get("NextToken").asString()));
    names.addAll(texts(rest.get("DomainNames")));
    assertEquals(Set.of("more-0", "more-1", "more-2", "more-3", "shop"), names);
    assertFalse(rest.hasNonNull("NextToken"));
    ok("DeleteDomain", Map.of("DomainName", "more-0"));
    ok("DeleteDomain", Map.of("DomainName", "more-0"));
    put("book", "price", "10");
    put("pen", "price", "10");
    assertEquals(2, ok("DomainMetadata", DOMAIN).get("ItemCount").asInt());
    fails("NoSuchDomain", 400, "GetAttributes", Map.of("DomainName", "more-0", "ItemName", "x"));
    fails("InvalidParameterValue", 400, "CreateDomain", Map.of("DomainName", "a b c"));
  }

  @ParameterizedTest
  @EnumSource
  void domainsAreLimited(ForeignClients kind) throws Exception {
    open(kind);
    for (int i = 1; i < 250; i++) {
      ok("CreateDomain", Map.of("DomainName", "domain" + i));
    }
    fails("NumberDomainsExceeded", 409, "CreateDomain", Map.of("DomainName", "one-more"));
  }

  // ---- attributes

  @ParameterizedTest
  @EnumSource
  void anAttributeIsASetOfValues(ForeignClients kind) throws Exception {
    open(kind);
    put("book", "color", "red");
    put("book", "color", "blue");
    put("book", "color", "red");
    put("book", "size", "A5");
    assertEquals(Map.of("color", Set.of("red", "blue"), "size", Set.of("A5")), get("book"));
    replace("book", "color", "green");
    assertEquals(Map.of("color", Set.of("green"), "size", Set.of("A5")), get("book"));
    JsonNode some =
        ok(
            "GetAttributes",
            item("book", Map.of("AttributeNames", List.of("size"), "ConsistentRead", true)));
    assertEquals(Map.of("size", Set.of("A5")), attributes(some));
    assertEquals(Map.of(), get("nothing"));
  }

  @ParameterizedTest
  @EnumSource
  void replaceIsOfAllValuesInACall(ForeignClients kind) throws Exception {
    open(kind);
    put("book", "color", "red");
    List<Map<String, Object>> pairs =
        List.of(
            Map.of("Name", "color", "Value", "blue", "Replace", true),
            Map.of("Name", "color", "Value", "green", "Replace", true));
    ok("PutAttributes", item("book", Map.of("Attributes", pairs)));
    assertEquals(Map.of("color", Set.of("blue", "green")), get("book"));
  }

  @ParameterizedTest
  @EnumSource
  void deletes(ForeignClients kind) throws Exception {
    open(kind);
    put("book", "color", "red");
    put("book", "color", "blue");
    put("book", "size", "A5");
    delete("book", List.of(Map.of("Name", "color", "Value", "red")));
    delete("book", List.of(Map.of("Name", "color", "Value", "never")));
    assertEquals(Map.of("color", Set.of("blue"), "size", Set.of("A5")), get("book"));
    boolean wantsValues = kind == ForeignClients.BOTOCORE; // its model requires values
    delete("book", List.of(wantsValues ? pair("size", "A5") : Map.of("Name", "size")));
    assertEquals(Map.of("color", Set.of("blue")), get("book"));
    delete("book", List.of());
    assertEquals(Map.of(), get("book"));
    delete("book", List.of());
    assertEquals(List.of(), select("select * from shop"));
  }

  @ParameterizedTest
  @EnumSource
  void everyTextRoundTrips(ForeignClients kind) throws Exception {
    open(kind);
    for (String text :
        List.of("", " a  b ", "<&>\"'`%+~*", "數え\uD83D\uDE00é", "line\nline\ttab", "'' \\")) {
      String name = "n" + text;
      replace("item " + text, name, text);
      assertEquals(Map.of(name, Set.of(text)), get("item " + text));
    }
  }

  /** The other clients do not expose the encoding of a value. */
  @Test
  void whatXmlCannotHoldComesInBase64() throws Exception {
    open(ForeignClients.SDK_FOR_JAVA);
    put("controls", "a", "x\u0001y");
    JsonNode pair = ok("GetAttributes", item("controls", Map.of())).get("Attributes").get(0);
    assertEquals("eAF5", pair.get("Value").asString());
    assertEquals("base64", pair.get("AlternateValueEncoding").asString());
  }

  // ---- conditions

  @ParameterizedTest
  @EnumSource
  void conditions(ForeignClients kind) throws Exception {
    open(kind);
    Map<String, Object> isNew = Map.of("Name", "v", "Exists", false);
    Map<String, Object> isOne = Map.of("Name", "v", "Value", "1");
    fails("AttributeDoesNotExist", 404, "PutAttributes", putIf(isOne, "2"));
    ok("PutAttributes", putIf(isNew, "1"));
    fails("ConditionalCheckFailed", 409, "PutAttributes", putIf(isNew, "1"));
    ok("PutAttributes", putIf(Map.of("Name", "v", "Value", "1", "Exists", true), "2"));
    fails("ConditionalCheckFailed", 409, "PutAttributes", putIf(isOne, "3"));
    fails("ConditionalCheckFailed", 409, "DeleteAttributes", item("n", Map.of("Expected", isOne)));
    assertEquals(Map.of("v", Set.of("2")), get("n"));
    put("n", "v", "3");
    fails("MultiValuedAttribute", 409, "PutAttributes", putIf(isOne, "4"));
    fails(
        "ExistsAndExpectedValue",
        400,
        "PutAttributes",
        putIf(Map.of("Name", "v", "Value", "1", "Exists", false), "4"));
    fails("IncompleteExpectedExpression", 400, "PutAttributes", putIf(Map.of("Name", "v"), "4"));
    replace("n", "v", "5");
    ok("DeleteAttributes", item("n", Map.of("Expected", Map.of("Name", "v", "Value", "5"))));
    assertEquals(Map.of(), get("n"));
  }

  private static Map<String, Object> putIf(Map<String, Object> expected, String value) {
    return item(
        "n",
        Map.of(
            "Attributes",
            List.of(Map.of("Name", "v", "Value", value, "Replace", true)),
            "Expected",
            expected));
  }

  // ---- limits

  @ParameterizedTest
  @EnumSource
  void anItemHas256Pairs(ForeignClients kind) throws Exception {
    open(kind);
    ok("PutAttributes", item("full", Map.of("Attributes", numbered(0, 200))));
    ok("PutAttributes", item("full", Map.of("Attributes", numbered(200, 256))));
    ok("PutAttributes", item("full", Map.of("Attributes", numbered(100, 200))));
    fails(
        "NumberItemAttributesExceeded",
        409,
        "PutAttributes",
        item("full", Map.of("Attributes", numbered(256, 257))));
    assertEquals(256, get("full").getOrDefault("a", Set.of()).size());
    fails(
        "NumberSubmittedAttributesExceeded",
        409,
        "PutAttributes",
        item("over", Map.of("Attributes", numbered(0, 257))));
    assertEquals(Map.of(), get("over"));
  }

  @ParameterizedTest
  @EnumSource
  void aTextHas1024Bytes(ForeignClients kind) throws Exception {
    open(kind);
    String longest = "é".repeat(512);
    put(longest, longest, longest);
    assertEquals(Map.of(longest, Set.of(longest)), get(longest));
    for (List<String> each :
        List.of(
            List.of(longest + "x", "a", "b"),
            List.of("a", longest + "x", "b"),
            List.of("a", "b", longest + "x"))) {
      fails(
          "InvalidParameterValue",
          400,
          "PutAttributes",
          item(each.get(0), Map.of("Attributes", List.of(pair(each.get(1), each.get(2))))));
    }
    assertEquals(Map.of(), get("a"));
  }

  @ParameterizedTest
  @EnumSource
  void batches(ForeignClients kind) throws Exception {
    open(kind);
    ok("BatchPutAttributes", batch(25));
    assertEquals(25, select("select * from shop limit 100").size());
    fails("NumberSubmittedItemsExceeded", 409, "BatchPutAttributes", batch(26));
    Map<String, Object> twin = Map.of("Name", "twin", "Attributes", List.of(pair("a", "1")));
    fails(
        "DuplicateItemName",
        400,
        "BatchPutAttributes",
        domain(Map.of("Items", List.of(twin, twin))));
    List<Map<String, Object>> gone =
        IntStream.range(0, 24).mapToObj(i -> Map.<String, Object>of("Name", "i" + i)).toList();
    ok("BatchDeleteAttributes", domain(Map.of("Items", gone)));
    assertEquals(List.of("i24"), select("select * from shop"));
  }

  private static Map<String, Object> batch(int items) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (int i = 0; i < items; i++) {
      all.add(Map.of("Name", "i" + i, "Attributes", List.of(pair("a", "1"))));
    }
    return domain(Map.of("Items", all));
  }

  // ---- select

  @ParameterizedTest
  @EnumSource
  void selects(ForeignClients kind) throws Exception {
    open(kind);
    book("0385333498", "The Sirens of Titan", "1959", "00336", "Book", "Paperback");
    book("0802131786", "Tropic of Cancer", "1934", "00318", "Book");
    book("1579124585", "The Right Stuff", "1979", "00304", "Book", "Hardcover", "American");
    book("B000T9886K", "In Between", "2007", "00096", "CD", "Trance");
    book("B00005JPLW", "300", "2007", "00117", "DVD", "Action", "Frank Miller");
    book("B000SF3NGK", "Heaven's Gonna Burn Your Eyes", "2002", "00048");
    found("title = 'The Right Stuff'", "1579124585");
    found("year > '1985' order by year asc", "B000SF3NGK", "B000T9886K", "B00005JPLW");
    found("title like 'The %'", "0385333498", "1579124585");
    found("title not like 'The %' and year < '1940'", "0802131786");
    found("title = 'Heaven''s Gonna Burn Your Eyes'", "B000SF3NGK");
    found("title = \"Heaven's Gonna Burn Your Eyes\"", "B000SF3NGK");
    found("year between '1950' and '1980'", "0385333498", "1579124585");
    found("year in ('1934', '1979')", "0802131786", "1579124585");
    found("keyword is null", "B000SF3NGK");
    found("keyword = 'Book' and keyword = 'Hardcover'");
    found("keyword = 'Book' intersection keyword = 'Hardcover'", "1579124585");
    found("keyword = 'Frank Miller'", "B00005JPLW");
    found("every(keyword) in ('Book', 'Paperback')", "0385333498", "0802131786");
    found("not keyword = 'Book' and year > '2006'", "B000T9886K", "B00005JPLW");
    found("(year = '1934' or year = '1959') and pages > '00320'", "0385333498");
    found("itemName() > 'B' order by itemName() desc", "B000T9886K", "B000SF3NGK", "B00005JPLW");
    found("`year` = '1934'", "0802131786");
    JsonNode two = ok("Select", Map.of("SelectExpression", "select title, year from shop"));
    assertEquals(2, two.get("Items").get(0).get("Attributes").size());
    for (String wrong :
        List.of(
            "select",
            "select * from",
            "select * from shop where",
            "select * from shop where a =",
            "select * from shop where a = b",
            "select * from shop where a = 'x",
            "delete shop")) {
      fails("InvalidQueryExpression", 400, "Select", Map.of("SelectExpression", wrong));
    }
    fails(
        "InvalidSortExpression",
        400,
        "Select",
        Map.of("SelectExpression", "select * from shop order by year"));
    String many = String.join(" or ", Collections.nCopies(21, "a = 'b'"));
    fails(
        "InvalidNumberPredicates",
        400,
        "Select",
        Map.of("SelectExpression", "select * from shop where " + many));
    fails("NoSuchDomain", 400, "Select", Map.of("SelectExpression", "select * from nowhere"));
  }

  private void book(String name, String title, String year, String pages, String... keywords)
      throws Exception {
    put(name, "title", title);
    put(name, "year", year);
    put(name, "pages", pages);
    for (String keyword : keywords) {
      put(name, "keyword", keyword);
    }
  }

  /** Compares in this order, if the query has one. */
  private void found(String where, String... names) throws Exception {
    List<String> found = select("select itemName() from shop where " + where);
    if (where.contains("itemName() desc")) {
      assertEquals(List.of(names), found, where);
    } else {
      assertEquals(Set.of(names), new HashSet<>(found), where);
      assertEquals(names.length, found.size(), where);
    }
  }

  @ParameterizedTest
  @EnumSource
  void pagesAndTokens(ForeignClients kind) throws Exception {
    open(kind);
    for (int i = 0; i < 150; i++) {
      put("i%03d".formatted(i), "n", "%03d".formatted(149 - i));
    }
    assertEquals(100, page("select * from shop", "").get("Items").size());
    assertEquals(150, select("select * from shop").size());
    List<String> sorted = select("select * from shop where n >= '010' order by n desc limit 7");
    assertEquals(140, sorted.size());
    assertEquals("i000", sorted.getFirst());
    assertEquals("i139", sorted.getLast());
    String token = page("select * from shop limit 5", "").get("NextToken").asString();
    JsonNode other = page("select * from shop where n > '1'", token);
    assertEquals("InvalidNextToken", other.path("code").asString());
    assertEquals("InvalidNextToken", page("select * from shop", "no").path("code").asString());
    assertEquals(
        "InvalidParameterValue", page("select * from shop limit 2501", "").path("code").asString());
  }

  @ParameterizedTest
  @EnumSource
  void aCountMayComeInParts(ForeignClients kind) throws Exception {
    open(kind, SimpleDbOptions.DEFAULT.countingInPartsOf(40));
    for (int i = 0; i < 100; i++) {
      put("i%03d".formatted(i), "n", "%03d".formatted(i));
    }
    String select = "select count(*) from shop where n > '009'";
    List<Integer> parts = new ArrayList<>();
    String token = "";
    do {
      JsonNode page = page(select, token);
      JsonNode domain = page.get("Items").get(0);
      assertEquals("Domain", domain.get("Name").asString());
      assertEquals("Count", domain.get("Attributes").get(0).get("Name").asString());
      parts.add(Integer.parseInt(domain.get("Attributes").get(0).get("Value").asString()));
      token = page.path("NextToken").asString("");
    } while (!token.isEmpty());
    assertEquals(List.of(40, 40, 10), parts);
    // a select accepts the token of a count of the same query
    token = page("select count(*) from shop where n > '009'", "").get("NextToken").asString();
    JsonNode rest = page("select * from shop where n > '009'", token);
    assertEquals("i050", rest.get("Items").get(0).get("Name").asString());
    assertEquals(50, rest.get("Items").size());
  }

  @ParameterizedTest
  @EnumSource
  void anAnswerHasOneMegabyte(ForeignClients kind) throws Exception {
    open(kind);
    List<Map<String, Object>> pairs = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      pairs.add(pair("a" + i, "x".repeat(1_000)));
    }
    for (int i = 0; i < 40; i++) {
      ok("PutAttributes", item("i" + i, Map.of("Attributes", pairs)));
    }
    JsonNode page = page("select * from shop limit 100", "");
    assertTrue(page.get("Items").size() < 40, "the page is cut");
    assertTrue(page.hasNonNull("NextToken"));
    assertEquals(40, select("select * from shop limit 100").size());
  }

  // ---- consistency

  @ParameterizedTest
  @EnumSource
  void readsMayBeStaleUnlessTheyAreConsistent(ForeignClients kind) throws Exception {
    open(kind, SimpleDbOptions.DEFAULT.lagging(Duration.ofSeconds(1), 7));
    replace("n", "v", "old");
    clock.advance(Duration.ofSeconds(2));
    replace("n", "v", "new");
    clock.advance(Duration.ofMillis(500));
    List<String> seen = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      seen.addAll(attributes(ok("GetAttributes", item("n", Map.of()))).getOrDefault("v", Set.of()));
      assertEquals(Set.of("new"), get("n").get("v"));
    }
    int back = 0;
    for (int i = 1; i < seen.size(); i++) {
      back += seen.get(i - 1).equals("new") && seen.get(i).equals("old") ? 1 : 0;
    }
    assertTrue(back > 0, "a later read may see less: " + seen);
    clock.advance(Duration.ofSeconds(1));
    for (int i = 0; i < 40; i++) {
      assertEquals(
          Set.of("new"),
          attributes(ok("GetAttributes", item("n", Map.of()))).getOrDefault("v", Set.of()));
    }
  }

  // ---- errors

  @ParameterizedTest
  @EnumSource
  void authentication(ForeignClients kind) throws Exception {
    open(kind);
    try (ForeignClient stranger = kind.open(server.endpoint().toString(), "wrong")) {
      JsonNode answer = stranger.call("ListDomains", ForeignClient.JSON.createObjectNode());
      assertEquals("SignatureDoesNotMatch", answer.path("code").asString());
      assertEquals(403, answer.get("status").asInt());
    }
    clock.advance(Duration.ofMinutes(16));
    fails("RequestExpired", 400, "ListDomains", Map.of());
  }

  @ParameterizedTest
  @EnumSource
  void errorsBeforeAndAfterAWriteWasApplied(ForeignClients kind) throws Exception {
    open(kind);
    int applied = 0;
    for (SimpleDbFault fault : SimpleDbFault.values()) {
      server.use(Map.of(fault, 1.0));
      JsonNode answer;
      try {
        answer = call("PutAttributes", item(fault.name(), Map.of("Attributes", numbered(0, 1))));
      } catch (SdkClientException e) {
        answer = ForeignClient.JSON.createObjectNode().put("status", 0); // no reply
      }
      server.use(Map.of());
      int status = answer.get("status").asInt();
      boolean before =
          fault == SimpleDbFault.UNAVAILABLE || fault == SimpleDbFault.ERROR_BEFORE_APPLY;
      switch (fault) {
        case UNAVAILABLE, UNAVAILABLE_AFTER_APPLY -> assertEquals(503, status);
        case ERROR_BEFORE_APPLY, ERROR_AFTER_APPLY -> assertEquals(500, status);
        case REPLY_DROPPED -> assertEquals(0, status);
      }
      applied += before ? 0 : 1;
      assertEquals(before, get(fault.name()).isEmpty(), fault::name);
      assertEquals(applied, server.applied());
      assertEquals(1, server.fired().get(fault));
    }
  }

  // ---- helpers

  private JsonNode call(String action, Map<String, Object> parameters) throws Exception {
    return client.call(action, ForeignClient.JSON.valueToTree(parameters));
  }

  private JsonNode ok(String action, Map<String, Object> parameters) throws Exception {
    JsonNode answer = call(action, parameters);
    assertTrue(answer.has("result"), () -> action + ": " + answer);
    return answer.get("result");
  }

  private void fails(String code, int status, String action, Map<String, Object> parameters)
      throws Exception {
    JsonNode answer = call(action, parameters);
    assertEquals(code, answer.path("code").asString(""), () -> action + ": " + answer);
    assertEquals(status, answer.get("status").asInt());
  }

  private static Map<String, Object> domain(Map<String, Object> more) {
    Map<String, Object> parameters = new HashMap<>(more);
    parameters.putAll(DOMAIN);
    return parameters;
  }

  private static Map<String, Object> item(String name, Map<String, Object> more) {
    Map<String, Object> parameters = domain(more);
    parameters.put("ItemName", name);
    return parameters;
  }

  private static Map<String, Object> pair(String name, String value) {
    return Map.of("Name", name, "Value", value);
  }

  private static List<Map<String, Object>> numbered(int from, int until) {
    return IntStream.range(from, until).mapToObj(i -> pair("a", "value " + i)).toList();
  }

  private void put(String item, String name, String value) throws Exception {
    ok("PutAttributes", item(item, Map.of("Attributes", List.of(pair(name, value)))));
  }

  private void replace(String item, String name, String value) throws Exception {
    Map<String, Object> pair = Map.of("Name", name, "Value", value, "Replace", true);
    ok("PutAttributes", item(item, Map.of("Attributes", List.of(pair))));
  }

  private void delete(String item, List<Map<String, Object>> pairs) throws Exception {
    ok("DeleteAttributes", item(item, pairs.isEmpty() ? Map.of() : Map.of("Attributes", pairs)));
  }

  private Map<String, Set<String>> get(String item) throws Exception {
    return attributes(ok("GetAttributes", item(item, Map.of("ConsistentRead", true))));
  }

  private static Map<String, Set<String>> attributes(JsonNode result) {
    Map<String, Set<String>> found = new HashMap<>();
    for (JsonNode each : result.path("Attributes")) {
      found
          .computeIfAbsent(each.get("Name").asString(), name -> new HashSet<>())
          .add(each.path("Value").asString(""));
    }
    return found;
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(each -> texts.add(each.asString()));
    return texts;
  }

  /** Selects one page; returns its result, or the error. */
  private JsonNode page(String select, String token) throws Exception {
    Map<String, Object> parameters = new HashMap<>();
    parameters.put("SelectExpression", select);
    parameters.put("ConsistentRead", true);
    if (!token.isEmpty()) {
      parameters.put("NextToken", token);
    }
    JsonNode answer = call("Select", parameters);
    return answer.has("result") ? answer.get("result") : answer;
  }

  /** Returns the names of all items, over all pages. */
  private List<String> select(String select) throws Exception {
    List<String> names = new ArrayList<>();
    String token = "";
    do {
      JsonNode page = page(select, token);
      page.path("Items").forEach(each -> names.add(each.get("Name").asString()));
      token = page.path("NextToken").asString("");
    } while (!token.isEmpty());
    return names;
  }
}
