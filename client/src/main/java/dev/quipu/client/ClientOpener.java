package dev.quipu.client;

import dev.quipu.Counters;
import dev.quipu.Holds;
import dev.quipu.Quipu;
import dev.quipu.Transactions;
import java.util.Optional;

/** Opens a client of a server, for {@link Quipu#connect} and {@link Quipu.Builder#server}. */
public final class ClientOpener implements Quipu.Opener {
  /** For {@link java.util.ServiceLoader}. */
  public ClientOpener() {}

  @Override
  public Optional<Quipu.Backend> open(Quipu.Settings settings) {
    return settings
        .server()
        .map(server -> {
          if (settings.technique().isPresent() || settings.requestIdRetention().isPresent()) {
            throw new IllegalArgumentException(
                "technique and requestIdRetention are settings of the server; remove them");
          }
          ServerCalls calls = new ServerCalls(ClientOptions.of(server));
          return new Remote(
              new RemoteCounters(calls), new RemoteTransactions(calls), new RemoteHolds(calls));
        });
  }

  /** The counters of a server, with transactions and holds, and no other part. */
  private record Remote(RemoteCounters remote, Transactions transactions, Holds holds)
      implements Quipu.Backend {
    @Override
    public Counters counters() {
      return remote;
    }

    @Override
    public <T> T part(Class<T> type) {
      if (type == Transactions.class) {
        return type.cast(transactions);
      }
      if (type == Holds.class) {
        return type.cast(holds);
      }
      throw new UnsupportedOperationException(
          "a client of a server has counters, Transactions and Holds, not %s; use the HTTP routes of the server"
              .formatted(type.getSimpleName()));
    }

    @Override
    public boolean isRegional() {
      return false;
    }

    @Override
    public void close() {
      remote.close();
    }
  }
}
