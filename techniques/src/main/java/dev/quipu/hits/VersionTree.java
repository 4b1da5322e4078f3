package dev.quipu.hits;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reading;
import dev.quipu.Reason;
import dev.quipu.cache.LruMap;
import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.technique.CounterItems;
import dev.quipu.technique.IdempotentRetry;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import dev.quipu.time.Randomness;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts with a tree of versions, without conditions or locks. Thread-safe.
 *
 * <pre>{@code
 * VERSION TREE
 *
 * Problem. The store can only add values to a set and remove them, and returns stale reads. Many
 * processes must count concurrently, without locks.
 *
 * Stored. An item has a set of values. A write never replaces the value of another process: it adds
 * a value, with its version (a number, the writer and its start), the version from which it was
 * made, the count as the writer knows it, and the sum that this writer has added since its start.
 * The values form a tree:
 *
 *        +- 11 -- 12
 *   10 --+- 11
 *        +- 11          is 14
 *
 * Three processes read 10 and added 1, without seeing each other; one of them added another 1. The
 * consecutive values of one writer are a branch; concurrent adds of one process use separate
 * branches. A root, in a separate item, replaces branches that have been folded. A counter has
 * several such items, and each branch is in one of them.
 *
 * Protocol.
 *   Add:
 *     1. A process without a free branch reads the tree, and begins a branch at the version with
 *        the highest number.
 *     2. Add a value to the set: the last value of this branch, plus the delta. If the outcome is
 *        unknown, add it again. It is the same value.
 *     3. Remove the values of this branch that the new one supersedes, except for a few recent
 *        ones, the trail.
 *     4. If the item is full, prune it; if it is still full, begin a branch in the next item.
 *   Adopt: add the values that another client wrote, with their versions and bases, to an item of
 *     their own. Their count is that of the first, plus the difference of each other one to its
 *     base.
 *   Read: read all items. The count is the root plus, for each branch, the branch sum of its last
 *   value.
 *   Prune, by any process, at any time:
 *     1. Remove values that a later value of their branch supersedes.
 *     2. Branches end at a certain age. When that age has passed, and no write can be in flight any
 *        more, add a root that includes all branches until some moment, in addition to the old
 *        root.
 *     3. Once every reader knows a root, remove the values that it includes. A root is known to
 *        every reader when the settle time has passed since a process recorded that it had stored
 *        the root or found it stored; the time since the root was made does not count, since that
 *        may be much earlier.
 *
 * Why it is correct. The values of a branch are written one after the other by one process, and
 * each value holds the sum of all that the branch has added: seeing its last value suffices, and
 * seeing any value twice is harmless. Each of two roots is correct by itself, and the later one
 * wins; a process that folds branches sees all of them, since none of them changes any more. So
 * order, repeats and pruning do not change the count.
 *
 * Visibility. A strong read sees every acknowledged add. An eventual read returns the count as it
 * was when the store's consistency window began: it is in low..high, which include every value that
 * the recently changed branches ever had. Later adds may be missing. A replica must return an item
 * as it was at one moment.
 *
 * Assumptions. Half the settle time exceeds the sum of the following: the clock difference between
 * two processes, the lag of a replica, the longest pause of a process between reading its clock and
 * the write that follows, and the delay of that write. Otherwise an acknowledged add may be in a
 * branch that was folded without it, and is lost. A value that was not acknowledged, roots and
 * removals may be delayed without limit.
 *
 * Crash table.
 *   | crash                | stored                  | a repeat                                |
 *   | before the write     | nothing                 | is a new add: counts exactly once       |
 *   | reply lost           | the value               | within the call: adds the same value,   |
 *   |                      |                         | and counts exactly once                 |
 *   | before the removal   | superseded values       | any process prunes them                 |
 *   | process dies         | its branch              | it is folded when it is old enough      |
 *   | between root, values | root, and folded values | they are ignored until they are removed |
 *   An add whose outcome stays unknown counts, at the latest, when its process next adds to the
 *   same branch.
 *
 * Cost. An add takes one round trip and one write. Old values are removed with further writes,
 * several values at once. A read reads all items of the counter. One item of SimpleDB has space for
 * about 80 processes with their trails, or for 250 without trails; more items have space for more
 * processes.
 *
 * Neither bounds nor request ids are supported.
 *
 * Source. "SimpleDB counters", the hard way.
 * }</pre>
 */
