package dev.quipu.server.http;

import dev.quipu.Quipu;
import dev.quipu.display.DisplayCounters;
import dev.quipu.presence.Presence;

/**
 * What a server serves.
 *
 * @param storeName what {@code /readyz} calls the store
 */
public record Services(Quipu quipu, DisplayCounters display, Presence presence, String storeName) {
  /** All on one store, without a cache. */
  public static Services of(Quipu quipu, String storeName) {
    return new Services(quipu, quipu.display(), quipu.presence(), storeName);
  }
}
