package dev.quipu.testkit;

import dev.quipu.presence.Presence;
import dev.quipu.simulation.time.ManualClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Hits of clients with their times: the expected values of online counts.
 *
 * @param all hits, ordered by time
 */
record Hits(List<Hit> all) {
  private static final long SECONDS_OF_HOUR = 3_600;
  private static final long FIRST_SECOND = 300; // the log has the sixth minute of every hour
  private static final int SLOWER = 10;
  private static final long HOUR_MILLIS = 60_000L * SLOWER;
  private static final long OFF_EDGES_MILLIS = 500; // so that no hit is exactly at a full minute

  /** One hit. */
  record Hit(long millis, String client) {}

  /**
   * Returns the hits of an access log. It has one minute of each hour; these minutes are
   * concatenated, and pass ten times slower.
   */
  static Hits ofAccessLog() throws IOException {
    List<Hit> hits = new ArrayList<>();
    try (InputStream in =
            Objects.requireNonNull(Hits.class.getResourceAsStream("sessions.txt"), "sessions.txt");
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII))) {
      long firstHour = -1;
      for (String line : lines.lines().skip(1).toList()) {
        String[] words = line.split(" ", 2);
        long second = Long.parseLong(words[0]);
        long hour = second / SECONDS_OF_HOUR;
        firstHour = firstHour < 0 ? hour : firstHour;
        long within = second % SECONDS_OF_HOUR - FIRST_SECOND;
        long start = (hour - firstHour) * HOUR_MILLIS;
        hits.add(new Hit(start + within * SLOWER * 1_000 + OFF_EDGES_MILLIS, words[1]));
      }
    }
    return new Hits(hits);
  }

  /**
   * Returns the hits of a crowd that arrives within three minutes, hits every 20 seconds, and
   * leaves within one.
   */
  static Hits ofCrowd(int clients, int fromMinute, int untilMinute) {
    List<Hit> hits = new ArrayList<>();
    for (long second = fromMinute * 60L; second < untilMinute * 60L; second++) {
      for (int client = 0; client < clients; client++) {
        boolean came = second >= fromMinute * 60L + 180L * client / clients;
        boolean left = second >= untilMinute * 60L - 60L * client / clients;
        if (came && !left && (second + client) % 20 == 0) {
          hits.add(new Hit(second * 1_000 + OFF_EDGES_MILLIS, Integer.toString(client)));
        }
      }
    }
    return new Hits(hits);
  }

  /** Returns the number of distinct clients in an interval, its end excluded. */
  long distinct(Instant from, Instant until) {
    return all.stream()
        .filter(hit -> hit.millis >= from.toEpochMilli() && hit.millis < until.toEpochMilli())
        .map(Hit::client)
        .distinct()
        .count();
  }

  /** An action at every full minute. */
  interface AtMinute {
    void look(int minute);
  }

  /** Replays all hits by this clock, which starts at 0. */
  void replay(ManualClock clock, Presence presence, int minutes, AtMinute atMinute) {
    int next = 0;
    for (int minute = 0; minute <= minutes; minute++) {
      long until = minute * 60_000L;
      while (next < all.size() && all.get(next).millis <= until) {
        Hit hit = all.get(next++);
        clock.advance(Duration.ofMillis(hit.millis - clock.epochMillis()));
        presence.seen("site", hit.client);
      }
      clock.advance(Duration.ofMillis(until - clock.epochMillis()));
      atMinute.look(minute);
    }
  }

  /** Returns their duration in minutes. */
  int minutes() {
    return Math.toIntExact(all.getLast().millis / 60_000) + 1;
  }
}
