package dev.quipu.server.resp.command;

import dev.quipu.Add;
import dev.quipu.Decimal;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldRequest.Excess;
import dev.quipu.HoldRequest.Late;
import dev.quipu.HoldResult;
import dev.quipu.Rejection;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.Transactions;
import dev.quipu.engine.CounterAccess;
import dev.quipu.engine.TransactionOperation;
import dev.quipu.server.resp.key.Amounts;
import dev.quipu.server.resp.key.Arguments;
import dev.quipu.server.resp.key.Arguments.Rejected;
import dev.quipu.server.resp.key.Kind;
import dev.quipu.server.resp.wire.DeferredCommand;
import dev.quipu.server.resp.wire.Replies;
import dev.quipu.server.resp.wire.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Commands that change several keys together, and that reserve amounts of a key. */
final class HoldCommands {
  private static final String TX_WORDS =
      "id count key delta [FLOOR n] [CEILING n] [key delta [FLOOR n] [CEILING n] ...]";
  private static final String HOLD_WORDS =
      "key delta ID id TTL ms [FLOOR n] [CEILING n] [LATE APPLY] [EXCESS ALLOW]";
  private static final String HOLD_SYNTAX = Arguments.SYNTAX + "; use QUIPU.HOLD " + HOLD_WORDS;
  private static final String TTL_INVALID =
      "ERR milliseconds is not an integer; it must be from %d to %d"
          .formatted(HoldRequest.TTL_MIN.toMillis(), HoldRequest.TTL_MAX.toMillis());
  private static final String STATE =
      "Returns its state, its expiry, whether it was late and whether it was replayed.";

  private static final String RETURNED = "; everything was returned";
  private static final String NOT_LATE =
      "; only a hold with LATE APPLY, whose counters exist, can be settled after its expiry. Add"
          + " what was used";

  private static final Reply CONFLICT =
      new Reply.Failure("CONFLICT this id was first used for other adds, or for a hold");

  private static final Map<HoldReading.State, Reply> STATES =
      new EnumMap<>(HoldReading.State.class);

  static {
    for (HoldReading.State state : HoldReading.State.values()) {
      STATES.put(state, Reply.bulk(state.name().toLowerCase(Locale.ROOT)));
    }
  }

  private HoldCommands() {}

  static List<RespCommand> all() {
    return List.of(
        RespCommand.of("quipu.tx", TX_WORDS)
            .summary(
                "Adds to all keys or to none, exactly once per id. Returns the value and the delta"
                    + " of each, and whether it was replayed.")
            .noKeys()
            .writesOnEngine((session, words) -> commit(words)),
        RespCommand.of("quipu.hold", HOLD_WORDS)
            .summary("Reserves an amount of a key. " + STATE)
            .writesOnEngine((session, words) -> place(words)),
        RespCommand.of("quipu.settle", "id delta")
            .summary("Keeps what was used of a hold, and returns the rest. " + STATE)
            .noKeys()
            .writesOnEngine((session, words) -> {
              Settlement kept = Settlement.each(Amounts.amount(words, 2, "delta"));
              return onHold(
                  TransactionOperation.settle(CounterCommands.id(words, 1), kept), NOT_LATE);
            }),
        RespCommand.of("quipu.release", "id")
            .summary("Returns everything that a hold reserved. " + STATE)
            .noKeys()
            .writesOnEngine((session, words) ->
                onHold(TransactionOperation.release(CounterCommands.id(words, 1)), RETURNED)),
        RespCommand.of("quipu.extend", "id milliseconds")
            .summary("Sets the expiry of an open hold to this time from now. " + STATE)
            .noKeys()
            .writesOnEngine((session, words) -> {
              Duration ttl = ttl(words, 2);
              return onHold(
                  TransactionOperation.extend(CounterCommands.id(words, 1), ttl), RETURNED);
            }),
        RespCommand.of("quipu.holdinfo", "id")
            .summary("Returns the state, the expiry and the keys of a hold.")
            .noKeys()
            .readsOnEngine((session, words) ->
                new Call<>(
                    TransactionOperation.find(CounterCommands.id(words, 1)),
                    found -> found.map(HoldCommands::info).orElse(Replies.NULL))));
  }

