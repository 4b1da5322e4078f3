package dev.quipu.store;

import dev.quipu.QuipuException;
import java.net.URI;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * Opens drivers by URI. A store's module provides one as a service, so that {@link #open(String)}
 * finds every store on the class path.
 */
public interface StoreProvider {
  /** Returns the URI schemes, in lower case; the first is the name of the store. */
  List<String> schemes();

  /** Returns the URI syntax with all parameters. */
  String usage();

  /** Returns the profile of the store when it is fully configured. */
  StoreProfile fullProfile();

  /**
   * Describes what opening the store creates, and which statements an administrator runs for the
   * rest.
   */
  String schema(URI uri);

  /**
   * Opens a client and a driver on it; closing the driver closes both.
   *
   * @throws IllegalArgumentException if the URI does not match {@link #usage}
   * @throws QuipuException if the store cannot be used
   */
  StoreDriver open(URI uri);

  /** Returns all providers on the class path. */
  static List<StoreProvider> all() {
    return ServiceLoader.load(StoreProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }

  /**
   * Returns the provider for a URI.
   *
   * @throws IllegalArgumentException if there is none, listing the available schemes
   */
  static StoreProvider of(URI uri) {
    String scheme = uri.getScheme();
    return all().stream()
        .filter(provider -> scheme != null && provider.schemes().contains(scheme))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "%s; available: %s"
                    .formatted(
                        scheme == null
                            ? "the store's URI has no scheme"
                            : "unknown store scheme '%s'".formatted(scheme),
                        all().stream()
                            .flatMap(each -> each.schemes().stream())
                            .collect(Collectors.joining(", ")))));
  }

  /** Opens the store that a URI names. */
  static StoreDriver open(String uri) {
    URI parsed = StoreUri.parse(uri);
    return of(parsed).open(parsed);
  }
}
