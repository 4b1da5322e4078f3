package dev.quipu.region;

import dev.quipu.layer.Store;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver.Consistency;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the replica of one region, the place, has recorded of all regions. {@link RegionLeases} and
 * {@link RegionRetirements} say what each item holds.
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
   * That a region was retired.
   *
   * @param number from 1, in the order in which it was decided
   * @param lost the region; empty if it was decided that none is
   * @param successor the region that takes over its rights
   * @param isAccepted whether an operator stated that what is known of it is all
   */
  record Retirement(int number, String lost, String successor, boolean isAccepted) {}

  /**
   * A renewal of a lease.
   *
   * @param number from 1; 0 if there was none
   * @param mark drawn at random, so that two renewals that have one number differ
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
              continue; // a copy of what another place recorded
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
    return replica.get(lease(region, place), Consistency.STRONG);
  }

  Optional<Item> lease(String region) {
    return Optional.ofNullable(leases.get(region));
  }

  Optional<Item> vote(int number) {
    return Optional.ofNullable(votes.get(number));
  }

  /** The last renewal of the region's lease that this place knows of. */
  Beat beat(String region) {
    return Beat.of(lease(region));
  }

  /** Whether a retirement was voted for here that is not decided so far. */
  boolean isBlocked(String region, List<Retirement> decided) {
    return lease(region).stream()
        .flatMap(item -> item.fields().keySet().stream())
        .filter(field -> field.startsWith(BLOCKED))
        .map(field -> Integer.parseInt(field, BLOCKED.length(), field.length(), 10))
        .anyMatch(number -> decided.stream().noneMatch(each -> each.number() == number));
  }

  /** The clock of the place when a process there last renewed; 0 if none ever did. */
  long at() {
    return lease(place).map(item -> item.number(AT)).orElse(0L);
  }

  /** Why the region must not count, whatever its lease; empty if nothing is known against it. */
  Optional<String> ended(String region) {
    return lease(region).flatMap(item -> item.text(ENDED));
  }

  /** The retirements that this place knows to be decided, in their order. */
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
