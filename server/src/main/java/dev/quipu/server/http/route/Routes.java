package dev.quipu.server.http.route;

import dev.quipu.Holds;
import dev.quipu.Quipu;
import dev.quipu.Transactions;
import dev.quipu.sequence.RangeJobs;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.server.http.message.Failures;
import dev.quipu.server.net.RecentLog;
import dev.quipu.server.watch.WatchHub;
import dev.quipu.time.Clock;
import dev.quipu.view.ViewAggregates;
import io.netty.handler.codec.http.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The table of routes. It drives dispatch and metrics; a test compares the OpenAPI document. */
public final class Routes {
  private static final int SMALL_BODY_BYTES_MAX = 64 << 10;
  private static final int BULK_BODY_BYTES_MAX = 8 << 20;

  /** Room for 1,000 of the longest names, with every character beyond ASCII as an escape. */
  private static final int NAMES_BODY_BYTES_MAX = 2 << 20;

  /** Room for 64 of the longest names, in the same way, and their amounts. */
  private static final int ADDS_BODY_BYTES_MAX = 256 << 10;

  private final List<Route> all;

  /**
   * Creates the table.
   *
   * @param watch sends changes; empty if the store is not the engine
   * @param isShown returns whether badges may show a counter
   * @param impediment returns why the process cannot serve although the store responds
   */
  public Routes(
      Services services,
      Metrics metrics,
      Failures failures,
      Optional<WatchHub> watch,
      Predicate<String> isShown,
      Supplier<Optional<String>> impediment,
      Clock clock) {
    Quipu quipu = services.quipu();
    RankRoutes ranks = new RankRoutes(quipu.counters(), clock);
    CounterRoutes counters =
        new CounterRoutes(
            quipu.counters(),
            quipu::observed,
            new Balances(() -> quipu.part(Holds.class)),
            ranks,
            failures);
    TransactionRoutes transactions =
        new TransactionRoutes(() -> quipu.part(Transactions.class), counters);
    HoldRoutes holds =
        new HoldRoutes(() -> quipu.part(Holds.class), () -> quipu.counters().bounds());
    AggregateRoutes aggregates = new AggregateRoutes(() -> quipu.part(ViewAggregates.class));
    ViewRoutes views = new ViewRoutes(services.views(), services.queue(), failures, clock);
    HitRoutes hits = new HitRoutes(services.display());
    HitLogRoutes log = new HitLogRoutes(counters);
    DisplayRoutes display = new DisplayRoutes(services.display());
    PresenceRoutes presence = new PresenceRoutes(services.presence());
    SequenceRoutes sequences = new SequenceRoutes(() -> quipu.part(SequenceOfRecords.class));
    RevisionRoutes revisions = new RevisionRoutes(() -> quipu.part(RevisionLog.class));
    JobRoutes jobs = new JobRoutes(() -> quipu.part(RangeJobs.class));
    HistoryRoutes history = new HistoryRoutes(quipu.counters(), services.views(), clock);
    ThresholdRoutes thresholds = new ThresholdRoutes(quipu.counters(), services.webhooks());
    PartRoutes parts = new PartRoutes(quipu.counters(), services.regions());
    RecentRoutes recent = new RecentRoutes(quipu.counters(), RecentLog.ofProcess());
    TechniqueRoutes techniques = new TechniqueRoutes(services);
    BadgeRoutes badges = new BadgeRoutes(quipu.counters(), isShown);
    PageRoutes page = new PageRoutes();
    OperationRoutes operation = new OperationRoutes(services, metrics, impediment, clock);
    all =
        List.of(
            Route.post(CounterRoutes.ADD, SMALL_BODY_BYTES_MAX, counters::add).in(counters::part),
            Route.post(CounterRoutes.BULK, BULK_BODY_BYTES_MAX, counters::bulk),
            Route.get("/v1/counters", counters::list),
            Route.get("/v1/namespaces", ranks::namespaces),
            Route.get("/v1/watch", new WatchRoutes(watch)::watch),
            Route.query("/v1/counters/read", NAMES_BODY_BYTES_MAX, counters::readAll),
            Route.post("/v1/counters/{name}/holds", SMALL_BODY_BYTES_MAX, holds::placeOne),
            Route.get("/v1/counters/{name}/holds", holds::list),
            Route.get("/v1/counters/{name}/history", history::values),
            Route.get("/v1/counters/{name}/parts", parts::parts),
            Route.get("/v1/counters/{name}/requests", recent::requests),
            Route.get("/v1/regions", parts::regions),
            Route.get("/v1/history", history::sums),
            Route.get("/v1/thresholds", thresholds::list),
            Route.get("/v1/thresholds/{id}", thresholds::read),
            Route.put("/v1/thresholds/{id}", SMALL_BODY_BYTES_MAX, thresholds::put),
            Route.delete("/v1/thresholds/{id}", thresholds::delete),
            Route.get("/v1/counters/{name}", counters::read),
            Route.put("/v1/counters/{name}", SMALL_BODY_BYTES_MAX, counters::set),
            Route.delete("/v1/counters/{name}", counters::delete),
            Route.get("/v1/changes/{name}", new ChangeRoutes(quipu.counters())::list),
            Route.get(HitLogRoutes.PATH, log::list),
            Route.post(HitLogRoutes.PATH, SMALL_BODY_BYTES_MAX, log::insert),
            Route.put(HitLogRoutes.PATH, SMALL_BODY_BYTES_MAX, log::set),
            Route.delete(HitLogRoutes.PATH, log::delete),
            Route.post("/v1/transactions", ADDS_BODY_BYTES_MAX, transactions::commit),
            Route.post("/v1/requests/{id}/cancel", SMALL_BODY_BYTES_MAX, transactions::cancel),
            Route.get("/v1/requests/{id}", transactions::outcome),
            Route.post("/v1/holds", ADDS_BODY_BYTES_MAX, holds::place),
            Route.post("/v1/holds/{id}/settle", ADDS_BODY_BYTES_MAX, holds::settle),
            Route.post("/v1/holds/{id}/release", SMALL_BODY_BYTES_MAX, holds::release),
            Route.post("/v1/holds/{id}/extend", SMALL_BODY_BYTES_MAX, holds::extend),
            Route.get("/v1/holds/{id}", holds::read),
            Route.post("/v1/views", SMALL_BODY_BYTES_MAX, views::add).andForPages(),
            Route.post(ViewRoutes.BULK, BULK_BODY_BYTES_MAX, views::bulk),
            Route.get("/v1/views", views::count),
            Route.get("/v1/views/pages", views::pages),
            Route.get("/v1/views/history", history::views),
            Route.get("/v1/views/aggregates", aggregates::read),
            Route.get("/v1/views/events", views::events),
            Route.post("/v1/display/{name}/view", SMALL_BODY_BYTES_MAX, display::view),
            Route.get("/v1/display/{name}", display::read),
            Route.post("/v1/presence/{room}", SMALL_BODY_BYTES_MAX, presence::seen),
            Route.get("/v1/presence/{room}", presence::online),
            Route.post("/v1/sequences/{name}/next", SMALL_BODY_BYTES_MAX, sequences::next),
            Route.post("/v1/sequences/{name}/void", SMALL_BODY_BYTES_MAX, sequences::voidNumber),
            Route.get("/v1/sequences/{name}", sequences::read),
            Route.get("/v1/sequences", sequences::list),
            Route.post("/v1/revisions/{name}", SMALL_BODY_BYTES_MAX, revisions::write),
            Route.get("/v1/revisions/{name}", revisions::read),
            Route.get("/v1/revisions", revisions::list),
            Route.post("/v1/jobs/{name}/take", SMALL_BODY_BYTES_MAX, jobs::take),
            Route.post("/v1/jobs/{name}/done", SMALL_BODY_BYTES_MAX, jobs::done),
            Route.post("/v1/jobs/{name}/release", SMALL_BODY_BYTES_MAX, jobs::release),
            Route.put("/v1/jobs/{name}", SMALL_BODY_BYTES_MAX, jobs::open),
            Route.get("/v1/jobs/{name}", jobs::read),
            Route.get("/v1/technique", techniques::current),
            Route.get("/v1/techniques", techniques::all),
            Route.get("/v1/events", recent::events),
            Route.get("/v1/demo", DemoRoutes::run),
            Route.get(HitRoutes.BADGE, hits::badge).andForPages(),
            Route.get("/hit/{name}.json", hits::shield).andForPages(),
            Route.open("/views.js", hits::script),
            Route.open("/badge/{name}.svg", badges::picture),
            Route.open("/badge/{name}.json", badges::value),
            Route.open("/badge.js", badges::script),
            Route.open("/", page::index),
            Route.open("/icon.svg", page::icon),
            Route.open("/assets/{name}", page::asset),
            Route.open("/livez", operation::live),
            Route.open("/readyz", operation::ready),
            Route.get("/metrics", operation::metrics),
            Route.open("/openapi.json", operation::openApi),
            Route.open("/problems/{type}", operation::problem));
  }