public final class VersionTree implements Technique {
  /** Its requirements, guarantees and costs, with strong reads. */
  public static final TechniqueSpec SPEC = Techniques.VERSION_TREE;

  private static final Logger LOGGER = LoggerFactory.getLogger(VersionTree.class);
  private static final String PARTITION = "tree/";
  private static final String VALUES = "values";
  private static final String ROOTS = "roots";
  private static final String SEEN = "seen";
  private static final int PRUNED_AT = 50; // removable values at which a reader prunes an item
  private static final int COUNTERS_MAX = 100_000;
  private static final int ADOPTED_ITEM = VersionTreeOptions.ITEMS_MAX; // after those of writers

  private final Store store;
  private final VersionTreeOptions options;
  private final TechniqueSpec spec;
  private final CounterItems items;
  private final RandomGenerator random;
  private final LruMap<String, Deque<Writer>> idle = new LruMap<>(COUNTERS_MAX);

  /** A branch, with one add at a time. */
  private static final class Writer {
    final int item;
    final Deque<String> earlier = new ArrayDeque<>();
    VersionNode last;

    Writer(int item, VersionNode last) {
      this.item = item;
      this.last = last;
    }
  }

  /**
   * Creates the technique on {@code store} with {@link VersionTreeOptions#DEFAULT}.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public VersionTree(Store store) {
    this(store, Randomness.secure(), VersionTreeOptions.DEFAULT);
  }

  /** Creates the technique with the given options. */
  public VersionTree(Store store, VersionTreeOptions options) {
    this(store, Randomness.secure(), options);
  }

  /** Creates the technique with the given options and source of randomness. */
  public VersionTree(Store store, RandomGenerator random, VersionTreeOptions options) {
    SPEC.requireWorksOn(store.profile());
    this.store = store;
    this.options = options;
    this.spec =
        options.reads() == Consistency.STRONG
            ? SPEC
            : SPEC.promising(Set.of(Guarantee.AT_MOST_ONCE));
    this.items = new CounterItems(store);
    this.random = random;
  }

  @Override
  public TechniqueSpec spec() {
    return spec;
  }

  // ---- adds

  /**
   * Adds.
   *
   * @throws UnsupportedOperationException if {@code add} has bounds or an id
   */
  @Override
  public AddResult add(Add add) {
    if (!add.bounds().isNone()) {
      throw Techniques.keepsNoBounds(SPEC);
    }
    if (add.id() != null) {
      throw Techniques.keepsNoIds(spec().name());
    }
    items.enlist(add.counter());
    Deque<Writer> free =
        idle.computeIfAbsent(add.counter(), counter -> new ConcurrentLinkedDeque<>());
    Writer writer = free.pollLast();
    boolean isDone = false;
    if (writer != null && isYoung(writer)) {
      Optional<VersionNode> next = next(writer.last, add.delta());
      if (next.isPresent()) {
        try {
          isDone = follow(add.counter(), writer, next.get());
        } catch (QuipuException e) {
          free.addLast(writer);
          throw e;
        }
      }
    }
    free.addLast(isDone ? writer : begin(add));
    return new AddResult.Applied(add.delta(), OptionalLong.empty());
  }

  private boolean isYoung(Writer writer) {
    long age = now() - writer.last.branch().startMillis();
    return 0 <= age && age < options.branchAge().toMillis();
  }

  /** Returns the next value; empty if the branch would overflow 64 bits. */
  private Optional<VersionNode> next(VersionNode last, long delta) {
    try {
      return Optional.of(last.next(delta, now()));
    } catch (ArithmeticException e) {
      return Optional.empty();
    }
  }

  /** Begins a branch with this add as its first value, in the first item that is not full. */
  private Writer begin(Add add) {
    int first = random.nextInt(options.items());
    for (int i = 0; i < VersionTreeOptions.ITEMS_MAX; i++) {
      int item = i < options.items() ? (first + i) % options.items() : i;
      VersionTrees seen = tree(add.counter(), item);
      VersionNode.Branch branch =
          new VersionNode.Branch(now(), Long.toHexString(random.nextLong()));
      Optional<VersionNode> highest =
          seen.tips().stream().reduce((a, b) -> a.number() >= b.number() ? a : b);
      Writer writer =
          new Writer(item, VersionNode.first(branch, highest, add.delta(), branch.startMillis()));
      if (put(add.counter(), item, writer.last)) {
        return writer;
      }
    }
    throw new NotAppliedException(
        Reason.FULL,
        "all %d items of counter %s are full"
            .formatted(VersionTreeOptions.ITEMS_MAX, add.counter()));
  }

