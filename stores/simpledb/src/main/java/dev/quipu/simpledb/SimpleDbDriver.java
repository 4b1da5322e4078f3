package dev.quipu.simpledb;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.store.Condition;
import dev.quipu.store.FreshTokens;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Version;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.Scan.Page;
import dev.quipu.store.ScanDriver;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/**
 * Driver for Amazon SimpleDB, on one or several domains.
 *
 * <p><b>Stored.</b> One item of SimpleDB per item, named {@code LENGTH/PARTITION/SORT}, or a digest
 * above 1,024 bytes; in the domain chosen by a hash of the key. All values are texts:
 *
 * <pre>
 * p, s   partition and sort, for scans
 * v      the version: new with each write
 * x      expiry in milliseconds, or "-"
 * f      the fields, one per line: "n FIELD NUMBER", "t FIELD TEXT", and "s FIELD TOKEN" for each
 *        token; split into values of 1,024 bytes that begin with four digits and are read in order.
 *        A number is 20 digits with an offset of 2^63, so that it sorts as text
 * </pre>
 *
 * <p>One attribute holds all fields, since one call can replace the values of an attribute, but not
 * remove other attributes.
 *
 * <p><b>Protocol.</b> A condition of SimpleDB is on one attribute: {@code v} is unchanged since it
 * was read, or {@code p} is missing. The driver evaluates any other condition on the item that it
 * read, and writes with one of these two. Tokens that are added and dropped separately are separate
 * values of {@code f} and need neither: such items have no {@code v}.
 *
 * <p><b>Atomic.</b> One item. <b>Limits.</b> 64 KB of fields in an item, or 254 separately added
 * tokens, of 1,024 bytes with the name of their field. <b>Durable.</b> A consistent read returns
 * acknowledged writes; others may lag by a second or so.
 *
 * <p><b>Domains.</b> They must stay the same, in the same order, since they determine where an item
 * is stored. The hits and the summaries of a hit log may have domains of their own. Scans and
 * counts query all domains of their partition in parallel.
 *
 * <p><b>After a timeout, a dropped connection or a 5xx</b> the outcome of a write is unknown; the
 * client never retries. The service rejects a request that arrives more than 15 minutes late.
 *
 * @see <a href="https://docs.aws.amazon.com/AmazonSimpleDB/latest/DeveloperGuide/">guide</a>
 */
public final class SimpleDbDriver implements ScanDriver {
  static final StoreProfile PROFILE =
      new StoreProfile(
          "simpledb",
          EnumSet.of(
              Capability.STRONG_READ,
              Capability.NATIVE_TOKENS,
              Capability.ORDERED_SCAN,
              Capability.DURABLE),
          Atomicity.ITEM,
          1,
          65_536);

  /** Maximum number of domains of an account. */
  public static final int DOMAINS_MAX = 250;

  /** The version of an item that has only tokens: no condition holds on it. */
  static final Version OF_TOKENS = new Version("");

  private static final int RACES_MAX = 1_000;
  private static final int SELECT_MAX = 2_500;

  private final SimpleDbClient client;
  private final SimpleDbDomains domains;
  private final Runnable onClose;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  // Tokens are unique across processes, so that no version recurs.
  private final FreshTokens tokens = new FreshTokens();

  private SimpleDbDriver(SimpleDbClient client, SimpleDbDomains domains, Runnable onClose) {
    this.client = client;
    this.domains = domains;
    this.onClose = onClose;
  }

  /**
   * Opens a driver on these domains.
   *
   * @param client the caller closes it
   * @param domains 1 to {@link #DOMAINS_MAX}, which exist
   * @throws IllegalArgumentException if the number of domains is out of range
   */
  public static SimpleDbDriver of(SimpleDbClient client, List<String> domains) {
    return open(client, domains, () -> {});
  }

  static SimpleDbDriver open(SimpleDbClient client, List<String> domains, Runnable onClose) {
    return open(client, SimpleDbDomains.of(domains), onClose);
  }

  static SimpleDbDriver open(SimpleDbClient client, SimpleDbDomains domains, Runnable onClose) {
    return new SimpleDbDriver(client, domains, onClose);
  }

  @Override
  public StoreProfile profile() {
    return PROFILE;
  }

  /** Creates the missing domains. */
  void createDomains() {
    onAll(
        domains.all(),
        domain -> call(Outcome.UNKNOWN, "CreateDomain", Map.of("DomainName", domain)));
  }

