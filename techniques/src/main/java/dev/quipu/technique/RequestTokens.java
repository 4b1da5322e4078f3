package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Guarantee;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.layer.Store;
import dev.quipu.store.BatchDriver.RequestToken;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Atomicity;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.TechniqueSpec.Cost;
import dev.quipu.time.Randomness;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Counts each request exactly once, with tokens that the store remembers for minutes. Thread-safe.
 *
 * <pre>{@code
 * REQUEST TOKEN
 *
 * Problem. Each request must count exactly once. The store itself recognizes a repeated transaction
 * by its token, but only for some minutes; after that it silently applies the transaction again.
 *
 * Stored. One item holds the number. Each request that has an id has an item, which describes the
 * request and holds the time at which it was first sent. That item expires after a day.
 *
 * Protocol.
 *   1. Before anything else is sent, store the item of the request, if it does not exist.
 *   2. If it exists and describes a different request, the result is a conflict, and nothing
 *      changes.
 *   3. If the request was first sent more than 9 minutes ago, stop: the store may have forgotten
 *      its token, so that a repeat might be applied again. The outcome is UNKNOWN.
 *   4. Send a transaction of one write, which adds within the bounds, with a token that is derived
 *      from the counter and the id.
 *   5. If the outcome is unknown, go to 3. The store applies a transaction with the same token at
 *      most once.
 *   An add without an id needs no item, since no other call uses its token.
 *
 * Why it is correct. The store remembers a token for 10 minutes after its first use, and no token
 * is sent later than 9 minutes after the time in the item of its request. The minute in between
 * allows for clock differences and delayed requests.
 *
 * Crash table.
 *   | crash after     | stored            | a repeat                                      |
 *   | 1               | the item          | within 9 minutes: counts exactly once         |
 *   | 4, request lost | the item          | within 9 minutes: counts exactly once         |
 *   | 4, reply lost   | the item, the add | within 9 minutes: the store recognizes it     |
 *   | any, after      | the item, perhaps | has an unknown outcome: determine the outcome |
 *   | 9 minutes       | the add           | by other means, or use marker item instead    |
 *   After a day the item has expired, and a repeat counts again.
 *
 * Cost. An add with an id takes two round trips and two writes, one of which is a transaction: on
 * DynamoDB it costs three write units, compared with four for marker item. An add without an id
 * takes one round trip and two units.
 *
 * A rejected request may be sent again under its id for 9 minutes, and later under a new id. The
 * outcome of a request cannot be looked up; only a repeat returns it.
 *
 * Source. "Implement resource counters with Amazon DynamoDB", method 4.
 * }</pre>
 */
public final class RequestTokens extends OneItem {
  /** The requirements, guarantees and costs. */
  public static final TechniqueSpec SPEC =
      new TechniqueSpec(
          "request-token",
          "The store recognizes a repeat by its token, for minutes; later, the outcome is unknown.",
          "an add repeated under its id counts exactly once, for 9 minutes; after that its outcome"
              + " is unknown",
          Set.of(Capability.STRONG_READ, Capability.NATIVE_UPDATE, Capability.TOKEN_BATCH),
          Atomicity.ITEM,
          Set.of(
              Guarantee.AT_MOST_ONCE,
              Guarantee.IDEMPOTENT_WITHIN_WINDOW,
              Guarantee.BOUNDED,
              Guarantee.LINEARIZABLE_READ),
          new Cost(2, 2, 1),
          new Cost(1, 0, 0),
          "Implement resource counters with Amazon DynamoDB, method 4");

  /** Time after the first attempt during which a request may be repeated. */
  public static final Duration WINDOW = Duration.ofMinutes(9);

  private static final Duration KEEP = Duration.ofDays(1);
  private static final String REQUEST = "token/";
  private static final String AT = "at";
  private static final String NOBODY = "nobody";
  private static final int TOKEN_BYTES = 16;

  private final Markers requests;

  /**
   * Creates the technique on {@code store}.
   *
   * @throws IllegalArgumentException if the store lacks a capability that {@link #SPEC} requires
   */
  public RequestTokens(Store store) {
    this(store, Randomness.secure());
  }

  /** Creates the technique with the given source of randomness. */
  public RequestTokens(Store store, RandomGenerator random) {
    super(SPEC, store, random);
    this.requests = new Markers(store, REQUEST);
  }

  @Override
  public TechniqueSpec spec() {
    return SPEC;
  }

