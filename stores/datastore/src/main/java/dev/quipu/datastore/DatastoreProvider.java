package dev.quipu.datastore;

import com.google.api.client.http.apache.v2.ApacheHttpTransport;
import com.google.cloud.NoCredentials;
import com.google.cloud.ServiceOptions;
import com.google.cloud.datastore.Datastore;
import com.google.cloud.datastore.DatastoreOptions;
import com.google.cloud.http.HttpTransportOptions;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Opens {@code datastore://PROJECT/KIND}. */
public final class DatastoreProvider implements StoreProvider {
  private static final String KIND = "Quipu";
  private static final String EMULATOR = "DATASTORE_EMULATOR_HOST";

  /** Creates the provider; for the service loader. */
  public DatastoreProvider() {}

  @Override
  public List<String> schemes() {
    return List.of("datastore");
  }

  @Override
  public String usage() {
    return "datastore://PROJECT/KIND?namespace=NAME&database=ID&endpoint=URL&connections=64&combine=on;"
        + " default credentials of Google's client; none for an emulator, set by endpoint or "
        + EMULATOR;
  }

  @Override
  public StoreProfile fullProfile() {
    return DatastoreDriver.PROFILE;
  }

  private static StoreUri parse(URI uri) {
    return new StoreUri(
        uri,
        443,
        Set.of("namespace", "database", "endpoint", "connections", StoreUri.COMBINE_NAME));
  }

  private static String kind(StoreUri uri) {
    String kind = uri.path().isEmpty() ? KIND : uri.path();
    if (!kind.matches("[A-Za-z][A-Za-z0-9_]{0,99}")) {
      throw new IllegalArgumentException(
          "the kind in the store's URI is '%s'; it must be 1 to 100 letters, digits and '_'"
              .formatted(kind));
    }
    return kind;
  }

  @Override
  public String schema(URI uri) {
    return "# Nothing is created: kind %s of project %s needs only the built-in indexes.%n"
        .formatted(kind(parse(uri)), parse(uri).host().name());
  }

  @Override
  public StoreDriver open(URI uri) {
    StoreUri parsed = parse(uri);
    Optional<Duration> waitMax =
        parsed.combines() ? Optional.of(parsed.timeout()) : Optional.empty();
    int timeoutMillis = (int) parsed.timeout().toMillis();
    int connections = parsed.parameter("connections", 64, 1, 1_000);
    // Unlike the JDK's HTTP client, this one never resends a request.
    ApacheHttpTransport transport =
        new ApacheHttpTransport(
            ApacheHttpTransport.newDefaultHttpClientBuilder()
                .setMaxConnTotal(connections)
                .setMaxConnPerRoute(connections)
                .build());
    DatastoreOptions.Builder options =
        DatastoreOptions.newBuilder()
            .setProjectId(parsed.host().name())
            .setRetrySettings(ServiceOptions.getNoRetrySettings())
            .setTransportOptions(
                HttpTransportOptions.newBuilder()
                    .setHttpTransportFactory(() -> transport)
                    .setConnectTimeout(timeoutMillis)
                    .setReadTimeout(timeoutMillis)
                    .build());
    parsed.parameter("namespace").ifPresent(options::setNamespace);
    parsed.parameter("database").ifPresent(options::setDatabaseId);
    emulator(parsed)
        .ifPresent(url -> options.setHost(url).setCredentials(NoCredentials.getInstance()));
    String kind = kind(parsed);
    Datastore datastore = options.build().getService();
    return DatastoreDriver.open(datastore, kind, waitMax, () -> close(transport));
  }

  private static Optional<String> emulator(StoreUri uri) {
    return uri.parameter("endpoint")
        .or(() -> Optional.ofNullable(System.getenv(EMULATOR)).map(host -> "http://" + host));
  }

  private static void close(ApacheHttpTransport transport) {
    try {
      transport.shutdown();
    } catch (IOException e) {
      throw new UncheckedIOException("Datastore: cannot close the client", e);
    }
  }
}
