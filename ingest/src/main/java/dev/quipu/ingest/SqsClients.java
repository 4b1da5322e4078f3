package dev.quipu.ingest;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.SqsClientBuilder;

/** Creates clients for SQS, by the URL of a queue. */
public final class SqsClients {
  private static final Pattern AWS = Pattern.compile("sqs[.]([a-z0-9-]+)[.]amazonaws[.]com.*");
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER =
      SqsOptions.WAIT_MAX.plusSeconds(10); // long polling waits first

  private SqsClients() {}

  /**
   * Returns a client for this queue, of AWS, whose host contains the region, or of a compatible
   * server. The AWS SDK finds the credentials.
   *
   * @param connections maximum number of concurrent connections
   * @throws IllegalArgumentException if the URL is invalid
   */
  public static SqsClient of(URI queue, int connections) {
    String host = queue.getHost();
    boolean web = "http".equals(queue.getScheme()) || "https".equals(queue.getScheme());
    if (!web || host == null || queue.getPath().length() < 2) {
      throw new IllegalArgumentException(
          "the URL of the queue is incomplete; it must be like"
              + " https://sqs.REGION.amazonaws.com/ACCOUNT/NAME, with http or https, a host and a path");
    }
    SqsClientBuilder builder =
        SqsClient.builder()
            .httpClientBuilder(
                Apache5HttpClient.builder()
                    .maxConnections(connections)
                    .connectionTimeout(CONNECT)
                    .socketTimeout(ANSWER))
            .overrideConfiguration(
                each -> each.retryStrategy(AwsRetryStrategy.doNotRetry()).apiCallTimeout(ANSWER));
    Matcher aws = AWS.matcher(host);
    if (aws.matches()) {
      return builder.region(Region.of(aws.group(1))).build();
    }
    String region = Optional.ofNullable(System.getenv("AWS_REGION")).orElse("us-east-1");
    URI endpoint = URI.create(queue.getScheme() + "://" + queue.getAuthority());
    return builder.region(Region.of(region)).endpointOverride(endpoint).build();
  }
}