  // ---- one item

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    Map<String, String> parameters = named(key);
    parameters.put("ConsistentRead", isStrong(consistency));
    List<Reply.Found> found = call(Outcome.NOT_APPLIED, "GetAttributes", parameters).items();
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(ItemAttributes.item(key, found.getFirst()));
  }

  @Override
  public WriteResult write(Write write) {
    boolean isAsked =
        switch (write.condition()) {
          case Condition.Always always -> true;
          case Condition.Absent absent -> true;
          case Condition.VersionIs is -> !is.version().equals(OF_TOKENS);
          default -> false;
        };
    for (int race = 0; race < RACES_MAX; race++) {
      Condition asked = write.condition();
      if (!isAsked) {
        Optional<Item> found = get(write.key(), Consistency.STRONG);
        boolean ofTokens = found.isPresent() && found.get().version().equals(OF_TOKENS);
        if (ofTokens || !write.holdsOn(found)) {
          return new WriteResult.ConditionFailed(write.key(), found);
        }
        asked = Condition.unchanged(found);
      }
      Version next = new Version(tokens.next());
      if (send(write, asked, next)) {
        return write instanceof Write.Put put
            ? new WriteResult.Applied(
                Optional.of(new Item(put.key(), put.fields(), next, put.expiresAt())))
            : new WriteResult.Applied(Optional.empty());
      }
      if (isAsked) {
        Optional<Item> found = get(write.key(), Consistency.STRONG);
        if (!write.holdsOn(found)) {
          return new WriteResult.ConditionFailed(write.key(), found);
        }
      }
    }
    throw write.key().contended(RACES_MAX + " attempts");
  }

  /** Sends a write; returns false if the condition does not hold. */
  private boolean send(Write write, Condition asked, Version next) {
    Map<String, String> parameters = named(write.key());
    switch (asked) {
      case Condition.Absent absent -> {
        parameters.put("Expected.Name", ItemAttributes.PARTITION);
        parameters.put("Expected.Exists", "false");
      }
      case Condition.VersionIs is -> {
        parameters.put("Expected.Name", ItemAttributes.VERSION);
        parameters.put("Expected.Value", is.version().token());
      }
      default -> {
        // no condition
      }
    }
    return switch (write) {
      case Write.Put put -> {
        Form form = new Form(parameters);
        form.replace(ItemAttributes.PARTITION, ItemAttributes.partition(put.key().partition()));
        form.replace(ItemAttributes.SORT, put.key().sort());
        form.replace(ItemAttributes.VERSION, next.token());
        form.replace(ItemAttributes.EXPIRY, ItemAttributes.expiry(put.expiresAt()));
        ItemAttributes.values(put.key(), put.fields())
            .forEach(each -> form.replace(ItemAttributes.FIELDS, each));
        yield sent("PutAttributes", parameters);
      }
      case Write.Delete delete -> sent("DeleteAttributes", parameters);
      case Write.Update update -> throw PROFILE.lacks(Capability.NATIVE_UPDATE);
    };
  }

  private boolean sent(String action, Map<String, String> parameters) {
    try {
      client.call(action, parameters);
      return true;
    } catch (SimpleDbException | IOException | InterruptedException e) {
      if (e instanceof SimpleDbException answer && answer.isUnmet()) {
        return false;
      }
      throw Failures.of(e, client.endpoint(), Outcome.UNKNOWN);
    }
  }

  @Override
  public void addTokens(Key key, String field, Set<String> added) {
    Map<String, String> parameters = named(key);
    Form form = new Form(parameters);
    form.replace(ItemAttributes.PARTITION, ItemAttributes.partition(key.partition()));
    form.replace(ItemAttributes.SORT, key.sort());
    added.forEach(token -> form.value(ItemAttributes.FIELDS, ItemAttributes.token(field, token)));
    call(Outcome.UNKNOWN, "PutAttributes", parameters);
  }

  @Override
  public void dropTokens(Key key, String field, Set<String> dropped) {
    Map<String, String> parameters = named(key);
    Form form = new Form(parameters);
    dropped.forEach(token -> form.value(ItemAttributes.FIELDS, ItemAttributes.token(field, token)));
    call(Outcome.UNKNOWN, "DeleteAttributes", parameters);
  }

  /** The numbered attributes of a call. */
  private static final class Form {
    private final Map<String, String> parameters;
    private int pairs;

    Form(Map<String, String> parameters) {
      this.parameters = parameters;
    }

    void value(String name, String value) {
      String at = "Attribute." + ++pairs;
      parameters.put(at + ".Name", name);
      parameters.put(at + ".Value", value);
    }

    void replace(String name, String value) {
      value(name, value);
      parameters.put("Attribute." + pairs + ".Replace", "true");
    }
  }

  /**
   * Returns the values of an attribute of an item that another client wrote, such as those of a
   * counter that {@code VersionTree.adopt} takes over.
   *
   * @param domain any domain of the account
   */
  public Set<String> valuesOf(String domain, String itemName, String attribute) {
    Map<String, String> parameters =
        Map.of("DomainName", domain, "ItemName", itemName, "ConsistentRead", "true");
    List<Reply.Found> found = call(Outcome.NOT_APPLIED, "GetAttributes", parameters).items();
    return found.isEmpty() ? Set.of() : Set.copyOf(found.getFirst().values(attribute));
  }

  // ---- many items

  @Override
  public Page scan(Scan scan) {
    String direction = scan.descending() ? "desc" : "asc";
    int wanted = scan.itemsMax() + 1; // one more shows where the next page begins
    List<Item> items = new ArrayList<>();
    for (List<Reply.Found> found :
        onAll(
            domains.ofPartition(scan.partition()),
            domain -> {
              String select =
                  "select * from `%s` where %s order by s %s limit %d"
                      .formatted(domain, range(scan), direction, wanted);
              return select(select, scan.consistency(), wanted);
            })) {
      for (Reply.Found each : found) {
        String sort = each.value(ItemAttributes.SORT).orElseThrow();
        items.add(ItemAttributes.item(new Key(scan.partition(), sort), each));
      }
    }
    Comparator<Item> order = Comparator.comparing(item -> item.key().sort(), Key.ORDER);
    items.sort(scan.descending() ? order.reversed() : order);
    return Page.of(scan, items);
  }

  /** Counts by {@code count(*)}, whose reply may be partial, with a token for the next part. */
  @Override
  public long count(Scan scan) {
    long count = 0;
    for (long part :
        onAll(
            domains.ofPartition(scan.partition()),
            domain -> {
              String select = "select count(*) from `%s` where %s".formatted(domain, range(scan));
              return select(select, scan.consistency(), Integer.MAX_VALUE).stream()
                  .mapToLong(each -> Long.parseLong(each.value("Count").orElseThrow()))
                  .sum();
            })) {
      count += part;
    }
    return count;
  }

  private static String range(Scan scan) {
    String partition = ItemAttributes.partition(scan.partition());
    String range = "p = %s and s >= %s".formatted(quoted(partition), quoted(scan.from()));
    return scan.until().map(until -> range + " and s < " + quoted(until)).orElse(range);
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  /** Returns up to {@code wanted} items of a query. A reply may have fewer than match. */
  private List<Reply.Found> select(String select, Consistency consistency, int wanted) {
    Map<String, String> parameters = new HashMap<>();
    parameters.put("SelectExpression", select);
    parameters.put("ConsistentRead", isStrong(consistency));
    List<Reply.Found> found = new ArrayList<>();
    Optional<String> token;
    do {
      Reply reply = call(Outcome.NOT_APPLIED, "Select", parameters);
      found.addAll(reply.items());
      token = reply.token();
      token.ifPresent(text -> parameters.put("NextToken", text));
    } while (token.isPresent() && found.size() < wanted);
    return found.size() <= wanted ? found : found.subList(0, wanted);
  }

  @Override
  public int removeExpired(Instant before, int itemsMax) {
    String last = ItemAttributes.number(before.toEpochMilli() - 1);
    int removed = 0;
    for (String domain : domains.all()) {
      int wanted = Math.min(itemsMax - removed, SELECT_MAX);
      if (wanted < 1) {
        break;
      }
      String select =
          "select p, s, v from `%s` where x between '0' and '%s' limit %d"
              .formatted(domain, last, wanted);
      for (Reply.Found each : select(select, Consistency.STRONG, wanted)) {
        Map<String, String> parameters = new HashMap<>();
        parameters.put("DomainName", domain);
        parameters.put("ItemName", each.name());
        parameters.put("Expected.Name", ItemAttributes.VERSION);
        parameters.put("Expected.Value", each.value(ItemAttributes.VERSION).orElse(""));
        removed += sent("DeleteAttributes", parameters) ? 1 : 0;
      }
    }
    return removed;
  }

  // ---- calls

  private static String isStrong(Consistency consistency) {
    return Boolean.toString(consistency == Consistency.STRONG);
  }

  private Map<String, String> named(Key key) {
    Map<String, String> parameters = new HashMap<>();
    parameters.put("DomainName", domains.of(key));
    parameters.put("ItemName", ItemAttributes.itemName(key));
    return parameters;
  }

  private Reply call(Outcome lost, String action, Map<String, String> parameters) {
    try {
      return client.call(action, parameters);
    } catch (SimpleDbException | IOException | InterruptedException e) {
      throw Failures.of(e, client.endpoint(), lost);
    }
  }

  /** Calls these domains in parallel. */
  private <T> List<T> onAll(List<String> asked, Function<String, T> call) {
    if (asked.size() == 1) {
      return List.of(call.apply(asked.getFirst()));
    }
    List<Future<T>> running = new ArrayList<>();
    for (String domain : asked) {
      running.add(threads.submit(() -> call.apply(domain)));
    }
    List<T> answers = new ArrayList<>();
    try {
      for (Future<T> each : running) {
        answers.add(each.get());
      }
      return answers;
    } catch (InterruptedException e) {
      throw Failures.of(e, client.endpoint(), Outcome.NOT_APPLIED); // without an effect
    } catch (ExecutionException e) {
      if (e.getCause() instanceof QuipuException failed) {
        throw failed;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  @Override
  public void close() {
    threads.close();
    onClose.run();
  }
}