  /** Puts the next value of a branch; returns false if the item is full. */
  private boolean follow(String counter, Writer writer, VersionNode next) {
    VersionNode before = writer.last;
    boolean isStored;
    try {
      isStored = put(counter, writer.item, next);
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.UNKNOWN) {
        writer.earlier.addLast(before.text());
        writer.last = next; // the following value includes it
      }
      throw e;
    }
    if (isStored) {
      writer.earlier.addLast(before.text());
      writer.last = next;
      dropEarlier(nodesKey(counter, writer.item), writer);
    }
    return isStored;
  }

  /** Puts a value, after pruning if necessary; returns false if the item is full. */
  private boolean put(String counter, int item, VersionNode node) {
    for (int attempt = 0; attempt < 2; attempt++) {
      try {
        IdempotentRetry.result(
            store,
            "value " + node.version(),
            () -> {
              store.addTokens(nodesKey(counter, item), VALUES, Set.of(node.text()));
              return node;
            });
        requireInTime(node);
        return true;
      } catch (QuipuException e) {
        boolean isFull = e.reason() == Reason.FULL || e.reason() == Reason.INVALID;
        if (e.outcome() == Outcome.UNKNOWN || !isFull) {
          throw e;
        }
        pruneIfPossible(counter, item, 0);
      }
    }
    return false;
  }

  /**
   * Throws if the value came so late that its branch may have been folded: the outcome is unknown.
   */
  private void requireInTime(VersionNode node) {
    long age = now() - node.branch().startMillis();
    if (age > options.branchAge().toMillis() + options.settle().toMillis() / 2) {
      throw new OutcomeUnknownException(
          Reason.TIMEOUT, "value %s took too long".formatted(node.version()), null);
    }
  }

  /**
   * Removes several values in one call, best effort: the rest is removed later, or by other
   * processes.
   */
  private void dropEarlier(Key key, Writer writer) {
    if (writer.earlier.size() <= 2 * options.trail()) {
      return;
    }
    Set<String> gone = new HashSet<>();
    while (writer.earlier.size() > options.trail() && gone.size() < Store.TOKENS_MAX) {
      gone.add(writer.earlier.pollFirst());
    }
    try {
      store.dropTokens(key, VALUES, gone);
    } catch (QuipuException e) {
      LOGGER.debug("Superseded values not removed; will retry", e);
    }
  }

  private long now() {
    return Hits.now(store);
  }

  /**
   * Adopts a counter that other clients maintained with the plain algorithm of the article, with
   * values such as {@code Ver016-TIME-PROCESS Base015-TIME-PROCESS Count090}. A repeat is harmless,
   * also with further values. A read during the call may lack some of them.
   *
   * @param values all stored values of the counter, 1 to {@link VersionTreeOptions#ADOPTED_MAX}
   * @return the count of the adopted values
   * @throws NotAppliedException if they have no single result: several bases were deleted
   */
  public long adopt(String counter, Set<String> values) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    Key key = nodesKey(counter, ADOPTED_ITEM);
    AdoptedValues all = AdoptedValues.checked(counter, tokens(store.get(key), VALUES), values);
    items.enlist(counter);
    AdoptedValues.put(store, key, VALUES, values);
    return all.count(counter);
  }

  // ---- reads

  @Override
  public Optional<Reading> read(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    long settled =
        options.reads() == Consistency.STRONG
            ? Long.MAX_VALUE
            : now() - options.settle().toMillis();
    Map<Integer, VersionTrees> trees = trees(counter);
    if (trees.isEmpty()) {
      return Optional.empty();
    }
    long value = 0;
    long low = 0;
    long high = 0;
    for (Map.Entry<Integer, VersionTrees> each : trees.entrySet()) {
      Reading part = each.getValue().reading(counter, settled);
      value = CounterItems.plus(counter, value, part.value());
      low = CounterItems.plus(counter, low, part.low());
      high = CounterItems.plus(counter, high, part.high());
      if (each.getValue().prunable(options.trail(), horizon(now())) >= PRUNED_AT) {
        pruneIfPossible(counter, each.getKey(), options.trail());
      }
    }
    return Optional.of(new Reading(value, low, high));
  }

  /** Returns the trees of a counter by item, as a reader sees them, without changing them. */
  public Map<Integer, VersionTrees> trees(String counter) {
    Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
    return SettledRead.of(store, options.settle(), counter, () -> resolved(counter));
  }

  private Map<Integer, VersionTrees> resolved(String counter) {
    Scan scan =
        new Scan(PARTITION + counter, "", Optional.empty(), false, Scan.ITEMS_MAX, options.reads());
    List<Item> found = new ArrayList<>();
    store.scanAll(scan, found::addAll);
    Map<Integer, Set<String>> values = new TreeMap<>();
    Map<Integer, Set<String>> roots = new TreeMap<>();
    for (Item item : found) {
      String sort = item.key().sort();
      int number = Integer.parseInt(sort.substring(sort.indexOf('/') + 1));
      values.computeIfAbsent(number, ignored -> new HashSet<>()).addAll(item.tokens(VALUES));
      roots.computeIfAbsent(number, ignored -> new HashSet<>()).addAll(item.tokens(ROOTS));
    }
    Map<Integer, VersionTrees> trees = new TreeMap<>();
    values.forEach((number, texts) ->
        trees.put(number, VersionTrees.of(texts, roots.getOrDefault(number, Set.of()))));
    return trees;
  }

  private static Key nodesKey(String counter, int item) {
    return new Key(PARTITION + counter, "nodes/%02d".formatted(item));
  }

  private static Key rootKey(String counter, int item) {
    return new Key(PARTITION + counter, "root/%02d".formatted(item));
  }

  /**
   * Returns the tree of one item. Values are read before roots, since a new root may replace some.
   */
  private VersionTrees tree(String counter, int item) {
    Optional<Item> nodes = store.get(nodesKey(counter, item));
    Set<String> values = tokens(nodes, VALUES);
    Optional<Item> roots = store.get(rootKey(counter, item));
    return VersionTrees.of(values, tokens(roots, ROOTS), tokens(roots, SEEN));
  }

  private static Set<String> tokens(Optional<Item> item, String field) {
    return item.map(each -> each.tokens(field)).orElse(Set.of());
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    return items.list(prefix, after, limit, this::read);
  }

  // ---- pruning

  /**
   * Removes superseded values, and folds old branches. Any number of processes may do so
   * concurrently; writers and readers do so too.
   *
   * @throws QuipuException if the outcome is unknown; repeating the call is safe
   */
  public void prune(String counter) {
    trees(counter).keySet().forEach(item -> prune(counter, item, options.trail()));
  }

  private void pruneIfPossible(String counter, int item, int trail) {
    try {
      prune(counter, item, trail);
    } catch (QuipuException e) {
      LOGGER.debug("Tree not pruned; will retry", e);
    }
  }

  private void prune(String counter, int item, int trail) {
    VersionTrees tree = tree(counter, item);
    long now = now(); // after the read: all values of the tree were stored by then
    Key values = nodesKey(counter, item);
    Key roots = rootKey(counter, item);
    drop(values, VALUES, tree.superseded(trail));
    long known = tree.knownHorizon(now - options.settle().toMillis());
    drop(values, VALUES, tree.goneValues(known));
    drop(roots, ROOTS, tree.goneRoots(known));
    drop(roots, SEEN, tree.goneSeen(known));
    long latest = tree.root().horizonMillis();
    if (latest > known && !tree.isRootSeen()) {
      noteSeen(roots, latest, now);
    }
    Optional<VersionTrees.Root> folded =
        latest > known ? Optional.empty() : tree.folded(counter, horizon(now), now);
    if (folded.isPresent()) {
      store.addTokens(roots, ROOTS, Set.of(folded.get().text()));
      noteSeen(roots, folded.get().horizonMillis(), now());
    }
  }

  private void noteSeen(Key roots, long horizon, long millis) {
    store.addTokens(roots, SEEN, Set.of(new VersionTrees.Seen(horizon, millis).text()));
  }

  /** Returns the start time until which branches no longer change. */
  private long horizon(long now) {
    return now - options.branchAge().toMillis() - options.settle().toMillis() - 1;
  }

  private void drop(Key key, String field, Set<String> tokens) {
    List<String> all = new ArrayList<>(tokens);
    for (int from = 0; from < all.size(); from += Store.TOKENS_MAX) {
      int until = Math.min(from + Store.TOKENS_MAX, all.size());
      store.dropTokens(key, field, new HashSet<>(all.subList(from, until)));
    }
  }
}
