package dev.quipu.server.http.route;

import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.view.ViewAggregates;
import dev.quipu.view.ViewAggregates.Aggregate;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Serves sums and averages of views over HTTP. */
final class AggregateRoutes {
  private final Supplier<ViewAggregates> aggregates;

  AggregateRoutes(Supplier<ViewAggregates> aggregates) {
    this.aggregates = aggregates;
  }

  /** GET /v1/views/aggregates */
  HttpReply read(Exchange exchange) {
    Map<String, Object> members = new LinkedHashMap<>();
    Optional<Aggregate> found;
    if (exchange.parameter("site").isPresent()) {
      exchange.allowParameters(Set.of("site", "day"));
      String site = exchange.requiredParameter("site");
      Optional<LocalDate> day = exchange.parameter("day").map(ViewRoutes::day);
      members.put("site", site);
      day.ifPresent(date -> members.put("day", date.toString()));
      found =
          day.isPresent() ? aggregates.get().ofDay(site, day.get()) : aggregates.get().ofSite(site);
    } else {
      exchange.allowParameters(Set.of("url"));
      String url = exchange.requiredParameter("url");
      members.put("url", url);
      found = aggregates.get().ofPage(url);
    }
    Aggregate numbers =
        found.orElseThrow(() ->
            Problem.notFound(
                "no views were aggregated for %s"
                    .formatted(
                        members.values().stream()
                            .map(Object::toString)
                            .collect(Collectors.joining(" on ")))));
    members.put("views", Long.toString(numbers.views()));
    members.put("values", Long.toString(numbers.values()));
    members.put("sum", Long.toString(numbers.sum()));
    numbers.average().ifPresent(average -> members.put("average", average));
    return HttpReply.json(200, members);
  }
}
