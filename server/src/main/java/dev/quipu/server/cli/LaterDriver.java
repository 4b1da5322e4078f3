package dev.quipu.server.cli;

import dev.quipu.store.Consistency;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Page;
import dev.quipu.store.RequestToken;
import dev.quipu.store.Scan;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreException;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The store of another region, opened when it is first asked: a server starts while it is away.
 * Calls that cannot open it had no effect.
 */
final class LaterDriver implements StoreDriver {
  private final URI uri;
  private final StoreProvider provider;
  private @Nullable StoreDriver opened;

  /**
   * Does not open it yet.
   *
   * @throws IllegalArgumentException if no store has such a URI
   */
  LaterDriver(String uri) {
    this.uri = StoreUri.parse(uri);
    this.provider = StoreProvider.of(this.uri);
  }

  /**
   * The driver.
   *
   * @throws StoreException if it cannot be opened
   */
  private synchronized StoreDriver driver() {
    StoreDriver known = opened;
    if (known == null) {
      known = provider.open(uri);
      opened = known;
    }
    return known;
  }

  @Override
  public StoreProfile profile() {
    return provider.fullProfile();
  }

  @Override
  public Optional<Item> get(Key key, Consistency consistency) {
    return driver().get(key, consistency);
  }

  @Override
  public List<Optional<Item>> getAll(List<Key> keys) {
    return driver().getAll(keys);
  }

  @Override
  public WriteResult write(Write write) {
    return driver().write(write);
  }

  @Override
  public WriteResult writeAll(List<Write> writes, @Nullable RequestToken token) {
    return driver().writeAll(writes, token);
  }

  @Override
  public Page scan(Scan scan) {
    return driver().scan(scan);
  }

  @Override
  public synchronized void close() {
    if (opened != null) {
      opened.close();
    }
  }
}
