package dev.quipu.server.http.route;

import dev.quipu.Limits;
import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.ingest.ViewQueue;
import dev.quipu.server.http.message.Bulk;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.Failures;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.server.http.message.Lines;
import dev.quipu.server.http.message.Problem;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewCounter;
import dev.quipu.view.ViewEvent;
import dev.quipu.view.ViewPage;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Serves exact unique views over HTTP. */
final class ViewRoutes {
  static final String BULK = "/v1/views/bulk";

  private static final NumberedLists PAGES =
      new NumberedLists("pages", "url", "value", ByChange.SORTS);
  private static final int LINES_MAX = 10_000;
  private static final int AT_ONCE_MAX = 512;
  private static final int PAGE_VIEWS = 100;
  private static final int LISTED_BYTES = 2 * Limits.URL_BYTES_MAX + 2_048;
  private static final long WAIT_MILLIS = 50;
  private static final Set<String> FIELDS = Set.of("url", "time", "clientId", "value");

  private final Supplier<ViewCounter> views;
  private final Optional<ViewQueue> queue;
  private final Failures failures;
  private final Clock clock;
  private final Semaphore places = new Semaphore(AT_ONCE_MAX);

  ViewRoutes(
      Supplier<ViewCounter> views, Optional<ViewQueue> queue, Failures failures, Clock clock) {
    this.views = views;
    this.queue = queue;
    this.failures = failures;
    this.clock = clock;
  }

  /** POST /v1/views: replies when the view is durable, in the counter or in the queue. */
  HttpReply add(Exchange exchange) {
    ViewEvent event = event(exchange.json(FIELDS));
    if (queue.isPresent()) {
      queue.get().send(event);
    } else {
      views.get().add(event);
    }
    return HttpReply.json(202, members(event));
  }

