package dev.quipu.dynamodb;

import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProfile;
import dev.quipu.store.StoreProvider;
import dev.quipu.store.StoreUri;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClientBuilder;

/** Opens {@code dynamodb://REGION/TABLE}. */
public final class DynamoDbProvider implements StoreProvider {
  private static final int CONNECTIONS = 64;
  private static final int CONNECTIONS_MAX = 10_000;

  /** Creates the provider; for the service loader. */
  public DynamoDbProvider() {}

  @Override
  public List<String> schemes() {
    return List.of("dynamodb");
  }

  @Override
  public String usage() {
    return "dynamodb://REGION/TABLE?endpoint=URL&connections=64&layout=quipu&combine=on; default"
        + " credentials of the AWS SDK, or KEY:SECRET@REGION; layout=views for a table with PK URL#ADDRESS and"
        + " SK STATISTICS";
  }

  @Override
  public StoreProfile fullProfile() {
    return DynamoDbDriver.PROFILE;
  }

  private static StoreUri parse(URI uri) {
    return new StoreUri(
        uri, 443, Set.of("endpoint", "connections", "layout", StoreUri.COMBINE_NAME));
  }

  private static Table table(StoreUri uri) {
    return new Table(
        uri.path().isEmpty() ? Table.NAME : uri.path(),
        uri.parameter("layout").map(Layout::named).orElse(Layout.QUIPU));
  }

  @Override
  public String schema(URI uri) {
    StoreUri parsed = parse(uri);
    return table(parsed).commands(parsed.host().name());
  }

  @Override
  public StoreDriver open(URI uri) {
    StoreUri parsed = parse(uri);
    Table table = table(parsed); // reports a wrong name before connecting
    Duration timeout = parsed.timeout();
    DynamoDbDriver.Combining combining = new DynamoDbDriver.Combining(parsed.combines(), timeout);
    SdkHttpClient http =
        Apache5HttpClient.builder()
            .maxConnections(parsed.parameter("connections", CONNECTIONS, 1, CONNECTIONS_MAX))
            .connectionTimeout(timeout)
            .connectionAcquisitionTimeout(timeout)
            .socketTimeout(timeout)
            .build();
    DynamoDbClientBuilder builder =
        DynamoDbClient.builder()
            .region(Region.of(parsed.host().name()))
            .httpClient(http)
            .overrideConfiguration(
                each -> each.retryStrategy(AwsRetryStrategy.doNotRetry()).apiCallTimeout(timeout));
    parsed.parameter("endpoint").map(URI::create).ifPresent(builder::endpointOverride);
    if (parsed.user().isPresent()) {
      builder.credentialsProvider(
          StaticCredentialsProvider.create(
              AwsBasicCredentials.create(parsed.user().get(), parsed.password().orElse(""))));
    }
    DynamoDbClient client = builder.build();
    Runnable close =
        () -> {
          client.close();
          http.close();
        };
    try {
      return DynamoDbDriver.open(client, table, null, combining, close);
    } catch (RuntimeException e) {
      close.run();
      throw e;
    }
  }
}