  /** Returns all routes. */
  public List<Route> all() {
    return all;
  }

  /** Returns the route of a request; HEAD is served by GET. */
  public Optional<Route> find(HttpMethod method, String rawPath) {
    HttpMethod served = method.equals(HttpMethod.HEAD) ? HttpMethod.GET : method;
    for (Route route : all) { // the most frequent ones come first
      if (route.method().equals(served) && route.match(rawPath) != null) {
        return Optional.of(route);
      }
    }
    return Optional.empty();
  }

  /** Returns whether pages of the allowed origins may use a path. */
  public boolean isForPages(String rawPath) {
    return all.stream().anyMatch(route -> route.forPages() && route.match(rawPath) != null);
  }

  /**
   * Returns the actions that POST has on what a path names; empty unless the path has more than a
   * name after the place of one, as a path with an unknown action has.
   */
  public List<String> actions(String rawPath) {
    return all.stream()
        .filter(route -> {
          String value = route.match(rawPath);
          return value != null && value.indexOf('/') > 0 && route.path().endsWith("}");
        })
        .map(route -> route.path() + "/")
        .distinct()
        .flatMap(name ->
            all.stream()
                .filter(each -> each.method().equals(HttpMethod.POST))
                .map(Route::path)
                .filter(path -> path.startsWith(name))
                .map(path -> path.substring(name.length())))
        .distinct()
        .toList();
  }

  /** Returns the methods that a path supports; empty for an unknown path. */
  public List<String> methods(String rawPath) {
    List<String> methods = new ArrayList<>();
    for (Route route : all) {
      if (route.match(rawPath) != null) {
        methods.add(route.method().name());
        if (route.method().equals(HttpMethod.GET)) {
          methods.add("HEAD");
        }
      }
    }
    if (!methods.isEmpty()) {
      methods.add("OPTIONS");
    }
    return methods.stream().distinct().toList();
  }
}
