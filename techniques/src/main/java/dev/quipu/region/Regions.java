package dev.quipu.region;

import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.region.RegionRecords.Retirement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The regions that count together, as one of them sees them. Each has a replica of one table;
 * writes to one replica reach the others some time later, item by item, in any order; if two
 * replicas wrote an item, the later write wins. A process mainly reads and writes its own region's
 * replica, and rarely accesses another directly. Thread-safe.
 *
 * <p>A region's name is its identity: it is never reused for another region, nor for the same one
 * after its replica was restored from a backup.
 */
public final class Regions {
  /** Maximum number of regions. */
  public static final int REGIONS_MAX = 16;

  /**
   * A region that did not respond is not contacted again for this time, or for as long as the
   * failed call took, if that is longer.
   */
  public static final Duration SILENCE = Duration.ofSeconds(1);

  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,31}");

  private final String own;
  private final List<String> initial;
  private final SortedMap<String, Store> replicas = new TreeMap<>();
  private final Map<String, Long> silentUntilNanos = new ConcurrentHashMap<>();

  /**
   * Creates the regions.
   *
   * @param own the region of this process
   * @param initial the regions to which the bounds of each counter are initially divided, in an
   *     order that never changes; the same in all regions
   * @param replicas access to the replica of each region from here; its deadline is how long a call
   *     waits for a region that does not respond
   * @throws IllegalArgumentException for an invalid name, or a region without a replica
   */
  public Regions(String own, List<String> initial, Map<String, Store> replicas) {
    if (replicas.isEmpty() || replicas.size() > REGIONS_MAX) {
      throw new IllegalArgumentException(
          "%d regions are configured; the number must be from 1 to %d"
              .formatted(replicas.size(), REGIONS_MAX));
    }
    replicas.keySet().forEach(Regions::checkName);
    List<String> named = new ArrayList<>(initial);
    named.add(own);
    for (String name : named) {
      if (!replicas.containsKey(name)) {
        throw new IllegalArgumentException("region %s has no replica".formatted(name));
      }
    }
    if (initial.isEmpty() || initial.stream().distinct().count() != initial.size()) {
      throw new IllegalArgumentException(
          "initial regions are %s; they must be distinct, and at least one".formatted(initial));
    }
    this.own = own;
    this.initial = List.copyOf(initial);
    this.replicas.putAll(replicas);
  }

  private static void checkName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "region is '%s'; it must be 1 to 32 lower-case letters, digits or hyphens"
              .formatted(name));
    }
  }

  /** Returns the region of this process. */
  public String own() {
    return own;
  }

  /** Returns the regions to which the bounds are initially divided. */
  public List<String> initial() {
    return initial;
  }

  /** Returns all regions, ordered by name. */
  public List<String> names() {
    return List.copyOf(replicas.keySet());
  }

  /** Returns all regions except one. */
  public List<String> namesBut(String region) {
    return replicas.keySet().stream().filter(name -> !name.equals(region)).toList();
  }

  /** Returns the names of all regions except those that were retired, in order. */
  List<String> living(List<Retirement> retired) {
    List<String> living = new ArrayList<>(names());
    retired.forEach(each -> living.remove(each.lost()));
    return living;
  }

  /** Returns the replica of the local region. */
  public Store here() {
    return replica(own);
  }

  /** Returns the replica of a region, as accessed from here. */
  public Store replica(String region) {
    Store replica = replicas.get(region);
    if (replica == null) {
      throw new IllegalArgumentException("unknown region %s; known: %s".formatted(region, names()));
    }
    return replica;
  }

  /**
   * Returns an id for a request that is first sent to the local region. A repeat may be sent to any
   * region.
   *
   * @param text the name of the request within its region
   */
  public RequestId id(String text) {
    return RequestId.of(own + "/" + text);
  }

  /**
   * Returns the region in which a request counts: the one that its id begins with.
   *
   * @throws IllegalArgumentException if the id begins with none of these regions
   */
  public String home(RequestId id) {
    String text = id.text();
    int slash = text.indexOf('/');
    if (slash < 1 || !replicas.containsKey(text.substring(0, slash))) {
      throw new IllegalArgumentException(
          "request id '%s' must begin with the region that it is first sent to".formatted(text)
              + ", like %s/%s, so that a repeat in another region finds it; the regions are %s"
                  .formatted(own, text.length() > 40 ? "order-981" : text, names()));
    }
    return text.substring(0, slash);
  }

  /**
   * Calls a region, unless it has just failed to answer.
   *
   * @return empty if it does not respond
   * @throws QuipuException if it answered with an error
   */
  <T> Optional<T> ask(String region, Supplier<T> question) {
    long now = here().clock().nanoTime();
    if (silentUntilNanos.getOrDefault(region, Long.MIN_VALUE) > now) {
      return Optional.empty();
    }
    try {
      T answer = question.get();
      silentUntilNanos.remove(region);
      return Optional.of(answer);
    } catch (QuipuException e) {
      if (!e.reason().isTemporary() || region.equals(own)) {
        throw e;
      }
      long after = here().clock().nanoTime();
      silentUntilNanos.put(region, after + Math.max(SILENCE.toNanos(), after - now));
      return Optional.empty();
    }
  }

  /** Returns the name of a counter, after checking it. */
  static String checkCounter(String counter) {
    return Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
  }
}