  private static Map<String, Object> members(ViewEvent event) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("url", event.url());
    members.put("time", event.time().toString());
    members.put("clientId", event.clientId());
    event.value().ifPresent(value -> members.put("value", Long.toString(value)));
    return members;
  }

  /** Lines that are added together. */
  private record Group(List<Lines.Line> lines, List<ViewEvent> events) {
    Group() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    void add(Lines.Line line, ViewEvent event) {
      lines.add(line);
      events.add(event);
    }

    /** Returns the lines one by one. */
    List<Group> parts() {
      return IntStream.range(0, lines.size())
          .mapToObj(i -> new Group(List.of(lines.get(i)), List.of(events.get(i))))
          .toList();
    }
  }

  /** A group that is being added. */
  private record Running(Group group, Future<List<Map<String, Object>>> end) {}

  /**
   * POST /v1/views/bulk: adds groups of views, each in a transaction, concurrently, since the store
   * commits concurrent writes together.
   */
  HttpReply bulk(Exchange exchange) {
    return Bulk.reply(exchange, LINES_MAX, lines -> addLines(lines, exchange));
  }

  private List<Bulk.Reply> addLines(List<Lines.Line> lines, Exchange exchange) {
    Map<Integer, Map<String, Object>> replies = new HashMap<>(); // by line number
    ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    try {
      List<Running> running = new ArrayList<>();
      for (Group group : groups(lines, replies)) {
        if (!hasPlace(exchange)) {
          put(group, failed(group, late()), replies);
          continue;
        }
        running.add(
            new Running(
                group,
                executor.submit(() -> {
                  try {
                    return addGroup(group, exchange);
                  } finally {
                    places.release();
                  }
                })));
      }
      for (Running each : running) {
        put(each.group, answer(each, exchange), replies);
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause()); // addGroup turns every exception into replies
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Problem.unknown("the server is stopping");
    } finally {
      executor.shutdown(); // groups in progress continue
    }
    return lines.stream()
        .map(line -> Bulk.Reply.of(replies.getOrDefault(line.number(), Map.of())))
        .toList();
  }

  private static void put(
      Group group, List<Map<String, Object>> results, Map<Integer, Map<String, Object>> replies) {
    for (int i = 0; i < results.size(); i++) {
      replies.put(group.lines.get(i).number(), results.get(i));
    }
  }

  /** Parses the lines; replies to those that are malformed. */
  private List<Group> groups(List<Lines.Line> lines, Map<Integer, Map<String, Object>> replies) {
    int most = queue.isPresent() ? 1 : views.get().togetherMax();
    List<Group> groups = new ArrayList<>();
    for (Lines.Line line : lines) {
      try {
        ViewEvent event = event(line.json(FIELDS));
        if (groups.isEmpty() || groups.getLast().lines.size() == most) {
          groups.add(new Group());
        }
        groups.getLast().add(line, event);
      } catch (RuntimeException e) {
        replies.put(line.number(), failed(line, e));
      }
    }
    return groups;
  }

  /** Takes a place, unless there was none in time. */
  private boolean hasPlace(Exchange exchange) throws InterruptedException {
    while (!places.tryAcquire(WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
      if (!exchange.mayBegin()) {
        return false;
      }
    }
    return true;
  }

  private List<Map<String, Object>> answer(Running running, Exchange exchange)
      throws ExecutionException, InterruptedException {
    while (true) {
      try {
        return running.end.get(WAIT_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (!exchange.mayWait()) {
          return failed(
              running.group,
              new OutcomeUnknownException(
                  Reason.TIMEOUT,
                  "the time for the request ended while this line was under way; repeat it",
                  null));
        }
      }
    }
  }

  private static QuipuException late() {
    return new NotAppliedException(
        Reason.TIMEOUT, "the time for the request ended before this line; repeat it");
  }

  private Map<String, Object> failed(Lines.Line line, RuntimeException thrown) {
    Map<String, Object> members = failures.problem(thrown, BULK).ofWrite().members();
    members.put("line", line.number());
    return members;
  }

  private List<Map<String, Object>> failed(Group group, RuntimeException thrown) {
    return group.lines.stream().map(line -> failed(line, thrown)).toList();
  }

  private List<Map<String, Object>> addGroup(Group group, Exchange exchange) {
    try {
      if (!exchange.mayBegin()) {
        throw late();
      }
      if (queue.isPresent()) {
        group.events.forEach(queue.get()::send);
        return List.of(accepted());
      }
      List<Map<String, Object>> replies = new ArrayList<>();
      for (boolean isCounted : views.get().addAll(group.events)) {
        Map<String, Object> members = accepted();
        members.put("counted", isCounted);
        replies.add(members);
      }
      return replies;
    } catch (RuntimeException e) {
      boolean isUnknown = e instanceof QuipuException it && it.outcome() == Outcome.UNKNOWN;
      return isUnknown || group.lines.size() == 1
          ? failed(group, e)
          : group.parts().stream().flatMap(part -> addGroup(part, exchange).stream()).toList();
    }
  }

  private static Map<String, Object> accepted() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("status", 202);
    return members;
  }

  /** GET /v1/views/pages */
  HttpReply pages(Exchange exchange) {
    exchange.allowParameters(RankRoutes.PARAMETERS);
    String sort = PAGES.sort(exchange);
    if (!ByChange.isSort(sort)) {
      ByChange.reject(exchange);
      return PAGES.list(exchange, sort, views.get()::pages);
    }
    ByChange ranking = ByChange.of(exchange, clock, PAGES.selection(exchange), sort);
    requireKept(ranking.from());
    return ranking.reply(
        "pages",
        "url",
        ranking
            .movers()
            .page(views.get(), ranking.after(), PAGES.limit(exchange), exchange::mayBegin));
  }

  private void requireKept(Instant since) {
    Optional<Duration> keep = views.get().options().keep();
    Instant now = Instant.ofEpochMilli(clock.epochMillis());
    if (keep.isPresent() && since.isBefore(now.minus(keep.get()))) {
      throw Problem.badRequest(
          "views are kept for %s, and since is before; use a shorter period".formatted(keep.get()));
    }
  }

  /** GET /v1/views */
  HttpReply count(Exchange exchange) {
    return exchange.parameter("site").isPresent() ? ofSite(exchange) : ofPage(exchange);
  }

  private HttpReply ofSite(Exchange exchange) {
    exchange.allowParameters(Set.of("site", "day"));
    String site = exchange.requiredParameter("site");
    Optional<LocalDate> day = exchange.parameter("day").map(ViewRoutes::day);
    OptionalLong found =
        day.isPresent() ? views.get().countOfDay(site, day.get()) : views.get().countOfSite(site);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("site", site);
    day.ifPresent(date -> members.put("day", date.toString()));
    members.put(
        "value", Long.toString(found.orElseThrow(() -> Problem.notFound("never viewed: " + site))));
    return HttpReply.json(200, members);
  }

  static LocalDate day(String text) {
    try {
      return LocalDate.parse(text);
    } catch (DateTimeParseException e) {
      throw Problem.badRequest("query parameter day is not a date like 2022-03-28");
    }
  }

  private HttpReply ofPage(Exchange exchange) {
    exchange.allowParameters(Set.of("url", "from", "until"));
    String url = exchange.requiredParameter("url");
    Optional<Instant> from = exchange.parameter("from").map(text -> time("from", text));
    Optional<Instant> until = exchange.parameter("until").map(text -> time("until", text));
    long count;
    if (from.isEmpty() && until.isEmpty()) {
      OptionalLong all = views.get().count(url);
      count = all.orElseThrow(() -> Problem.notFound("never viewed: " + url));
    } else {
      count = views.get().count(url, from, until);
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("url", url);
    members.put("value", Long.toString(count));
    return HttpReply.json(200, members);
  }

  /** GET /v1/views/events */
  HttpReply events(Exchange exchange) {
    exchange.allowParameters(Set.of("url", "from", "until", "limit", "cursor"));
    String url = exchange.requiredParameter("url");
    int limit = Cursor.limit(exchange, PAGE_VIEWS, ViewPage.VIEWS_MAX);
    exchange.reserve((long) limit * LISTED_BYTES);
    ViewPage page =
        views
            .get()
            .page(
                url,
                exchange.parameter("from").map(text -> time("from", text)),
                exchange.parameter("until").map(text -> time("until", text)),
                limit,
                exchange.parameter("cursor").map(Cursor::decode));
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("events", page.views().stream().map(ViewRoutes::members).toList());
    page.cursor().ifPresent(sort -> members.put("cursor", Cursor.encode(sort)));
    return HttpReply.json(200, members);
  }

  private static Map<String, Object> members(ViewPage.CountedView view) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("url", view.url());
    members.put("identity", view.identity());
    members.put("time", view.time().toString());
    view.clientId().ifPresent(client -> members.put("clientId", client));
    view.value().ifPresent(value -> members.put("value", Long.toString(value)));
    return members;
  }

  private static ViewEvent event(JsonBody body) {
    Optional<Long> value = body.optionalNumber("value");
    return new ViewEvent(
        body.text("url"),
        time("time", body.text("time")),
        body.text("clientId"),
        value.isPresent() ? OptionalLong.of(value.get()) : OptionalLong.empty());
  }

  static Instant time(String field, String text) {
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeParseException e) {
      throw Problem.badRequest(
          "%s is not a valid timestamp; use the format 2022-03-28T13:17:23+00:00".formatted(field));
    }
  }
}
