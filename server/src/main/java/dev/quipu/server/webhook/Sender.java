package dev.quipu.server.webhook;

import dev.quipu.Limits;
import dev.quipu.backend.CounterThresholds.Crossing;
import dev.quipu.backend.CounterThresholds.Threshold;
import dev.quipu.server.http.message.JsonBody;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Sends crossings, each as one request. Thread-safe. */
final class Sender implements AutoCloseable {
  /** Maximum number of requests at a time to a host and port: one that hangs delays no other. */
  private static final int REQUESTS_MAX = 16;

  /** Longest body of a response that is read. */
  private static final int BODY_BYTES_MAX = 64 << 10;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  /** Within which a response must be complete. */
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private static final int OK = 200;
  private static final int MULTIPLE_CHOICES = 300;

  private final WebhookSecret secret;
  private final Clock clock;
  private final Map<String, Semaphore> requests = new ConcurrentHashMap<>(); // by allowed host
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(Version.HTTP_1_1)
          .followRedirects(Redirect.NEVER) // another host may not be allowed
          .connectTimeout(CONNECT_TIMEOUT)
          .build();

  Sender(WebhookSecret secret, Clock clock) {
    this.secret = secret;
    this.clock = clock;
  }

  /**
   * Sends a crossing; returns why it may not have arrived, empty if it has.
   *
   * @throws InterruptedException if the thread was interrupted; then it may have arrived
   */
  Optional<String> send(Threshold threshold, Crossing crossing) throws InterruptedException {
    byte[] body = body(threshold, crossing);
    long seconds = clock.epochMillis() / 1_000;
    HttpRequest request =
        HttpRequest.newBuilder(threshold.webhook())
            .POST(BodyPublishers.ofByteArray(body))
            .header("Content-Type", "application/json")
            .header("User-Agent", "quipu")
            .header("webhook-id", crossing.id())
            .header("webhook-timestamp", Long.toString(seconds))
            .header("webhook-signature", secret.sign(crossing.id(), seconds, body))
            .build();
    Semaphore permits =
        requests.computeIfAbsent(Routing.host(threshold), key -> new Semaphore(REQUESTS_MAX));
    permits.acquire();
    try {
      return send(request);
    } finally {
      permits.release();
    }
  }

  private Optional<String> send(HttpRequest request) throws InterruptedException {
    CompletableFuture<HttpResponse<Void>> response =
        client.sendAsync(request, info -> new Discarding());
    try {
      int status = response.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS).statusCode();
      return status >= OK && status < MULTIPLE_CHOICES
          ? Optional.empty()
          : Optional.of("the webhook returned status " + status);
    } catch (TimeoutException e) {
      return Optional.of("no response from the webhook within " + Limits.text(TIMEOUT));
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof ConnectException) {
        return Optional.of(
            cause.getCause() instanceof UnresolvedAddressException
                ? "there is no address of the host " + request.uri().getHost()
                : "cannot connect to " + request.uri().getAuthority());
      }
      if (cause instanceof IOException) {
        String name = cause.getClass().getSimpleName();
        return Optional.of(cause.getMessage() == null ? name : name + ": " + cause.getMessage());
      }
      throw new IllegalStateException(cause);
    } finally {
      response.cancel(true); // no effect on one that is complete
    }
  }

  /** Reads the body, so that the connection can be used again, unless it is long. */
  private static final class Discarding implements BodySubscriber<Void> {
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private Subscription subscription = NOTHING;
    private long left = BODY_BYTES_MAX;

    private static final Subscription NOTHING =
        new Subscription() {
          @Override
          public void request(long n) {}

          @Override
          public void cancel() {}
        };

    @Override
    public CompletionStage<Void> getBody() {
      return done;
    }

    @Override
    public void onSubscribe(Subscription other) {
      subscription = other;
      other.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> some) {
      left -= some.stream().mapToLong(ByteBuffer::remaining).sum();
      if (left < 0) {
        subscription.cancel();
        onComplete();
      }
    }

    @Override
    public void onError(Throwable thrown) {
      done.completeExceptionally(thrown);
    }

    @Override
    public void onComplete() {
      done.complete(null);
    }
  }

  private static byte[] body(Threshold threshold, Crossing crossing) {
    return JsonBody.written(json -> {
      json.writeStartObject();
      json.writeStringProperty("type", "threshold.crossed");
      json.writeStringProperty("timestamp", crossing.time().toString());
      json.writeObjectPropertyStart("data");
      json.writeStringProperty("threshold", threshold.id());
      json.writeStringProperty("counter", crossing.counter());
      json.writeStringProperty("at", crossing.at().toString());
      json.writeStringProperty("direction", crossing.direction().toString());
      json.writeStringProperty("before", crossing.before().toString());
      json.writeStringProperty("after", crossing.after().toString());
      json.writeNumberProperty("sequence", crossing.sequence());
      json.writeEndObject();
      json.writeEndObject();
    });
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
