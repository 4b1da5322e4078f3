package dev.quipu.store;

import dev.quipu.QuipuException;
import java.net.URI;
import java.util.List;
import java.util.ServiceLoader;

/**
 * Opens a driver by URI. A store's module provides one as a service, so that {@link #open(String)}
 * finds every store on the class path.
 */
public interface StoreProvider {
  /** The schemes of its URIs, in lower case; the first is the store's name. */
  List<String> schemes();

  /** How its URIs look, with every parameter. */
  String usage();

  /** What the store can do when it is set up for the most. */
  StoreProfile fullProfile();

  /** What opening one does and does not create, and what an administrator runs instead. */
  String schema(URI uri);

  /**
   * Opens a client and a driver on it; closing the driver closes both.
   *
   * @throws IllegalArgumentException if the URI is not as {@link #usage} says
   * @throws QuipuException if the store cannot be used
   */
  StoreDriver open(URI uri);

  /** All that are on the class path. */
  static List<StoreProvider> all() {
    return ServiceLoader.load(StoreProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  /**
   * The provider for a URI.
   *
   * @throws IllegalArgumentException if there is none, naming those that there are
   */
  static StoreProvider of(URI uri) {
    String scheme = String.valueOf(uri.getScheme());
    return all().stream()
        .filter(provider -> provider.schemes().contains(scheme))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "no store has the scheme '%s'; there are %s"
                    .formatted(
                        scheme, all().stream().flatMap(p -> p.schemes().stream()).toList())));
  }

  /** Opens the store that a URI names. */
  static StoreDriver open(String uri) {
    URI parsed = StoreUri.parse(uri);
    return of(parsed).open(parsed);
  }
}
