package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.HoldReading;
import dev.quipu.HoldReading.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What {@link HoldClient}s have asked for, the answers, and what follows from them. */
final class HoldBook {
  /** By then a hold whose caller was killed has expired and was released. */
  private static final long GRACE_MILLIS = HoldClient.TTL.multipliedBy(2).toMillis() + 60_000;

  private final Map<Integer, Map<Integer, Hold>> holds = new HashMap<>();
  private final Map<Integer, Integer> begun = new HashMap<>();
  private final List<String> wrong = new ArrayList<>();
  private long closed;
  private long rejections;
  private long replays;

  /** A hold, with the answers about it. */
  private static final class Hold {
    final List<String> counters = new ArrayList<>();
    final long delta;
    final long begunMillis;
    final List<Rejection> rejections = new ArrayList<>();
    int placedFirst;
    boolean isPlaced;
    long kept;
    @Nullable State ended;
    long endedMillis = Long.MAX_VALUE;

    Hold(int first, int counters, long delta, long begunMillis) {
      for (int i = 0; i < counters; i++) {
        this.counters.add(HoldClient.budget(first + i));
      }
      this.delta = delta;
      this.begunMillis = begunMillis;
    }

    /** Returns what stays on each counter in the end. */
    long settled() {
      return ended == State.SETTLED ? kept : 0;
    }
  }

  private record Rejection(String counter, long fromMillis, long untilMillis, long delta) {}

  /** Records an output line of a client. */
  synchronized void note(String line) {
    String[] words = line.split(" ", -1);
    int client = Integer.parseInt(words[1]);
    int cycle = Integer.parseInt(words[2]);
    long millis = Long.parseLong(words[3]);
    Map<Integer, Hold> own = holds.computeIfAbsent(client, missing -> new HashMap<>());
    if (words[0].equals("places")) {
      begun.put(client, cycle);
      Hold hold =
          new Hold(
              Integer.parseInt(words[4]),
              Integer.parseInt(words[5]),
              Long.parseLong(words[6]),
              millis);
      own.putIfAbsent(cycle, hold);
      return;
    }
    Hold hold = own.get(cycle);
    if (hold == null) {
      wrong.add(line);
      return;
    }
    switch (words[0]) {
      case "placed" -> {
        hold.isPlaced = true;
        hold.placedFirst += words[4].equals("first") ? 1 : 0;
        replays += words[4].equals("first") ? 0 : 1;
      }
      case "rejected" -> {
        long after = Long.parseLong(words[5]) + hold.delta;
        boolean isJustified =
            after < HoldClient.BOUNDS.floor() || after > HoldClient.BOUNDS.ceiling();
        if (hold.isPlaced || !isJustified) {
          wrong.add(line);
        }
        rejections++;
        closed++;
        hold.rejections.add(new Rejection(words[4], hold.begunMillis, millis, hold.delta));
      }
      case "ends" -> hold.kept = Long.parseLong(words[4]);
      case "ended" -> {
        hold.ended = State.valueOf(words[4]);
        hold.endedMillis = millis;
        closed++;
      }
      default -> wrong.add(line);
    }
  }

  /** Returns where a client that was killed continues: it repeats its last hold, or leaves it. */
  synchronized int from(int client) {
    int last = begun.getOrDefault(client, 0);
    return last % 2 == 0 ? last : last + 1;
  }

  /** Returns the number of holds that were rejected or ended by their callers. */
  synchronized long closed() {
    return closed;
  }

  /** Returns a summary. */
  synchronized String summary() {
    long placed = all().stream().filter(hold -> hold.isPlaced).count();
    long expired = all().stream().filter(hold -> hold.ended == State.EXPIRED).count();
    return "%d holds, %d placed, %d expired, %d rejections, %d replays"
        .formatted(all().size(), placed, expired, rejections, replays);
  }

  private List<Hold> all() {
    return holds.values().stream().flatMap(each -> each.values().stream()).toList();
  }

  /**
   * Checks all answers, after all holds have ended.
   *
   * @param find reads a hold by client and cycle; the answers must agree with it
   * @return the expected value of each counter
   */
  synchronized Map<String, Long> check(BiFunction<Integer, Integer, Optional<HoldReading>> find) {
    holds.forEach(
        (client, own) -> own.forEach((cycle, hold) -> check(hold, find.apply(client, cycle))));
    assertEquals(List.of(), wrong);
    Map<String, Long> expected = new TreeMap<>();
    for (int i = 0; i < HoldClient.BUDGETS; i++) {
      String counter = HoldClient.budget(i);
      expected.put(counter, HoldClient.FUNDS);
      checkRejections(counter);
    }
    for (Hold hold : all()) {
      hold.counters.forEach(counter -> expected.merge(counter, hold.settled(), Long::sum));
    }
    return expected;
  }

  private void check(Hold hold, Optional<HoldReading> found) {
    if (found.isEmpty()) {
      if (hold.isPlaced) {
        wrong.add("placed, and not found: " + hold.begunMillis);
      }
      return;
    }
    HoldReading reading = found.get();
    boolean agrees = hold.ended == null || hold.ended == reading.state();
    if (!agrees || reading.state() == State.OPEN || hold.placedFirst > 1) {
      wrong.add("%s; answered: %s".formatted(reading, hold.ended));
    }
    reading
        .counters()
        .forEach(part -> {
          boolean isKept = part.settled().isEmpty() || part.settled().getAsLong() == hold.kept;
          if (part.delta() != hold.delta || !isKept) {
            wrong.add(reading + "; asked: " + hold.kept);
          }
        });
    hold.isPlaced = true;
    hold.ended = reading.state();
    hold.endedMillis = Math.min(hold.endedMillis, hold.begunMillis + GRACE_MILLIS);
  }

  /** Checks that each rejection was justified at some moment of its call. */
  private void checkRejections(String counter) {
    NavigableMap<Long, long[]> begins = new TreeMap<>(); // of what is possible
    NavigableMap<Long, long[]> ends = new TreeMap<>(); // of what is known
    for (Hold hold : all()) {
      if (hold.isPlaced && hold.counters.contains(counter)) {
        long least = Math.min(0, hold.delta);
        long most = Math.max(0, hold.delta);
        add(begins, hold.begunMillis, least, most);
        add(ends, hold.endedMillis, hold.settled() - least, hold.settled() - most);
      }
    }
    sum(begins);
    sum(ends);
    for (Hold hold : all()) {
      for (Rejection rejection : hold.rejections) {
        if (rejection.counter.equals(counter)) {
          Map.Entry<Long, long[]> begun = begins.floorEntry(rejection.untilMillis);
          Map.Entry<Long, long[]> ended = ends.lowerEntry(rejection.fromMillis);
          int side = rejection.delta < 0 ? 0 : 1;
          long value =
              HoldClient.FUNDS
                  + (begun == null ? 0 : begun.getValue()[side])
                  + (ended == null ? 0 : ended.getValue()[side])
                  + rejection.delta;
          boolean isFalse =
              value >= HoldClient.BOUNDS.floor() && value <= HoldClient.BOUNDS.ceiling();
          assertTrue(!isFalse, () -> "%s, and there was room: %d".formatted(rejection, value));
        }
      }
    }
  }

  private static void add(Map<Long, long[]> at, long millis, long least, long most) {
    long[] both = at.computeIfAbsent(millis, missing -> new long[2]);
    both[0] += least;
    both[1] += most;
  }

  private static void sum(NavigableMap<Long, long[]> at) {
    long[] sum = new long[2];
    for (long[] each : at.values()) {
      each[0] = sum[0] += each[0];
      each[1] = sum[1] += each[1];
    }
  }
}
