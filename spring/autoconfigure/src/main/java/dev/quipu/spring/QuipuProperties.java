package dev.quipu.spring;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Where and how to count. Exactly one of {@code directory}, {@code store} and {@code server} is
 * set.
 *
 * @param directory Directory of the embedded engine, which is created if needed. Only one process
 *     at a time can use it.
 * @param store URI of the store, such as redis://127.0.0.1 or postgresql://user@127.0.0.1/db. The
 *     module of the store must be on the class path.
 * @param server URIs of Quipu servers that share a store, such as http://127.0.0.1:7080. If one
 *     fails, the next one is used.
 * @param token Bearer token that is sent to the server.
 * @param trustedCertificates File with certificates in PEM. Servers with these certificates, or
 *     certificates issued by them, are trusted, and no others.
 * @param timeout Deadline of each call to the server, with all of its retries, from 1 ms to 1 day;
 *     10 s by default.
 * @param technique Technique that counts on the store; by default, the one with the strongest
 *     guarantees there.
 * @param requestIdRetention How long request ids are kept, from 1 s to 366 days: an add repeated
 *     within this time counts exactly once. By default, 24 hours on the embedded engine, and
 *     forever on a store.
 */
@ConfigurationProperties("quipu")
public record QuipuProperties(
    @Nullable String directory,
    @Nullable String store,
    @DefaultValue List<URI> server,
    @Nullable String token,
    @Nullable String trustedCertificates,
    @Nullable Duration timeout,
    @Nullable String technique,
    @Nullable Duration requestIdRetention) {

  /** Copies the list. */
  public QuipuProperties {
    server = List.copyOf(server);
  }

  /** Returns which of directory, store and server are set, as names of properties. */
  List<String> places() {
    return Stream.of(
            directory == null ? "" : "quipu.directory",
            store == null ? "" : "quipu.store",
            server.isEmpty() ? "" : "quipu.server")
        .filter(name -> !name.isEmpty())
        .toList();
  }

  /** Returns only where is counted: the token, and passwords in URIs, are secret. */
  @Override
  public String toString() {
    return "QuipuProperties" + places();
  }
}
