package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.HoldReading;
import dev.quipu.HoldRequest;
import dev.quipu.HoldResult;
import dev.quipu.Holds;
import dev.quipu.RequestId;
import dev.quipu.Settlement;
import dev.quipu.TransactionOutcome;
import dev.quipu.TransactionResult;
import dev.quipu.Transactions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Transactions and holds on the counters of an engine. */
record EngineTransactions(Engine engine) implements Transactions, Holds {
  private <T> T run(TransactionOperation<T> operation) {
    engine.run(List.of(operation));
    return operation.result();
  }

  @Override
  public TransactionResult commit(RequestId id, List<Add> adds) {
    return run(TransactionOperation.commit(id, adds));
  }

  @Override
  public TransactionOutcome outcome(RequestId id) {
    return run(TransactionOperation.outcome(id));
  }

  @Override
  public TransactionOutcome cancel(RequestId id) {
    return run(TransactionOperation.cancel(id));
  }

  @Override
  public HoldResult place(HoldRequest request) {
    return run(TransactionOperation.place(request));
  }

  @Override
  public HoldResult settle(RequestId id, Settlement settlement) {
    return run(TransactionOperation.settle(id, settlement));
  }

  @Override
  public HoldResult release(RequestId id) {
    return run(TransactionOperation.release(id));
  }

  @Override
  public HoldResult extend(RequestId id, Duration ttl) {
    return run(TransactionOperation.extend(id, ttl));
  }

  @Override
  public Optional<HoldReading> find(RequestId id) {
    return run(TransactionOperation.find(id));
  }

  @Override
  public List<HoldReading> list(String counter, @Nullable RequestId after, int limit) {
    return run(TransactionOperation.list(counter, after, limit));
  }

  @Override
  public Optional<Balance> balance(String counter) {
    return run(TransactionOperation.balance(counter));
  }
}
