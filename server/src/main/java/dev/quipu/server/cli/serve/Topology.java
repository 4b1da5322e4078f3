package dev.quipu.server.cli.serve;

import dev.quipu.Bounds;
import dev.quipu.Quipu;
import dev.quipu.backend.Backends;
import dev.quipu.layer.RetryPolicy;
import dev.quipu.layer.Store;
import dev.quipu.record.RecordGuard;
import dev.quipu.record.StoreRecord;
import dev.quipu.region.RegionLeases;
import dev.quipu.region.RegionOptions;
import dev.quipu.region.Regions;
import dev.quipu.server.cli.access.LaterDriver;
import dev.quipu.server.cli.input.DurationConverter;
import dev.quipu.store.StoreClock;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The regions that count together, read from a file that is identical in all of them.
 *
 * @param initial the regions that initially share the bounds
 * @param stores the URI of the replica of each region
 * @param terms the terms of the leases
 * @param technique {@link StoreRecord#REGIONAL} or {@link StoreRecord#REGIONAL_COLLECTION}
 */
public record Topology(
    List<String> initial,
    Map<String, String> stores,
    RegionOptions options,
    RegionLeases.Terms terms,
    String technique) {
  private static final Set<String> FIELDS_OF_RIGHTS =
      Set.of("floor", "ceiling", "cells", "lease", "slack", "beat");
  private static final Set<String> FIELDS =
      Stream.concat(Stream.of("initial", "regions", "technique"), FIELDS_OF_RIGHTS.stream())
          .collect(Collectors.toUnmodifiableSet());
  private static final RetryPolicy OTHERS =
      new RetryPolicy(2, Duration.ofMillis(20), Duration.ofMillis(50), Duration.ofSeconds(1));

  /**
   * The open regions, as one of them sees them.
   *
   * @param guard guards writes to all replicas; it has not read the record yet
   * @param own the replica of the local region, without the guard
   */
  public record Opened(
      Regions regions,
      RegionLeases leases,
      RecordGuard guard,
      Store own,
      StoreRecord record,
      String name,
      Deque<Runnable> closing) {
    /** Closes all replicas. */
    public void close() {
      guard.close();
      closing.forEach(Runnable::run);
    }

    /**
     * Checks the record, and renews the right to write from now on.
     *
     * @throws IllegalArgumentException if the record differs from the topology
     */
    public void requireRecord() {
      CountingFlags.require(guard.check());
      guard.start();
    }
  }

  /**
   * Reads a file.
   *
   * @param keep the window of request ids; empty for an unlimited one
   * @throws IllegalArgumentException naming the invalid field
   */
  public static Topology read(Path file, Optional<Duration> keep) {
    JsonNode node;
    try {
      node = JsonMapper.shared().readTree(Files.readString(file));
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read the topology " + file, e);
    } catch (JacksonException e) {
      throw new IllegalArgumentException(file + " is not JSON: " + e.getOriginalMessage(), e);
    }
    try {
      return of(node, keep);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  private static Topology of(JsonNode node, Optional<Duration> keep) {
    if (!node.isObject()) {
      throw new IllegalArgumentException("not a JSON object");
    }
    for (String field : node.propertyNames()) {
      if (!FIELDS.contains(field)) {
        throw new IllegalArgumentException(
            "unknown field %s; known fields are %s"
                .formatted(field, FIELDS.stream().sorted().toList()));
      }
    }
    Map<String, String> stores = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> each : node.path("regions").properties()) {
      stores.put(each.getKey(), text("regions." + each.getKey(), each.getValue()));
    }
    List<String> initial = new ArrayList<>();
    node.path("initial").forEach(each -> initial.add(text("initial", each)));
    if (stores.isEmpty() || initial.isEmpty()) {
      throw new IllegalArgumentException(
          "fields regions and initial are required: the store of each region, and the regions that"
              + " initially share the bounds");
    }
    RegionOptions options =
        new RegionOptions(
            new Bounds(
                number(node, "floor", Long.MIN_VALUE), number(node, "ceiling", Long.MAX_VALUE)),
            Math.toIntExact(Math.clamp(number(node, "cells", 1), -1, Integer.MAX_VALUE)),
            keep);
    RegionLeases.Terms usual = RegionLeases.Terms.DEFAULT;
    RegionLeases.Terms terms =
        new RegionLeases.Terms(
            time(node, "lease", usual.lease()), time(node, "slack", usual.slack()));
    terms = new RegionLeases.Terms(terms.lease(), terms.slack(), time(node, "beat", terms.beat()));
    return new Topology(initial, stores, options, terms, technique(node));
  }

  private static String technique(JsonNode node) {
    JsonNode value = node.get("technique");
    String technique = value == null ? StoreRecord.REGIONAL : text("technique", value);
    if (technique.equals(StoreRecord.REGIONAL)) {
      return technique;
    }
    if (!technique.equals(StoreRecord.REGIONAL_COLLECTION)) {
      throw new IllegalArgumentException(
          "field technique is '%s'; it must be %s or %s"
              .formatted(technique, StoreRecord.REGIONAL, StoreRecord.REGIONAL_COLLECTION));
    }
    for (String field : node.propertyNames()) {
      if (FIELDS_OF_RIGHTS.contains(field)) {
        throw new IllegalArgumentException(
            "technique %s has neither bounds nor leases; remove field %s, or use technique %s"
                .formatted(technique, field, StoreRecord.REGIONAL));
      }
    }
    return technique;
  }

  boolean isCollection() {
    return technique.equals(StoreRecord.REGIONAL_COLLECTION);
  }

  /**
   * Checks that a command applies to the technique.
   *
   * @throws IllegalArgumentException if regions hold no rights
   */
  public void requireRights(String command) {
    if (isCollection()) {
      throw new IllegalArgumentException(
          "%s needs technique %s: with %s, regions hold no rights; merging waits for a region that"
                  .formatted(command, StoreRecord.REGIONAL, technique)
              + " does not respond");
    }
  }

  /** Returns the counters of opened regions. */
  Quipu quipu(Opened opened) {
    return isCollection()
        ? Backends.collectionInRegions(opened.regions, options.keep())
        : Backends.inRegions(opened.regions, options, opened.leases);
  }

  private StoreRecord record() {
    return isCollection()
        ? StoreRecord.collectionInRegions(initial, options.keep())
        : StoreRecord.inRegions(initial, options);
  }

  private static String text(String field, JsonNode value) {
    if (!value.isString()) {
      throw new IllegalArgumentException("field %s is not a string".formatted(field));
    }
    return value.stringValue();
  }

  private static long number(JsonNode node, String field, long otherwise) {
    JsonNode value = node.get(field);
    if (value == null) {
      return otherwise;
    }
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw new IllegalArgumentException("field %s is not a 64-bit integer".formatted(field));
    }
    return value.longValue();
  }

  private static Duration time(JsonNode node, String field, Duration otherwise) {
    JsonNode value = node.get(field);
    return value == null ? otherwise : DurationConverter.duration(text(field, value));
  }

  /** Opens the store of the local region now, and the others at their first call. */
  public Opened open(String own) {
    String uri = stores.get(own);
    if (uri == null) {
      throw new IllegalArgumentException(
          "--region '%s' is not in the topology, which has %s".formatted(own, stores.keySet()));
    }
    Deque<Runnable> closing = new ArrayDeque<>();
    try {
      Map<String, StoreDriver> drivers = new TreeMap<>();
      for (Map.Entry<String, String> each : stores.entrySet()) {
        boolean isOwn = each.getKey().equals(own);
        StoreDriver driver = isOwn ? StoreProvider.open(uri) : new LaterDriver(each.getValue());
        closing.addFirst(driver::close);
        drivers.put(each.getKey(), driver);
      }
      Map<String, Store> others = new TreeMap<>();
      drivers.forEach((name, driver) -> others.put(name, store(driver, name.equals(own))));
      Store here = Objects.requireNonNull(others.remove(own));
      StoreRecord record = record();
      RecordGuard guard = new RecordGuard(here, others, record, adopt(own));
      Map<String, Store> replicas = new TreeMap<>();
      drivers.forEach(
          (name, driver) -> replicas.put(name, store(guard.over(driver), name.equals(own))));
      Regions regions = new Regions(own, initial, replicas);
      String name = "%s in region %s".formatted(StoreUri.shown(StoreUri.parse(uri)), own);
      RegionLeases leases = RegionLeases.of(regions, terms);
      return new Opened(regions, leases, guard, here, record, name, closing);
    } catch (RuntimeException e) {
      closing.forEach(Runnable::run);
      throw e;
    }
  }

  private static Store store(StoreDriver driver, boolean isOwn) {
    RetryPolicy policy = isOwn ? RetryPolicy.DEFAULT : OTHERS;
    Clock clock = isOwn ? StoreClock.of(driver, Clock.system()) : Clock.system();
    return new Store(driver, clock, Randomness.secure(), policy);
  }

  private String adopt(String own) {
    String window = options.keep().map(keep -> " --window " + StoreRecord.text(keep)).orElse("");
    return "quipu adopt --region %s --topology FILE%s".formatted(own, window);
  }
}
