package dev.quipu.region;

import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
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
 * The regions that count together, as one of them sees them. Each has a replica of one table, and
 * what is written to one replica comes to the others some time later, item by item, in any order;
 * of an item that was written to two, the later write wins. Whoever counts reads and writes its own
 * replica, and seldom another's, directly. Thread-safe.
 *
 * <p>A region's name is its identity: it is never given to another region, nor to the same one
 * after its replica was set back to an old state.
 */
public final class Regions {
  /** Most regions. */
  public static final int REGIONS_MAX = 16;

  /**
   * A region that did not answer is not asked again for so long, or for as long as it took to find
   * that out.
   */
  public static final Duration SILENCE = Duration.ofSeconds(1);

  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,31}");

  private final String own;
  private final List<String> initial;
  private final SortedMap<String, Store> replicas = new TreeMap<>();
  private final Map<String, Long> silentUntilNanos = new ConcurrentHashMap<>();

  /**
   * Regions.
   *
   * @param own the region that this process is in
   * @param initial those that the bounds of each counter are shared out to at first, in an order
   *     that never changes; the same in all regions
   * @param replicas how to reach the replica of each region from here; its deadline is how long a
   *     call waits for a region that is silent
   * @throws IllegalArgumentException for a name that is none, or a region without a replica
   */
  public Regions(String own, List<String> initial, Map<String, Store> replicas) {
    if (replicas.isEmpty() || replicas.size() > REGIONS_MAX) {
      throw new IllegalArgumentException(
          "there are %d regions, the limits are 1 and %d".formatted(replicas.size(), REGIONS_MAX));
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
          "the initial regions are %s; there must be one at least, and none twice"
              .formatted(initial));
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

  /** The region that this process is in. */
  public String own() {
    return own;
  }

  /** Returns the regions that the bounds are shared out to at first. */
  public List<String> initial() {
    return initial;
  }

  /** All regions, in order of name. */
  public List<String> names() {
    return List.copyOf(replicas.keySet());
  }

  /** All regions but one. */
  public List<String> namesBut(String region) {
    return replicas.keySet().stream().filter(name -> !name.equals(region)).toList();
  }

  /** The replica of the own region. */
  public Store here() {
    return replica(own);
  }

  /** The replica of a region, as it is reached from here. */
  public Store replica(String region) {
    Store replica = replicas.get(region);
    if (replica == null) {
      throw new IllegalArgumentException(
          "there is no region %s; there are %s".formatted(region, names()));
    }
    return replica;
  }

  /**
   * An id for a request that is first sent to the own region. A repeat may be sent to any.
   *
   * @param text what names the request within its region
   */
  public RequestId id(String text) {
    return RequestId.of(own + "/" + text);
  }

  /**
   * The region where a request counts: that which its id begins with.
   *
   * @throws IllegalArgumentException if it names none of these regions
   */
  public String home(RequestId id) {
    String text = id.text();
    int slash = text.indexOf('/');
    if (slash < 1 || !replicas.containsKey(text.substring(0, slash))) {
      throw new IllegalArgumentException(
          "request id '%s' names no region; it must begin with the one that it was first sent to"
                  .formatted(text)
              + ", like %s/%s, so that a repeat in another region finds it; the regions are %s"
                  .formatted(own, text.length() > 40 ? "order-981" : text, names()));
    }
    return text.substring(0, slash);
  }

  /**
   * Asks a region, unless it has just been silent.
   *
   * @return empty if it is silent
   * @throws QuipuException if it answered that it cannot
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

  /** The name of a counter, checked. */
  static String checkCounter(String counter) {
    return Limits.checkText("name", counter, Limits.NAME_BYTES_MAX);
  }
}
