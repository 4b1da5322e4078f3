package dev.quipu.record;

import dev.quipu.Bounds;
import dev.quipu.Limits;
import dev.quipu.ScaleRules;
import dev.quipu.hits.HitLog;
import dev.quipu.region.RegionOptions;
import dev.quipu.shard.ShardOptions;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.MarkerItem;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.TokenSet;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The configuration that all processes on one store must share, and that does not change while they
 * run. Stored in the store itself, {@code store-record}, {@code record}; see {@link RecordGuard}.
 *
 * @param technique its name
 * @param window how long request ids are remembered; empty if the technique has no window
 * @param shards shards per counter; 1 if counters are not divided, {@link #GROWING} if each counter
 *     has its own plan
 * @param bounds of every counter
 * @param regions the initial regions, in their order; empty if there is only one
 * @param options those of the technique that differ from its defaults, by name
 */
public record StoreRecord(
    String technique,
    Optional<Duration> window,
    int shards,
    Bounds bounds,
    List<String> regions,
    Map<String, String> options) {
  /** The number of shards changes while processes run. */
  public static final int GROWING = 0;

  /** The technique over several regions that share bounds. */
  public static final String REGIONAL = "regional";

  /** The technique over several regions that store each change as an item. */
  public static final String REGIONAL_COLLECTION = "regional-collection";

  /** The item. */
  public static final Key KEY = new Key("store-record", "record");

  private static final String FORMAT = "format";
  private static final String FORMAT_NOW = "1";
  private static final String WINDOW = "window";
  private static final String SHARDS = "shards";
  private static final String PER_COUNTER = "of each counter";
  private static final String NONE = "none";

  /** The default of each option of a technique, which is not stored. */
  private static final Map<String, String> OPTIONS =
      new TreeMap<>(
          Map.of(
              "after-unknown",
              "give-up",
              "slots",
              Integer.toString(TokenSet.SLOTS),
              "markers",
              "counter",
              "scale",
              NONE));

  private static final Set<String> TAKE_WINDOW =
      Set.of(MarkerItem.SPEC.name(), ItemCollection.SPEC.name(), HitLog.SPEC.name());

  /** Copies the list and the map. */
  public StoreRecord {
    regions = List.copyOf(regions);
    options = Map.copyOf(options);
  }

  /**
   * Returns the record of a technique without shards.
   *
   * @param keep how long request ids are remembered, if the technique has a window
   */
  public static StoreRecord of(TechniqueSpec spec, Optional<Duration> keep) {
    return new StoreRecord(
        spec.name(),
        keep.filter(time -> TAKE_WINDOW.contains(spec.name())),
        1,
        Bounds.none(),
        List.of(),
        Map.of());
  }

  /** Returns the record of counters over several regions. */
  public static StoreRecord inRegions(List<String> initial, RegionOptions options) {
    return new StoreRecord(REGIONAL, options.keep(), GROWING, options.bounds(), initial, Map.of());
  }

  /** Returns the record of an item collection over regions. */
  public static StoreRecord collectionInRegions(List<String> initial, Optional<Duration> keep) {
    return new StoreRecord(REGIONAL_COLLECTION, keep, 1, Bounds.none(), initial, Map.of());
  }

  /** Returns whether a technique counts in one of several regions. */
  static boolean isRegional(String technique) {
    return technique.equals(REGIONAL) || technique.equals(REGIONAL_COLLECTION);
  }

  /** Returns this record, divided into shards. */
  public StoreRecord divided(ShardOptions options) {
    int fixed = options.actTogether() ? GROWING : options.shards();
    return new StoreRecord(technique, window, fixed, options.bounds(), regions, this.options);
  }

  /**
   * Returns this record, with options of the technique.
   *
   * @param values those that differ from the defaults, by name
   */
  public StoreRecord with(Map<String, String> values) {
    return new StoreRecord(technique, window, shards, bounds, regions, values);
  }

  /** Returns this record, with the scales that counters have by their names. */
  public StoreRecord scaled(ScaleRules scales) {
    if (scales.isEmpty()) {
      return this;
    }
    Map<String, String> values = new LinkedHashMap<>(options);
    values.put("scale", scales.toString());
    return with(values);
  }

  /** Returns every stored value by name, in display order. */
  public Map<String, String> values() {
    Map<String, String> values = new LinkedHashMap<>();
    values.put(FORMAT, FORMAT_NOW);
    values.put("technique", technique);
    values.put(WINDOW, window.map(Duration::toString).orElse(NONE));
    values.put(SHARDS, shards == GROWING ? PER_COUNTER : Integer.toString(shards));
    values.put("floor", bounds.floor() == Long.MIN_VALUE ? NONE : Long.toString(bounds.floor()));
    values.put(
        "ceiling", bounds.ceiling() == Long.MAX_VALUE ? NONE : Long.toString(bounds.ceiling()));
    values.put("regions", regions.isEmpty() ? NONE : String.join(",", regions));
    OPTIONS.keySet().forEach(name -> values.put(name, options.getOrDefault(name, NONE)));
    return values;
  }

  Map<String, Field> fields() {
    Map<String, Field> fields = new HashMap<>();
    values().forEach((name, value) -> fields.put(name, new Field.Text(value)));
    return fields;
  }

  /** Returns the differences from a stored record; empty if there are none. */
  List<String> differences(Item found) {
    return differences(found, values());
  }

  List<String> differencesBesideWindow(Item found) {
    Map<String, String> compared = values();
    compared.remove(WINDOW);
    return differences(found, compared);
  }

  private static List<String> differences(Item found, Map<String, String> values) {
    List<String> differences = new ArrayList<>();
    values.forEach((name, here) -> {
      String there = found.text(name).orElse(NONE);
      if (!there.equals(here)) {
        differences.add(
            "%s: record %s, this process %s".formatted(name, text(name, there), text(name, here)));
      }
    });
    return differences;
  }

  /** Returns whether a record has bounds and this one has none. */
  boolean dropsBounds(Item found) {
    boolean has = !text(found, "floor").equals(NONE) || !text(found, "ceiling").equals(NONE);
    return has && bounds.isNone();
  }

  /** Returns the options that match a record, as shown in a message. */
  static String options(Item found) {
    if (isRegional(text(found, "technique"))) {
      return ""; // its topology has them
    }
    return " (" + String.join(" ", arguments(found)) + ")";
  }

  /** Returns the options of a command that match the record of a store in one region. */
  public static List<String> arguments(Item found) {
    List<String> arguments = new ArrayList<>();
    List<String> names = new ArrayList<>(List.of("technique", WINDOW, SHARDS, "floor", "ceiling"));
    names.addAll(OPTIONS.keySet());
    for (String name : names) {
      String value = text(found, name);
      if (!value.equals(NONE) && !value.equals(PER_COUNTER)) {
        arguments.addAll(List.of("--" + name, text(name, value)));
      }
    }
    return arguments;
  }

  private static String text(Item found, String name) {
    return found.text(name).orElse(NONE);
  }

  /** Returns a stored value as shown in a message. */
  private static String text(String name, String value) {
    if (name.equals(SHARDS)) {
      return value.equals(PER_COUNTER) ? "per counter" : value;
    }
    if (value.equals(NONE)) {
      return OPTIONS.getOrDefault(name, NONE);
    }
    if (name.equals(WINDOW)) {
      try {
        return text(Duration.parse(value));
      } catch (DateTimeParseException damaged) {
        return value;
      }
    }
    return value;
  }

  /** Returns a duration in the syntax of the option {@code --window}. */
  public static String text(Duration time) {
    return Limits.text(time);
  }

  /** Returns a stored record in the format of {@link #toString}. */
  String text(Item found) {
    return text(name -> found.text(name).orElse(NONE));
  }

  private String text(UnaryOperator<String> value) {
    List<String> words = new ArrayList<>();
    for (String name : values().keySet()) {
      String found = value.apply(name);
      if (!OPTIONS.containsKey(name) || !found.equals(NONE)) { // a default is not shown
        words.add(name + " " + text(name, found));
      }
    }
    return String.join(", ", words);
  }

  @Override
  public String toString() {
    return text(name -> values().getOrDefault(name, NONE));
  }
}