  /**
   * Adds exactly once.
   *
   * @throws QuipuException with {@link Outcome#UNKNOWN} and {@link Reason#INVALID} for a repeat
   *     later than {@link #WINDOW}
   */
  @Override
  public AddResult add(Add add) {
    items.enlist(add.counter());
    RequestId given = add.id();
    RequestId id = given == null ? RequestId.random(random) : given;
    String call = RequestId.random(random).text();
    long now = store.clock().epochMillis();
    return IdempotentRetry.answer(
        store,
        "request " + id,
        () -> given == null ? send(add, id, now, true) : sendNoted(add, id, call, now));
  }

  /** Ensures that the request is noted, and sends it. */
  private AddResult sendNoted(Add add, RequestId id, String call, long now) {
    Map<String, Field> when = Map.of(AT, new Field.Number(now));
    Optional<Instant> expiry = Optional.of(Instant.ofEpochMilli(now).plus(KEEP));
    return switch (store.write(requests.put(add, id, call, when, expiry))) {
      case WriteResult.Applied applied -> sendFirst(add, id, call, now);
      case WriteResult.ConditionFailed failed -> {
        Item noted = failed.found().orElseThrow();
        AddResult same = Markers.answer(add, noted, call);
        long at = noted.number(AT);
        yield switch (same) {
          case AddResult.Conflict conflict -> conflict;
          case AddResult.Applied own -> sendFirst(add, id, call, at);
          case AddResult.Replayed again ->
              takes(add, id, NOBODY, call)
                  ? sendFirst(add, id, call, at)
                  : send(add, id, at, false);
          case AddResult.Rejected rejected ->
              throw new IllegalStateException("noted as a cancellation");
        };
      }
    };
  }

  /**
   * Sends it as the call that returns "applied"; if it has no effect, another call may return that.
   */
  private AddResult sendFirst(Add add, RequestId id, String call, long at) {
    AddResult answer;
    try {
      answer = send(add, id, at, true);
    } catch (QuipuException e) {
      if (e.outcome() == Outcome.NOT_APPLIED) {
        takes(add, id, call, NOBODY);
      }
      throw e;
    }
    if (answer instanceof AddResult.Rejected) {
      takes(add, id, call, NOBODY);
    }
    return answer;
  }

  /** Returns whether the request passed from one call to another; false if unknown. */
  private boolean takes(Add add, RequestId id, String from, String to) {
    Write write =
        new Write.Update(
            requests.key(add.counter(), id),
            List.of(new Change.Put(Markers.CALL, new Field.Text(to))),
            new Condition.FieldIs(Markers.CALL, new Field.Text(from)));
    try {
      return store.write(write) instanceof WriteResult.Applied;
    } catch (QuipuException e) {
      return false; // then the next call returns "replayed": it still counts exactly once
    }
  }

  private AddResult send(Add add, RequestId id, long firstSentMillis, boolean isFirst) {
    Duration age = Duration.ofMillis(store.clock().epochMillis() - firstSentMillis);
    if (age.compareTo(WINDOW) > 0) {
      throw new OutcomeUnknownException(
          Reason.INVALID,
          "request %s was first sent %d minutes ago, and the store may have forgotten it; the limit is %d"
              .formatted(id, age.toMinutes(), WINDOW.toMinutes()),
          null);
    }
    Write write =
        new Write.Update(
            CounterItems.valueKey(add.counter()),
            List.of(new Change.Add(CounterItems.VALUE, add.delta())),
            CounterItems.within(add));
    return switch (store.writeAll(List.of(write), token(add.counter(), id))) {
      case WriteResult.Applied applied when isFirst ->
          new AddResult.Applied(add.delta(), OptionalLong.empty());
      case WriteResult.Applied applied -> new AddResult.Replayed(add.delta(), OptionalLong.empty());
      case WriteResult.ConditionFailed failed -> CounterItems.rejected(add, failed.found());
    };
  }

  /** Returns the token of the counter and the id: an id belongs to one counter. */
  private static RequestToken token(String counter, RequestId id) {
    byte[] digest = Key.digest((id.bits() + counter).getBytes(StandardCharsets.UTF_8));
    return new RequestToken(HexFormat.of().formatHex(digest, 0, TOKEN_BYTES));
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    throw cannotLookUp();
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    throw cannotLookUp();
  }

  private static UnsupportedOperationException cannotLookUp() {
    return new UnsupportedOperationException(
        "request-token cannot look up a request; repeat it within %d minutes instead"
            .formatted(WINDOW.toMinutes()));
  }
}
