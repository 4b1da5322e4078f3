package dev.quipu.presence;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.layer.Store;
import java.time.Instant;
import java.util.Optional;

/**
 * Counts online sessions in the numbers of {@link OnlineRing}; the time of the last counted hit is
 * in the session of the visitor, as a signed token, and not in the store. Thread-safe.
 *
 * <p>A session without a token is new, so it is counted again if it lost its token.
 */
public final class OnlineSessions implements Presence {
  private final OnlineRing ring;
  private final RingNumbers numbers;
  private final SessionTokens tokens;

  /** Creates a counter whose numbers are those of a ring on this store with this window. */
  public OnlineSessions(Store store, Window window, SessionTokens tokens) {
    this.ring = new OnlineRing(store, window);
    this.numbers = new RingNumbers(store, window);
    this.tokens = tokens;
  }

  /** Counts a client whose mark is in the store, in the same numbers. */
  @Override
  public void seen(String room, String client) {
    ring.seen(room, client);
  }

  /**
   * Counts a hit, unless the session was counted within the window.
   *
   * @throws IllegalArgumentException if the token is malformed, was changed, is for another room or
   *     window, or is from the future by more than half a bucket: by more than clocks may differ
   */
  @Override
  public Hit seenInSession(String room, Optional<String> token) {
    String name = numbers.ring(room);
    Instant now = numbers.now();
    Window window = numbers.window();
    long bucket = window.bucket(now);
    if (token.isPresent()) {
      Instant counted = tokens.time(name, token.get());
      if (counted.isAfter(now.plus(window.resolution().dividedBy(2)))) {
        throw new IllegalArgumentException(
            "the session token is from the future: %s; set the clocks of the servers"
                .formatted(counted));
      }
      if (bucket < window.bucket(counted) + window.buckets()) {
        return new Hit(false, token.get());
      }
    }
    count(name, bucket);
    return new Hit(true, tokens.issue(name, now));
  }

  /** Counts at most once; a count that may be missing is an uncertainty. */
  private void count(String name, long bucket) {
    if (numbers.isLate(bucket)) {
      numbers.countUncertainty(name, bucket);
      return;
    }
    try {
      numbers.count(name, bucket);
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        throw e;
      }
      numbers.countUncertainty(name, bucket);
    }
  }

  @Override
  public Online online(String room) {
    return numbers.online(room);
  }
}
