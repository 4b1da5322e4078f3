package dev.quipu.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.layer.Store;
import dev.quipu.memory.MemoryDriver;
import dev.quipu.presence.Online;
import dev.quipu.presence.OnlineExact;
import dev.quipu.presence.OnlineRing;
import dev.quipu.presence.Presence;
import dev.quipu.presence.Window;
import dev.quipu.simulation.time.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * The number of online sessions by each variant, checked at every minute: real hits of three days,
 * and a crowd that arrives and leaves together. The page and the charts are compared; {@code
 * -Dquipu.docs.write=true} writes them.
 */
final class OnlinePageTest {
  private static final Path DOCS = Path.of("../docs/reference");
  private static final Window TWO_KEYS = Window.ofTwoKeys(Window.DEFAULT.length());
  private static final int CHART_FROM = 60;
  private static final int CHART_MINUTES = 120;
  private static final String HEAD =
      """
      # How many are online

      Two variants of [the ring](../concepts/online-ring.md) against the exact count: the number
      of sessions seen in the previous five minutes. Six keys, of which five full minutes are
      shown, and two keys, of which one is being filled and the other, of the five minutes before,
      is shown.

      Real hits: 6,000 of a web server's access log, 1,217 sessions; the log has one minute of
      every hour; these minutes are concatenated and pass ten times slower. The chart shows two
      hours of 8 and a half.

      ![Online by six keys and by two keys against the exact count, real hits](online.svg)

      A crowd: 300 sessions that arrive within three minutes from minute 10 on, hit every 20
      seconds, and leave within the minute before minute 33.

      ![Online by six keys and by two keys against the exact count, a crowd](online-crowd.svg)

      Six keys rise with the crowd, and fall up to five minutes early, in as many steps as it
      arrived in: a session leaves the number five minutes after it was last counted, not last
      seen. They never show more than were present, and `low..high` bounds how many may be
      missing. Two keys follow in one step, up to five minutes late. The exact variant has no
      error, at the cost of one item per session.

      | hits | variant | farthest from the last 5 minutes | on average | outside low..high |
      |---|---|---|---|---|
      """;
  private static final String FOOT =
      """

      Made by a test (OnlinePageTest), which checks every minute and compares this page.
      """;

  private record Variant(String name, Function<Store, Presence> made) {}

  private static final List<Variant> VARIANTS =
      List.of(
          new Variant("six keys", store -> new OnlineRing(store, Window.DEFAULT)),
          new Variant("two keys", store -> new OnlineRing(store, TWO_KEYS)),
          new Variant("exact", store -> new OnlineExact(store, Window.DEFAULT.length())));

  @Test
  void everyVariantIsWithinItsBoundsAtEveryMinute() throws IOException {
    StringBuilder page = new StringBuilder(HEAD);
    Hits log = Hits.ofAccessLog();
    Chart chart = new Chart(CHART_FROM, CHART_FROM + CHART_MINUTES);
    rows(page, "real", log, log.minutes() + 10, chart);
    same("online.svg", chart.svg());
    Hits crowd = Hits.ofCrowd(300, 10, 33);
    Chart ofCrowd = new Chart(0, 45);
    rows(page, "a crowd", crowd, 45, ofCrowd);
    same("online-crowd.svg", ofCrowd.svg());
    same("online.md", page.append(FOOT).toString());
  }

  private static void rows(StringBuilder page, String name, Hits hits, int minutes, Chart chart) {
    Map<Integer, Long> exact = new LinkedHashMap<>();
    for (int minute = 0; minute <= minutes; minute++) {
      Instant now = Instant.ofEpochMilli(minute * 60_000L);
      exact.put(minute, hits.distinct(now.minus(Window.DEFAULT.length()), now));
    }
    chart.line("exact count", "#7a7a7a", exact);
    List<String> colours = List.of("#3367d6", "#b3261e");
    for (int i = 0; i < VARIANTS.size(); i++) {
      Variant variant = VARIANTS.get(i);
      Map<Integer, Long> shown = shown(variant, hits, minutes);
      if (i < colours.size()) {
        chart.line(variant.name, colours.get(i), shown);
      }
      long farthest = 0;
      long sum = 0;
      for (int minute = 0; minute <= minutes; minute++) {
        long off = Math.abs(value(shown, minute) - value(exact, minute));
        farthest = Math.max(farthest, off);
        sum += off;
      }
      page.append(
          String.format(
              Locale.ROOT,
              "| %s | %s | %d | %.1f | 0 of %d minutes |%n",
              name,
              variant.name,
              farthest,
              sum / (double) (minutes + 1),
              minutes + 1));
    }
  }

  private static long value(Map<Integer, Long> line, int minute) {
    return line.getOrDefault(minute, 0L);
  }

