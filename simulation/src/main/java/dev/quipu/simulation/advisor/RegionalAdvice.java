package dev.quipu.simulation.advisor;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.RegionalCollection;
import dev.quipu.region.RegionalCounters;
import dev.quipu.region.Regions;
import dev.quipu.simulation.Simulation;
import dev.quipu.technique.ItemCollection;
import dev.quipu.technique.TechniqueSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What several writing regions change: the techniques, their code and how they are served. */
final class RegionalAdvice {
  /** Counters over regions that forget request ids after the window. */
  static final TechniqueSpec COUNTERS =
      RegionalCounters.SPEC.promising(
          Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT_WITHIN_WINDOW, Guarantee.BOUNDED));

  private static final TechniqueSpec COLLECTION =
      RegionalCollection.SPEC.promising(
          Set.of(Guarantee.AT_MOST_ONCE, Guarantee.IDEMPOTENT_WITHIN_WINDOW));
  private static final String HOME = "home";
  private static final Duration WINDOW = Duration.ofDays(1); // the default of serve
  private static final Set<String> NOT_REPLICATED = Set.of("memory", "engine");

  private RegionalAdvice() {}

  /** Returns the technique over regions of one that works there; otherwise the same. */
  static TechniqueSpec of(TechniqueSpec spec) {
    return spec.equals(ItemCollection.SPEC) ? COLLECTION : spec;
  }

  static boolean isCounters(TechniqueSpec spec) {
    return spec.equals(COUNTERS);
  }

  private static boolean isRegional(TechniqueSpec spec) {
    return isCounters(spec) || spec.equals(COLLECTION);
  }

  /** Returns why a technique is unsuitable for several regions; empty if it is suitable. */
  static List<String> against(TechniqueSpec spec, String store, Workload load) {
    List<String> against = new ArrayList<>();
    if (!isRegional(spec)) {
      against.add("loses adds when several regions write to one item");
      return against;
    }
    if (NOT_REPLICATED.contains(store)) {
      against.add("%s is not replicated to other regions".formatted(store));
    }
    if (load.regions() > Regions.REGIONS_MAX) {
      against.add("supports at most %d regions".formatted(Regions.REGIONS_MAX));
    }
    if (isCounters(spec)) {
      try {
        RegionOptions.DEFAULT.within(load.bounds());
      } catch (IllegalArgumentException e) {
        against.add(String.valueOf(e.getMessage()));
      }
    }
    return against;
  }

  /** Returns the technique as one region uses it, for adds that need no other region. */
  static Simulation.Factory factory(int cells) {
    return (store, random) -> {
      Regions regions = new Regions(HOME, List.of(HOME), Map.of(HOME, store));
      RegionOptions options = RegionOptions.DEFAULT.over(cells);
      return new NamedByRegion(
          regions, new RegionalCounters(regions, options, RegionLeases.none(regions), random));
    };
  }

  /** Counters whose request ids get the name of the region. */
  private record NamedByRegion(Regions regions, Counters counters) implements Counters {
    @Override
    public String technique() {
      return counters.technique();
    }

    @Override
    public Set<Guarantee> guarantees() {
      return counters.guarantees();
    }

    @Override
    public AddResult add(Add add) {
      RequestId id = add.id();
      RequestId named = id == null ? null : regions.id(id.text());
      return counters.add(new Add(add.counter(), add.delta(), add.bounds(), named));
    }

    @Override
    public Optional<Reading> read(String counter) {
      return counters.read(counter);
    }

    @Override
    public CounterPage list(String prefix, String after, int limit) {
      return counters.list(prefix, after, limit);
    }

    @Override
    public RequestOutcome outcome(String counter, RequestId id) {
      return counters.outcome(counter, regions.id(id.text()));
    }

    @Override
    public RequestOutcome cancel(String counter, RequestId id) {
      return counters.cancel(counter, regions.id(id.text()));
    }
  }

  private static Duration window(Workload load) {
    return load.retryWindow().isZero() ? WINDOW : load.retryWindow();
  }

  /** Returns Java code that opens it in one region. */
  static String java(TechniqueSpec spec, int cells, Workload load, String bounds) {
    String within = load.bounds().isNone() ? "" : ".within(%s)".formatted(bounds);
    String over = cells == 1 ? "" : ".over(%d)".formatted(cells);
    String keep = "Duration.parse(\"%s\")".formatted(window(load));
    return isCounters(spec)
        ? """
        RegionOptions options = RegionOptions.DEFAULT%s%s.keeping(%s);
        Quipu quipu = Backends.inRegions(regions, options, leases);
        AddResult result = quipu.counter(name).add(amount, regions.id(request));
        """
            .formatted(within, over, keep)
        : """
        Quipu quipu = Backends.collectionInRegions(regions, Optional.of(%s));
        AddResult result = quipu.counter(name).add(amount, RequestId.of(request));
        """
            .formatted(keep);
  }

  /** Returns how servers in all regions are configured and started. */
  static String serve(TechniqueSpec spec, int cells, Workload load) {
    List<String> names =
        IntStream.rangeClosed(1, load.regions()).mapToObj(number -> "r" + number).toList();
    String initial = names.stream().map("\"%s\""::formatted).collect(Collectors.joining(", "));
    String stores =
        names.stream().map("\"%s\": \"STORE-URI\""::formatted).collect(Collectors.joining(", "));
    StringBuilder more = new StringBuilder();
    if (isCounters(spec)) {
      Bounds bounds = load.bounds();
      more.append(
          bounds.floor() == Long.MIN_VALUE ? "" : ", \"floor\": %d".formatted(bounds.floor()));
      more.append(
          bounds.ceiling() == Long.MAX_VALUE
              ? ""
              : ", \"ceiling\": %d".formatted(bounds.ceiling()));
      more.append(cells == 1 ? "" : ", \"cells\": %d".formatted(cells));
    } else {
      more.append(", \"technique\": \"regional-collection\"");
    }
    return """
    regions.json, the same in each region, with the store of each:
    {"initial": [%s], "regions": {%s}%s}
    quipu serve --region r1 --topology regions.json --window %s
    """
        .formatted(initial, stores, more, Limits.text(window(load)));
  }
}
