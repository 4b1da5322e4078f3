package dev.quipu.region;

import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The records about all regions in the replica of one region, the place. {@link RegionLeases} and
 * {@link RegionRetirements} describe the items.
 *
 * @param leases by region
 * @param votes by number of the retirement
 */
record RegionRecords(String place, SortedMap<String, Item> leases, SortedMap<Integer, Item> votes) {
  static final String UNTIL = "until";
  static final String BEAT = "beat";
  static final String MARK = "mark";
  static final String MARKS = "marks";
  static final String AT = "at";
  static final String NAMES = "names";
  static final String ENDED = "ended";
  static final String BLOCKED = "blocked-";
  static final String ACCEPTED = "accepted";
  static final String DECIDED = "decided";
  static final String LOST = "lost";
  static final String SUCCESSOR = "successor";
  private static final String PARTITION = "regions";
  private static final String LEASE = "lease/";
  private static final String VOTE = "retirement/";
  private static final int NUMBER_LENGTH = 4;

  /**
   * The retirement of a region.
   *
   * @param number from 1, in the order of decisions
   * @param lost the retired region; empty if it was decided that none is
   * @param successor the region that takes over its rights
   * @param isAccepted whether an operator stated that its known records are complete
   */
  record Retirement(int number, String lost, String successor, boolean isAccepted) {}

  /**
   * A renewal of a lease.
   *
   * @param number from 1; 0 for none
   * @param mark random, so that two renewals with the same number differ
   */
  record Beat(long number, String mark) {
    static final Beat NONE = new Beat(0, "");

    static Beat of(Optional<Item> lease) {
      return lease
          .map(item -> new Beat(item.number(BEAT), item.text(MARK).orElse("")))
          .orElse(NONE);
    }
  }

  static Key lease(String region, String place) {
    return new Key(PARTITION, LEASE + region + "@" + place);
  }

  static Key vote(int number, String place) {
    return new Key(PARTITION, VOTE + "%04d".formatted(number) + "@" + place);
  }

  static Key plan(String place) {
    return new Key(PARTITION, "plan@" + place);
  }

  static RegionRecords read(Store replica, String place) {
    SortedMap<String, Item> leases = new TreeMap<>();
    SortedMap<Integer, Item> votes = new TreeMap<>();
    String here = "@" + place;
    replica.scanAll(
        Scan.all(PARTITION),
        page -> {
          for (Item item : page) {
            String sort = item.key().sort();
            if (!sort.endsWith(here)) {
              continue; // a copy of a record of another place
            }
            if (sort.startsWith(LEASE)) {
              leases.put(sort.substring(LEASE.length(), sort.length() - here.length()), item);
            } else if (sort.startsWith(VOTE)) {
              int from = VOTE.length();
              votes.put(Integer.parseInt(sort, from, from + NUMBER_LENGTH, 10), item);
            }
          }
        });
    return new RegionRecords(place, leases, votes);
  }

  static Optional<Item> one(Store replica, String region, String place) {
    return replica.get(lease(region, place));
  }

  Optional<Item> lease(String region) {
    return Optional.ofNullable(leases.get(region));
  }

  Optional<Item> vote(int number) {
    return Optional.ofNullable(votes.get(number));
  }

  /** Returns the last renewal of the region's lease that this place knows. */
  Beat beat(String region) {
    return Beat.of(lease(region));
  }

  /** Returns whether this place voted for a retirement of the region that is not yet decided. */
  boolean isBlocked(String region, List<Retirement> decided) {
    return lease(region).stream()
        .flatMap(item -> item.fields().keySet().stream())
        .filter(field -> field.startsWith(BLOCKED))
        .map(field -> Integer.parseInt(field, BLOCKED.length(), field.length(), 10))
        .anyMatch(number -> decided.stream().noneMatch(each -> each.number() == number));
  }

  /** Returns the time by the clock of the place when a process there last renewed; 0 if never. */
  long at() {
    return lease(place).map(item -> item.number(AT)).orElse(0L);
  }

  /** Returns why the region must not count, regardless of its lease; empty if it may. */
  Optional<String> ended(String region) {
    return lease(region).flatMap(item -> item.text(ENDED));
  }

  /** Returns the retirements that this place knows to be decided, in their order. */
  List<Retirement> decided() {
    List<Retirement> decided = new ArrayList<>();
    votes.forEach((number, item) -> {
      if (item.number(DECIDED) != 0) {
        String lost = item.text(LOST).orElse("");
        boolean isAccepted = lease(lost).filter(lease -> lease.number(ACCEPTED) != 0).isPresent();
        decided.add(new Retirement(number, lost, item.text(SUCCESSOR).orElse(""), isAccepted));
      }
    });
    return decided;
  }
}