  /**
   * A command that runs an operation.
   *
   * @param reply must not throw, since a call that is rejected may have ended an expired hold
   */
  private record Call<T>(TransactionOperation<T> operation, Function<T, Reply> reply)
      implements DeferredCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      return operation.bytesMax(counters);
    }

    @Override
    public void touch(CounterAccess counters) {
      operation.touch(counters);
    }

    @Override
    public Reply run(CounterAccess counters) {
      operation.on(counters);
      return reply.apply(operation.result());
    }
  }

  /** A call that adds to keys, which must not hold anything else than a counter. */
  private record Adding(DeferredCommand call, RequestId id, List<Add> adds)
      implements DeferredCommand {
    @Override
    public int bytesMax(CounterAccess counters) {
      return call.bytesMax(counters);
    }

    @Override
    public void touch(CounterAccess counters) {
      call.touch(counters);
    }

    @Override
    public Reply run(CounterAccess counters) {
      for (Add add : adds) {
        if (!Kind.mayBeNumber(counters, add.counter()) && !isKnown(counters)) {
          Kind.requireNumber(counters, add.counter());
        }
      }
      return call.run(counters);
    }

    /**
     * Returns whether the id was used before: then its first answer does not depend on the keys.
     */
    private boolean isKnown(CounterAccess counters) {
      TransactionOperation<TransactionOutcome> outcome = TransactionOperation.outcome(id);
      outcome.on(counters);
      return !(outcome.result() instanceof TransactionOutcome.NotSeen);
    }
  }

  // ---- transactions

  private static DeferredCommand commit(Arguments words) {
    RequestId id = CounterCommands.id(words, 1);
    List<Add> adds = new ArrayList<>();
    long count = words.number(2);
    if (count < 1 || count > Transactions.COUNTERS_MAX) {
      throw new Rejected(
          "ERR count is %d; it must be from 1 to %d".formatted(count, Transactions.COUNTERS_MAX));
    }
    int at = 3;
    while (at < words.size() || adds.size() < count) {
      if (at + 1 >= words.size() || adds.size() == count) {
        throw new Rejected(Arguments.SYNTAX + "; use QUIPU.TX " + TX_WORDS);
      }
      String key = words.sharedKey(at);
      Decimal delta = Amounts.amount(words, at + 1, "delta");
      Decimal floor = null;
      Decimal ceiling = null;
      at += 2;
      while (at + 1 < words.size() && isBound(words.word(at))) {
        if (words.word(at).equals("FLOOR")) {
          floor = onlyAmount(floor, words, at);
        } else {
          ceiling = onlyAmount(ceiling, words, at);
        }
        at += 2;
      }
      adds.add(Add.of(key, delta, floor, ceiling, null));
    }
    return new Adding(
        new Call<>(TransactionOperation.commit(id, adds), HoldCommands::committed), id, adds);
  }

  /** Returns the amount after a word that must not occur twice. */
  private static Decimal onlyAmount(@Nullable Decimal before, Arguments words, int at) {
    if (before != null) {
      throw new Rejected("%s: %s occurs twice".formatted(Arguments.SYNTAX, words.word(at)));
    }
    return Amounts.amount(words, at + 1, words.word(at));
  }

  private static boolean isBound(String word) {
    return word.equals("FLOOR") || word.equals("CEILING");
  }

  private static Reply committed(TransactionResult result) {
    return switch (result) {
      case TransactionResult.Applied applied ->
          new Reply.Several(List.of(added(applied.adds()), Reply.of(applied.isReplayed())));
      case TransactionResult.Rejected rejected ->
          rejected(rejected.counter(), rejected.why(), rejected.valueIfKnown(), rejected.scale());
      case TransactionResult.Conflict conflict -> CONFLICT;
    };
  }

  private static Reply added(List<TransactionResult.Added> adds) {
    return new Reply.Several(
        adds.stream()
            .<Reply>map(each ->
                new Reply.Several(
                    List.of(
                        Amounts.reply(each.value(), each.scale()),
                        Amounts.reply(each.added(), each.scale()))))
            .toList());
  }

  private static Reply rejected(String key, Rejection why, OptionalLong value, int scale) {
    String text = CounterCommands.rejection(why, value, scale);
    return new Reply.Failure(key.isEmpty() ? text : text + ", of key " + key);
  }

  /** Returns the reply of QUIPU.OUTCOME or QUIPU.CANCEL without a key. */
  static Reply outcome(CounterAccess counters, TransactionOperation<TransactionOutcome> operation) {
    operation.on(counters);
    return switch (operation.result()) {
      case TransactionOutcome.Applied applied ->
          new Reply.Several(List.of(Reply.bulk("applied"), added(applied.adds())));
      case TransactionOutcome.Held held ->
          new Reply.Several(List.of(Reply.bulk("held"), state(held.hold().state())));
      case TransactionOutcome.NotSeen unseen -> new Reply.Several(List.of(Reply.bulk("not-seen")));
      case TransactionOutcome.Canceled canceled ->
          new Reply.Several(List.of(Reply.bulk("canceled")));
    };
  }

  // ---- holds

  private static DeferredCommand place(Arguments words) {
    if (!words.word(3).equals("ID") || !words.word(5).equals("TTL") || words.size() % 2 == 0) {
      throw new Rejected(HOLD_SYNTAX);
    }
    Decimal floor = null;
    Decimal ceiling = null;
    Late late = Late.REJECT;
    Excess excess = Excess.REJECT;
    for (int i = 7; i < words.size(); i += 2) {
      switch (words.word(i)) {
        case "FLOOR" -> floor = onlyAmount(floor, words, i);
        case "CEILING" -> ceiling = onlyAmount(ceiling, words, i);
        case "LATE" -> late = policy(Late.class, words.word(i + 1));
        case "EXCESS" -> excess = policy(Excess.class, words.word(i + 1));
        default -> throw new Rejected(HOLD_SYNTAX);
      }
    }
    RequestId id = CounterCommands.id(words, 4);
    Add add = Add.of(words.sharedKey(1), Amounts.amount(words, 2, "delta"), floor, ceiling, null);
    HoldRequest request = new HoldRequest(id, List.of(add), ttl(words, 6), late, excess);
    return new Adding(onHold(TransactionOperation.place(request), ""), id, request.adds());
  }

  private static <E extends Enum<E>> E policy(Class<E> type, String word) {
    for (E each : type.getEnumConstants()) {
      if (each.name().equals(word)) {
        return each;
      }
    }
    throw new Rejected(HOLD_SYNTAX);
  }

  private static Duration ttl(Arguments words, int index) {
    return HoldRequest.checkTtl(Duration.ofMillis(words.number(index, TTL_INVALID)));
  }

  /**
   * Returns a call about a hold.
   *
   * @param whyExpired what it means for the call that the hold has expired
   */
  private static DeferredCommand onHold(
      TransactionOperation<HoldResult> operation, String whyExpired) {
    return new Call<>(operation, result -> reply(result, whyExpired));
  }

  private static Reply reply(HoldResult result, String whyExpired) {
    return switch (result) {
      case HoldResult.Done done ->
          new Reply.Several(
              List.of(
                  state(done.hold().state()),
                  new Reply.Number(done.hold().expires().toEpochMilli()),
                  Reply.of(done.hold().isLate()),
                  Reply.of(done.isReplayed())));
      case HoldResult.Rejected rejected ->
          rejected(rejected.counter(), rejected.why(), rejected.valueIfKnown(), rejected.scale());
      case HoldResult.Exceeded exceeded ->
          new Reply.Failure(
              "EXCEEDED %s; EXCESS ALLOW of QUIPU.HOLD permits that"
                  .formatted(result.explanation()));
      case HoldResult.Closed closed ->
          new Reply.Failure(
              "CLOSED hold %s%s"
                  .formatted(
                      closed.hold().explanation(),
                      closed.hold().state() == HoldReading.State.EXPIRED ? whyExpired : ""));
      case HoldResult.NotFound notFound -> new Reply.Failure("NOHOLD " + result.explanation());
      case HoldResult.Conflict conflict -> new Reply.Failure("CONFLICT " + result.explanation());
    };
  }

  private static Reply state(HoldReading.State state) {
    return Objects.requireNonNull(STATES.get(state));
  }

  private static Reply info(HoldReading hold) {
    List<Reply> keys = new ArrayList<>();
    for (HoldReading.Part part : hold.counters()) {
      List<Reply> facts = new ArrayList<>();
      fact(facts, "key", Reply.bulk(part.counter()));
      fact(facts, "delta", Amounts.reply(part.delta(), part.scale()));
      part.settled().ifPresent(kept -> fact(facts, "settled", Amounts.reply(kept, part.scale())));
      keys.add(new Reply.Pairs(facts));
    }
    List<Reply> facts = new ArrayList<>();
    fact(facts, "state", state(hold.state()));
    fact(facts, "expires-at-ms", new Reply.Number(hold.expires().toEpochMilli()));
    fact(facts, "late", Reply.of(hold.isLate()));
    fact(facts, "keys", new Reply.Several(keys));
    return new Reply.Pairs(facts);
  }

  private static void fact(List<Reply> facts, String name, Reply value) {
    facts.add(Reply.bulk(name));
    facts.add(value);
  }
}
