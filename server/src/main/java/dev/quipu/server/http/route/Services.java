package dev.quipu.server.http.route;

import dev.quipu.Quipu;
import dev.quipu.display.DisplayCounters;
import dev.quipu.ingest.ViewQueue;
import dev.quipu.presence.Presence;
import dev.quipu.view.ViewCounter;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What a server serves. In one of several regions, what {@link Quipu} rejects there is rejected
 * when it is asked for.
 *
 * @param queue where views go before they are counted; empty to count them at once
 * @param storeName what {@code /readyz} calls the store
 */
public record Services(
    Quipu quipu,
    Supplier<ViewCounter> views,
    Optional<ViewQueue> queue,
    DisplayCounters display,
    Supplier<Presence> presence,
    String storeName) {
  /** All on one store, without a cache and a queue. */
  public static Services of(Quipu quipu, String storeName) {
    Services all =
        new Services(
            quipu,
            () -> quipu.part(ViewCounter.class),
            Optional.empty(),
            quipu.part(DisplayCounters.class),
            () -> quipu.part(Presence.class),
            storeName);
    return quipu.isRegional() ? all : all.with(quipu.part(Presence.class));
  }

  /** The same with other counters to be shown. */
  public Services showing(DisplayCounters other) {
    return new Services(quipu, views, queue, other, presence, storeName);
  }

  /** The same with another count of who is online. */
  public Services with(Presence other) {
    return new Services(quipu, views, queue, display, () -> other, storeName);
  }

  /** The same with views counted by another counter, and out of a queue if there is one. */
  public Services counting(ViewCounter other, Optional<ViewQueue> from) {
    return new Services(quipu, () -> other, from, display, presence, storeName);
  }
}
