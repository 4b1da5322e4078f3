package dev.quipu.server.http.route;

import dev.quipu.Quipu;
import dev.quipu.display.DisplayCounters;
import dev.quipu.ingest.ViewQueue;
import dev.quipu.presence.Presence;
import dev.quipu.region.RegionLeases;
import dev.quipu.server.webhook.Webhooks;
import dev.quipu.store.Survival;
import dev.quipu.view.ViewCounter;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The services behind the routes. In one of several regions, those that {@link Quipu} does not
 * support there fail when they are requested.
 *
 * @param queue where views wait to be counted; empty to count them immediately
 * @param storeName the name of the store in responses
 * @param durability returns what acknowledged adds survive now
 * @param webhooks delivers crossings of thresholds; empty if it is off
 * @param regions returns the regions; empty if there is one
 */
public record Services(
    Quipu quipu,
    Supplier<ViewCounter> views,
    Optional<ViewQueue> queue,
    DisplayCounters display,
    Supplier<Presence> presence,
    String storeName,
    Supplier<String> durability,
    Optional<Webhooks> webhooks,
    Optional<Supplier<List<RegionLeases.Status>>> regions) {
  /** Returns all services on one store, without a cache and a queue. */
  public static Services of(Quipu quipu, String storeName) {
    Services all =
        new Services(
            quipu,
            () -> quipu.part(ViewCounter.class),
            Optional.empty(),
            quipu.part(DisplayCounters.class),
            () -> quipu.part(Presence.class),
            storeName,
            Survival.FSYNC::text,
            Optional.empty(),
            Optional.empty());
    return quipu.isRegional() ? all : all.with(quipu.part(Presence.class));
  }

  /** Returns the same services, whose adds survive something else. */
  public Services surviving(Supplier<String> other) {
    return new Services(
        quipu, views, queue, display, presence, storeName, other, webhooks, regions);
  }

  /** Returns the same services, whose crossings are delivered. */
  public Services sending(Optional<Webhooks> to) {
    return new Services(quipu, views, queue, display, presence, storeName, durability, to, regions);
  }

  /** Returns the same services in one of several regions. */
  public Services among(Supplier<List<RegionLeases.Status>> all) {
    return new Services(
        quipu, views, queue, display, presence, storeName, durability, webhooks, Optional.of(all));
  }

  /** Returns the same services with other display counters. */
  public Services showing(DisplayCounters other) {
    return new Services(
        quipu, views, queue, other, presence, storeName, durability, webhooks, regions);
  }

  /** Returns the same services with another presence. */
  public Services with(Presence other) {
    return new Services(
        quipu, views, queue, display, () -> other, storeName, durability, webhooks, regions);
  }

  /** Returns the same services with another view counter, fed by a queue if there is one. */
  public Services counting(ViewCounter other, Optional<ViewQueue> from) {
    return new Services(
        quipu, () -> other, from, display, presence, storeName, durability, webhooks, regions);
  }
}