  private static Map<Integer, Long> shown(Variant variant, Hits hits, int minutes) {
    ManualClock clock = new ManualClock(0);
    Presence presence = variant.made.apply(new Store(new MemoryDriver(), clock));
    Map<Integer, Long> shown = new LinkedHashMap<>();
    hits.replay(
        clock,
        presence,
        minutes,
        minute -> {
          Online online = presence.online("site");
          long exact = hits.distinct(online.from(), online.until());
          String message =
              "%s at minute %d: %s, the exact count is %d"
                  .formatted(variant.name, minute, online, exact);
          assertTrue(online.complete(), message);
          assertTrue(online.low() <= exact && exact <= online.high(), message);
          if (!variant.name.equals("six keys")) {
            assertEquals(exact, online.value(), message);
          }
          shown.put(minute, online.value());
        });
    return shown;
  }

  @Test
  void aSessionThatIsSeenInEveryBucketIsCountedInEveryWindow() {
    Hits steady = Hits.ofCrowd(300, 0, 60);
    shown(VARIANTS.getFirst(), steady, 60)
        .forEach((minute, value) -> {
          if (minute >= 4 && minute < 60) {
            assertEquals(300, value, "minute " + minute);
          }
        });
  }

  /** Counts each hit, like a recipe without marks. */
  private record WithoutMarks(Store store) implements Presence {
    @Override
    public void seen(String room, String client) {
      new OnlineRing(store, Window.DEFAULT).seen(room, client + store.clock().epochMillis());
    }

    @Override
    public Online online(String room) {
      return new OnlineRing(store, Window.DEFAULT).online(room);
    }
  }

  @Test
  void theCheckCatchesARingThatCountsASessionAtEachHit() throws IOException {
    Hits log = Hits.ofAccessLog();
    ManualClock clock = new ManualClock(0);
    Presence presence = new WithoutMarks(new Store(new MemoryDriver(), clock));
    List<Integer> wrong = new ArrayList<>();
    log.replay(
        clock,
        presence,
        log.minutes(),
        minute -> {
          Online online = presence.online("site");
          if (online.low() > log.distinct(online.from(), online.until())) {
            wrong.add(minute);
          }
        });
    assertTrue(wrong.size() > log.minutes() / 2, "caught in " + wrong.size() + " minutes");
  }

  private static void same(String name, String text) throws IOException {
    Path file = DOCS.resolve(name);
    if (Boolean.getBoolean("quipu.docs.write")) {
      Files.writeString(file, text);
    }
    assertEquals(Files.readString(file), text);
  }

  /** Lines over minutes. */
  private static final class Chart {
    private final int from;
    private final int until;
    private final List<String> names = new ArrayList<>();
    private final List<String> colours = new ArrayList<>();
    private final List<Map<Integer, Long>> lines = new ArrayList<>();

    Chart(int from, int until) {
      this.from = from;
      this.until = until;
    }

    void line(String name, String colour, Map<Integer, Long> line) {
      names.add(name);
      colours.add(colour);
      lines.add(line);
    }

    String svg() {
      long most = 1;
      for (Map<Integer, Long> line : lines) {
        for (int minute = from; minute <= until; minute++) {
          most = Math.max(most, value(line, minute));
        }
      }
      StringBuilder svg =
          new StringBuilder(
              """
              <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 300" font-family="sans-serif" font-size="12">
              <rect width="760" height="300" fill="#ffffff"/>
              """);
      for (int i = 0; i < lines.size(); i++) {
        StringBuilder points = new StringBuilder();
        for (int minute = from; minute <= until; minute++) {
          points.append(
              String.format(
                  Locale.ROOT,
                  "%.1f,%.1f ",
                  40 + 700.0 * (minute - from) / (until - from),
                  260 - 200.0 * value(lines.get(i), minute) / most));
        }
        svg.append(
            "<polyline fill=\"none\" stroke-width=\"%d\" stroke=\"%s\" points=\"%s\"/>%n"
                .formatted(i == 0 ? 5 : 2, colours.get(i), points.toString().strip()));
        svg.append(
            "<text x=\"60\" y=\"%d\" fill=\"%s\">%s</text>%n"
                .formatted(20 + 16 * i, colours.get(i), names.get(i)));
      }
      for (int minute = from; minute <= until; minute += (until - from) / 3) {
        svg.append(
            String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"280\" text-anchor=\"middle\">minute %d</text>%n",
                40 + 700.0 * (minute - from) / (until - from),
                minute));
      }
      svg.append(
          "<text x=\"4\" y=\"64\">%d</text>%n<text x=\"4\" y=\"264\">0</text>%n".formatted(most));
      return svg.append("</svg>\n").toString();
    }
  }
}
