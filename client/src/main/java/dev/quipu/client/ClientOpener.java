package dev.quipu.client;

import dev.quipu.Counters;
import dev.quipu.Quipu;
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
          return new Remote(new RemoteCounters(calls));
        });
  }

  /** The counters of a server, which has no other part. */
  private record Remote(RemoteCounters remote) implements Quipu.Backend {
    @Override
    public Counters counters() {
      return remote;
    }

    @Override
    public <T> T part(Class<T> type) {
      throw new UnsupportedOperationException(
          "a client of a server has counters only, not %s; use the HTTP routes of the server"
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
