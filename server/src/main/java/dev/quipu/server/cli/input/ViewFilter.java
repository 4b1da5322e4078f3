package dev.quipu.server.cli.input;

import dev.quipu.server.cli.input.CombinedLog.Request;
import dev.quipu.view.ViewEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Selects the requests of an access log that are views, by options. */
public final class ViewFilter {
  private static final Pattern RANGE = Pattern.compile("([1-9][0-9]{2})(?:-([1-9][0-9]{2}))?");
  private static final List<String> BOTS = List.of("bot", "crawl", "spider", "slurp");
  private static final String PHONE = "cubot"; // a brand

  private record Range(int from, int to) {}

  @Option(
      names = "--status",
      paramLabel = "STATUS",
      split = ",",
      description = "Count responses with these statuses (default: 200-299,304).")
  private @Nullable List<String> statuses;

  @Option(
      names = "--method",
      paramLabel = "METHOD",
      split = ",",
      description = "Count requests with these methods (default: GET).")
  private @Nullable List<String> methods;

  @Option(
      names = "--bots",
      description = "Count user agents with 'bot', 'crawl', 'spider' or 'slurp' too.")
  private boolean bots;

  @Option(
      names = "--drop-query",
      description = "Count /page?x=1 as /page (default: as a URL of its own).")
  private boolean dropQuery;

  private List<Range> ranges = List.of();

  /**
   * Checks the options.
   *
   * @param isAccessLog whether the file is one
   * @throws IllegalArgumentException if they are invalid, or there are any for another file
   */
  public void check(boolean isAccessLog) {
    if (!isAccessLog && (statuses != null || methods != null || bots || dropQuery)) {
      throw new IllegalArgumentException(
          "--status, --method, --bots and --drop-query require --format combined-log");
    }
    List<Range> parsed = new ArrayList<>();
    for (String each : statuses == null ? List.of("200-299", "304") : statuses) {
      Matcher range = RANGE.matcher(each);
      if (!range.matches()) {
        throw new IllegalArgumentException(
            "--status is '%s'; use statuses and ranges, such as 200-299,304".formatted(each));
      }
      int from = Integer.parseInt(range.group(1));
      parsed.add(new Range(from, range.group(2) == null ? from : Integer.parseInt(range.group(2))));
    }
    ranges = parsed;
  }

  /** Returns the view that a request is; empty if it is none. */
  public Optional<ViewEvent> view(Request request) {
    boolean isView =
        (methods == null ? List.of("GET") : methods).contains(request.method())
            && ranges.stream().anyMatch(each -> isIn(each, request.status()))
            && (bots || !isBot(request.agent()));
    return isView
        ? Optional.of(new ViewEvent(url(request.url()), request.time(), request.client()))
        : Optional.empty();
  }

  private static boolean isIn(Range range, int status) {
    return range.from <= status && status <= range.to;
  }

  private static boolean isBot(String agent) {
    String lower = agent.toLowerCase(Locale.ROOT).replace(PHONE, "");
    return BOTS.stream().anyMatch(lower::contains);
  }

  private String url(String url) {
    int query = url.indexOf('?');
    return dropQuery && query > 0 ? url.substring(0, query) : url;
  }
}
