package dev.quipu.technique;

import dev.quipu.Bounds;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What all processes that count on one store must agree on, and what does not change while they
 * run. Stored in the store itself, {@code store-record}, {@code record}; see {@link RecordGuard}.
 *
 * @param technique its name
 * @param window how long request ids are remembered; empty if the technique takes no window
 * @param shards how many shards each counter has; 1 if it is not divided, {@link #GROWING} if each
 *     counter has a plan of its own
 * @param bounds that every counter has
 * @param regions the initial regions, in their order; empty if there is only one
 */
public record StoreRecord(
    String technique, Optional<Duration> window, int shards, Bounds bounds, List<String> regions) {
  /** The number of shards changes while processes run. */
  public static final int GROWING = 0;

  /** The technique over several regions. */
  static final String REGIONAL = "regional";

  static final Key KEY = new Key("store-record", "record");

  private static final String FORMAT = "format";
  private static final String FORMAT_NOW = "1";
  private static final String WINDOW = "window";
  private static final String NONE = "none";
  private static final Set<String> TAKE_WINDOW = Set.of(MarkerItem.SPEC.name(), HitLog.SPEC.name());

  /** Copies the list. */
  public StoreRecord {
    regions = List.copyOf(regions);
  }

  /**
   * Counters by a technique, not divided.
   *
   * @param keep how long request ids are remembered, if the technique takes a window
   */
  public static StoreRecord of(TechniqueSpec spec, Optional<Duration> keep) {
    return new StoreRecord(
        spec.name(),
        keep.filter(time -> TAKE_WINDOW.contains(spec.name())),
        1,
        Bounds.none(),
        List.of());
  }

  /** Counters over several regions. */
  public static StoreRecord inRegions(List<String> initial, RegionOptions options) {
    return new StoreRecord(REGIONAL, options.keep(), GROWING, options.bounds(), initial);
  }

  /** The same counters, divided into shards. */
  public StoreRecord divided(ShardOptions options) {
    int fixed = options.actTogether() ? GROWING : options.shards();
    return new StoreRecord(technique, window, fixed, options.bounds(), regions);
  }

  /** Every value as text, by name, in the order in which a person reads them. */
  public Map<String, String> values() {
    Map<String, String> values = new LinkedHashMap<>();
    values.put(FORMAT, FORMAT_NOW);
    values.put("technique", technique);
    values.put(WINDOW, window.map(Duration::toString).orElse(NONE));
    values.put("shards", shards == GROWING ? "of each counter" : Integer.toString(shards));
    values.put("floor", bounds.floor() == Long.MIN_VALUE ? NONE : Long.toString(bounds.floor()));
    values.put(
        "ceiling", bounds.ceiling() == Long.MAX_VALUE ? NONE : Long.toString(bounds.ceiling()));
    values.put("regions", regions.isEmpty() ? NONE : String.join(",", regions));
    return values;
  }

  Map<String, Field> fields() {
    Map<String, Field> fields = new HashMap<>();
    values().forEach((name, value) -> fields.put(name, new Field.Text(value)));
    return fields;
  }

  /** What differs from a record that was found; empty if nothing does. */
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
        differences.add("%s is %s in the record and %s here".formatted(name, there, here));
      }
    });
    return differences;
  }

  @Override
  public String toString() {
    List<String> words = new ArrayList<>();
    values().forEach((name, value) -> words.add(name + " " + value));
    return String.join(", ", words);
  }
}
