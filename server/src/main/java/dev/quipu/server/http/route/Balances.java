package dev.quipu.server.http.route;

import dev.quipu.Holds;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What is held of counters, if the store supports holds. Thread-safe. */
final class Balances {
  private final Supplier<Holds> service;
  private volatile @Nullable Holds holds;
  private volatile boolean areUnsupported;

  /**
   * Creates balances.
   *
   * @param service throws if holds are not supported
   */
  Balances(Supplier<Holds> service) {
    this.service = service;
  }

  /** Returns the balance of a counter; empty if it does not exist, or holds are not supported. */
  Optional<Holds.Balance> of(String counter) {
    Holds known = holds;
    if (known == null && !areUnsupported) {
      try {
        known = service.get();
        holds = known;
      } catch (UnsupportedOperationException e) {
        areUnsupported = true;
      }
    }
    return known == null ? Optional.empty() : known.balance(counter);
  }
}
