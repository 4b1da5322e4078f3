package dev.quipu.server.archive;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Objects with a common prefix in a bucket of S3, or of a compatible server, named by {@code
 * s3://BUCKET/PREFIX?region=…&endpoint=…}. The AWS SDK finds the credentials.
 */
final class Bucket implements AutoCloseable {
  /** The scheme of its URI. */
  static final String SCHEME = "s3://";

  private static final Duration CONNECT = Duration.ofSeconds(5);

  /** Of one request, with up to 64 MiB. */
  private static final Duration ANSWER = Duration.ofMinutes(2);

  private final String shown;
  private final String bucket;
  private final String prefix;
  private final S3Client client;

  private Bucket(String shown, String bucket, String prefix, S3Client client) {
    this.shown = shown;
    this.bucket = bucket;
    this.prefix = prefix;
    this.client = client;
  }

  /**
   * Opens a bucket; sends nothing yet.
   *
   * @throws IllegalArgumentException if the URI is malformed
   */
  static Bucket of(String text) {
    try {
      URI uri = new URI(text);
      Map<String, String> options = options(uri.getRawQuery());
      String bucket = uri.getRawAuthority();
      if (bucket == null || !bucket.matches("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")) {
        throw malformed(text, "name a bucket");
      }
      String path = uri.getPath();
      String prefix = path == null || path.length() < 2 ? "" : path.substring(1);
      if (!prefix.isEmpty() && !prefix.endsWith("/")) {
        prefix += "/";
      }
      return new Bucket("s3://" + bucket + "/" + prefix, bucket, prefix, client(text, options));
    } catch (URISyntaxException e) {
      throw malformed(text, e.getReason());
    }
  }

  private static IllegalArgumentException malformed(String text, String why) {
    return new IllegalArgumentException(
        "'%s' is not the URI of a bucket, like s3://BUCKET/PREFIX?region=eu-west-1: %s"
            .formatted(text, why));
  }

  private static Map<String, String> options(@Nullable String query) {
    Map<String, String> options = new HashMap<>();
    for (String each : query == null ? new String[0] : query.split("&", -1)) {
      String[] pair = each.split("=", 2);
      if (pair.length < 2 || !(pair[0].equals("region") || pair[0].equals("endpoint"))) {
        throw new IllegalArgumentException(
            "the URI of a bucket has the parameter '%s'; region and endpoint are known"
                .formatted(each));
      }
      options.put(pair[0], pair[1]);
    }
    return options;
  }

  private static S3Client client(String text, Map<String, String> options) {
    S3ClientBuilder builder =
        S3Client.builder()
            .httpClientBuilder(
                Apache5HttpClient.builder().connectionTimeout(CONNECT).socketTimeout(ANSWER))
            // Compatible servers know Content-MD5, and not all the checksums in trailers.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .overrideConfiguration(
                each -> each.retryStrategy(AwsRetryStrategy.doNotRetry()).apiCallTimeout(ANSWER));
    Optional.ofNullable(options.get("region")).map(Region::of).ifPresent(builder::region);
    String endpoint = options.get("endpoint");
    if (endpoint != null) {
      builder.endpointOverride(URI.create(endpoint)).forcePathStyle(true);
    }
    try {
      return builder.build();
    } catch (SdkException e) {
      throw malformed(text, String.valueOf(e.getMessage()));
    }
  }

  /** Returns the sizes of all objects, in bytes, by their names without the prefix. */
  Map<String, Long> sizes() throws IOException {
    return call(() -> {
      Map<String, Long> sizes = new TreeMap<>();
      for (S3Object each :
          client
              .listObjectsV2Paginator(request -> request.bucket(bucket).prefix(prefix))
              .contents()) {
        sizes.put(each.key().substring(prefix.length()), each.size());
      }
      return sizes;
    });
  }

  /** Returns the content of an object; empty if there is none. */
  Optional<byte[]> get(String name) throws IOException {
    return call(() -> {
      try (ResponseInputStream<GetObjectResponse> in =
          client.getObject(request -> request.bucket(bucket).key(prefix + name))) {
        return Optional.of(in.readAllBytes());
      } catch (NoSuchKeyException e) {
        return Optional.empty();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    });
  }

  /** Writes a range of a file to an object; the server compares the checksum. */
  void put(String name, Path file, long start, long bytes) throws IOException {
    ContentStreamProvider content = () -> range(file, start, bytes);
    String checksum = checksum(content.newStream());
    var unusedResponse =
        call(() ->
            client.putObject(
                request -> request.bucket(bucket).key(prefix + name).contentMD5(checksum),
                RequestBody.fromContentProvider(content, bytes, "application/octet-stream")));
  }

  private static String checksum(InputStream content) throws IOException {
    try (DigestInputStream in = new DigestInputStream(content, MessageDigest.getInstance("MD5"))) {
      var unusedCount = in.transferTo(OutputStream.nullOutputStream());
      return Base64.getEncoder().encodeToString(in.getMessageDigest().digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // each JDK has it
    }
  }

  private static InputStream range(Path file, long start, long bytes) {
    try {
      InputStream in = Files.newInputStream(file);
      in.skipNBytes(start);
      return new FilterInputStream(in) {
        private long left = bytes;

        @Override
        public int read() throws IOException {
          return left-- > 0 ? super.read() : -1;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
          int count = left <= 0 ? -1 : super.read(into, offset, (int) Math.min(length, left));
          left -= Math.max(0, count);
          return count;
        }
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes an object if it exists. */
  void delete(String name) throws IOException {
    var unusedResponse =
        call(() -> client.deleteObject(request -> request.bucket(bucket).key(prefix + name)));
  }

  private <T> T call(Supplier<T> request) throws IOException {
    try {
      return request.get();
    } catch (SdkException | UncheckedIOException e) {
      throw new IOException("%s: %s".formatted(shown, e.getMessage()), e);
    }
  }

  @Override
  public void close() {
    client.close();
  }

  @Override
  public String toString() {
    return shown;
  }
}
