package dev.quipu.server.http.route;

import dev.quipu.Bounds;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.Holds;
import dev.quipu.engine.Engine;
import dev.quipu.layer.Store;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.store.StoreProfile;
import dev.quipu.technique.Technique;
import dev.quipu.technique.TechniqueSpec;
import dev.quipu.technique.Techniques;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Serves how the server counts, and how it could. */
record TechniqueRoutes(Services services) {
  /** GET /v1/technique: reports how the server counts. */
  HttpReply current(Exchange exchange) {
    exchange.allowParameters(Set.of());
    Counters counters = services.quipu().counters();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("technique", counters.technique());
    members.put(
        "guarantees", counters.guarantees().stream().sorted().map(TechniqueRoutes::name).toList());
    Bounds bounds = counters.bounds();
    if (bounds.floor() != Long.MIN_VALUE) {
      members.put("floor", Long.toString(bounds.floor()));
    }
    if (bounds.ceiling() != Long.MAX_VALUE) {
      members.put("ceiling", Long.toString(bounds.ceiling()));
    }
    members.put("regional", services.quipu().isRegional());
    members.put("parts", PartRoutes.hasParts(counters));
    members.put("holds", hasHolds());
    members.put("history", HistoryRoutes.patterns(counters));
    members.put("readOnly", exchange.isReader());
    return HttpReply.json(200, members);
  }

  private boolean hasHolds() {
    try {
      var unused = services.quipu().part(Holds.class);
      return true;
    } catch (UnsupportedOperationException e) {
      return false;
    }
  }

  /** GET /v1/techniques: reports what each technique guarantees, and whether it works here. */
  HttpReply all(Exchange exchange) {
    exchange.allowParameters(Set.of());
    Optional<StoreProfile> profile =
        services.quipu().isRegional()
            ? Optional.empty()
            : Optional.of(services.quipu().part(Store.class).profile());
    Optional<TechniqueSpec> own =
        services.quipu().counters().as(Technique.class).map(Technique::spec);
    List<TechniqueSpec> all = new ArrayList<>(Techniques.ALL);
    all.addFirst(Engine.SPEC);
    own.filter(spec -> all.stream().noneMatch(each -> each.name().equals(spec.name())))
        .ifPresent(all::addFirst); // such as one in shards
    boolean isEngine = own.isPresent() && own.get().name().equals(Engine.SPEC.name());
    List<Map<String, Object>> techniques = new ArrayList<>();
    for (TechniqueSpec spec : all) {
      boolean isCurrent = own.isPresent() && own.get().name().equals(spec.name());
      Map<String, Object> members = members(spec, isCurrent);
      if (profile.isPresent()) {
        boolean works = isCurrent || (!isEngine && isFor(spec, profile.get()));
        members.put("works", works);
        if (!works && !isEngine && !spec.equals(Engine.SPEC)) {
          members.put("lacks", spec.missingOn(profile.get()));
        }
      }
      techniques.add(members);
    }
    return HttpReply.json(200, Map.of("techniques", techniques));
  }

  private static boolean isFor(TechniqueSpec spec, StoreProfile store) {
    return !spec.equals(Engine.SPEC) && spec.worksOn(store);
  }

  private static Map<String, Object> members(TechniqueSpec spec, boolean isCurrent) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", spec.name());
    members.put("summary", spec.summary());
    members.put("current", isCurrent);
    members.put(
        "guarantees", spec.guarantees().stream().sorted().map(Guarantee::sentence).toList());
    members.put("afterLostReply", spec.afterLostReply());
    members.put("perAdd", spec.perAdd());
    members.put("perRead", spec.perRead());
    members.put("source", spec.source());
    return members;
  }

  private static String name(Guarantee guarantee) {
    return guarantee.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
