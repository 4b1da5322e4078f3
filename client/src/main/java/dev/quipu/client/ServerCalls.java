package dev.quipu.client;

import dev.quipu.NotAppliedException;
import dev.quipu.Outcome;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import dev.quipu.time.Clock;
import dev.quipu.time.Randomness;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * The requests to a server, or to several that share a store. A request that fails is repeated at
 * the next server until its deadline, if a repeat cannot change anything twice. Thread-safe.
 */
public final class ServerCalls implements AutoCloseable {
  private static final Duration CONNECT_MAX = Duration.ofSeconds(5);
  private static final Duration ATTEMPT_MIN = Duration.ofSeconds(1);
  private static final Duration PAUSE_MIN = Duration.ofMillis(10);
  private static final Duration PAUSE_MAX = Duration.ofMillis(500);

  private static final int UNAUTHORIZED = 401;

  /** Attempts that a call has time for if servers do not respond. */
  private static final int ATTEMPTS = 3;

  private static final String TLS_REMEDY =
      ". If the server has no --tls-cert, use http:// instead of https://; if it has, name its"
          + " certificate with --ca FILE, or let this machine trust it";

  private final ClientOptions options;
  private final Clock clock = Clock.system();
  private final RandomGenerator random = Randomness.secure();
  private final AtomicInteger current = new AtomicInteger();
  private final HttpClient client;

  /** Creates a client, which does not connect yet. */
  public ServerCalls(ClientOptions options) {
    this.options = options;
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_MAX);
    if (options.servers().stream().noneMatch(server -> server.getScheme().equals("https"))) {
      builder.sslContext(new NoTls());
    } else {
      options.tls().ifPresent(builder::sslContext);
    }
    client = builder.build();
  }

  /** Returns text as it is sent in a path or a query. */
  public static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  Clock clock() {
    return clock;
  }

  /** Returns the time at which a call that begins now ends. */
  long deadlineNanos() {
    return clock.nanoTime() + options.timeout().toNanos();
  }

  /**
   * Sends a request until there is a result, the failure is permanent, or the deadline passes.
   *
   * @throws QuipuException if there is none; its outcome is unknown if any attempt may have been
   *     applied
   */
  public Reply send(Request request) {
    long deadline = deadlineNanos();
    boolean unknown = false;
    @Nullable QuipuException failure = null;
    for (int attempt = 1; ; attempt++) {
      boolean isTemporary;
      try {
        Reply reply = attempt(request, deadline);
        if (reply.isResult() && (reply.status() != 404 || !unknown)) {
          return reply;
        }
        if (!(reply.failure() instanceof QuipuException reported)) {
          return reply; // malformed, or not supported
        }
        failure = reported;
        isTemporary = isTemporary(reply.status(), failure);
      } catch (QuipuException e) {
        unknown |= e.outcome() == Outcome.UNKNOWN;
        boolean isCut = e.reason() == Reason.TIMEOUT && clock.nanoTime() >= deadline;
        failure = isCut && failure != null ? failure : e; // the earlier one says why
        isTemporary = e.reason().isTemporary();
      }
      unknown |= failure.outcome() == Outcome.UNKNOWN;
      boolean again = isTemporary && (request.isRepeatable() || !unknown);
      if (!again || !waits(attempt, unknown) || !pause(attempt, deadline)) {
        throw ended(failure, unknown);
      }
    }
  }

  static boolean isTemporary(int status, QuipuException failure) {
    return (status == 429 || status >= 500) && failure.reason().isTemporary();
  }

  static QuipuException ended(QuipuException failure, boolean unknown) {
    return unknown && failure.outcome() == Outcome.NOT_APPLIED
        ? new OutcomeUnknownException(failure.reason(), failure.getMessage(), failure)
        : failure;
  }

  /** Returns whether a call may be repeated after this number of attempts. */
  boolean waits(int attempts, boolean unknown) {
    return options.waits() || unknown || attempts < options.servers().size();
  }

  /** Returns how long to wait before the next attempt: not at all if another server is left. */
  Duration pauseAfter(int attempts) {
    int rounds = attempts / options.servers().size();
    if (attempts % options.servers().size() != 0) {
      return Duration.ZERO;
    }
    long most = Math.min(PAUSE_MAX.toNanos(), PAUSE_MIN.toNanos() << Math.clamp(rounds - 1, 0, 10));
    return Duration.ofNanos(most / 2 + random.nextLong(most / 2 + 1));
  }

  /** Waits before the next attempt; false if the deadline would pass. */
  private boolean pause(int attempts, long deadline) {
    Duration pause = pauseAfter(attempts);
    if (clock.nanoTime() + pause.toNanos() >= deadline) {
      return false;
    }
    try {
      clock.sleep(pause);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Sends a request once.
   *
   * @throws QuipuException if there is no complete response in time, or access is denied
   */
  Reply attempt(Request request, long deadline) {
    int place = current.get();
    URI server = options.servers().get(place);
    Duration left = Duration.ofNanos(Math.max(1, deadline - clock.nanoTime()));
    Duration share = options.timeout().dividedBy(ATTEMPTS);
    Duration most = share.compareTo(ATTEMPT_MIN) > 0 ? share : ATTEMPT_MIN;
    boolean isShort = request.isRepeatable() && most.compareTo(left) < 0;
    boolean isDone = false;
    try {
      Reply reply = exchange(server, request, isShort ? most : left);
      isDone = reply.status() < 500 && reply.status() != 429;
      if (reply.status() == UNAUTHORIZED) {
        throw unauthorized(server);
      }
      return reply;
    } finally {
      if (!isDone) {
        current.compareAndSet(place, (place + 1) % options.servers().size());
      }
    }
  }

  private NotAppliedException unauthorized(URI server) {
    String what = options.token().isEmpty() ? "requires a token" : "does not accept this token";
    return new NotAppliedException(
        Reason.DENIED,
        "the server %s %s; set the server's by %s".formatted(server, what, options.tokenSetting()));
  }

  private Reply exchange(URI server, Request request, Duration limit) {
    CompletableFuture<HttpResponse<byte[]>> pending =
        client.sendAsync(built(server, request), HttpResponse.BodyHandlers.ofByteArray());
    Outcome outcome = request.writes() ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
    try {
      HttpResponse<byte[]> response = pending.get(limit.toNanos(), TimeUnit.NANOSECONDS);
      return new Reply(response.statusCode(), response.body(), request.writes());
    } catch (ExecutionException e) {
      throw unanswered(server, e.getCause() == null ? e : e.getCause(), outcome);
    } catch (TimeoutException e) {
      pending.cancel(true);
      String message = "no response from %s within %d ms".formatted(server, limit.toMillis());
      throw QuipuException.of(outcome, Reason.TIMEOUT, message, e);
    } catch (InterruptedException e) {
      pending.cancel(true);
      Thread.currentThread().interrupt();
      throw QuipuException.of(outcome, Reason.UNAVAILABLE, "interrupted", e);
    }
  }

  /**
   * Opens a response without an end.
   *
   * @param lastId the id of the last event that was received; empty for none
   * @throws QuipuException if there is none in time, or access is denied
   */
  InputStream open(String path, String lastId) throws IOException {
    int place = current.get();
    URI server = options.servers().get(place);
    HttpRequest.Builder request = addressed(server, path).timeout(options.timeout());
    if (!lastId.isEmpty()) {
      request.header("Last-Event-ID", lastId);
    }
    boolean isOpen = false;
    try {
      HttpResponse<InputStream> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      isOpen = response.statusCode() == 200;
      if (isOpen) {
        return response.body();
      }
      if (response.statusCode() == UNAUTHORIZED) {
        throw unauthorized(server);
      }
      try (InputStream body = response.body()) {
        throw new Reply(response.statusCode(), body.readAllBytes(), false).failure();
      }
    } catch (IOException e) {
      throw unanswered(server, e, Outcome.NOT_APPLIED);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NotAppliedException(Reason.UNAVAILABLE, "interrupted", e);
    } finally {
      if (!isOpen) {
        current.compareAndSet(place, (place + 1) % options.servers().size());
      }
    }
  }

  private HttpRequest.Builder addressed(URI server, String path) {
    HttpRequest.Builder builder = HttpRequest.newBuilder(server.resolve(path));
    options.token().ifPresent(text -> builder.header("Authorization", "Bearer " + text));
    return builder;
  }

  private HttpRequest built(URI server, Request request) {
    HttpRequest.Builder builder = addressed(server, request.path());
    if (request.isInUnits()) {
      builder.header("Quipu-Amounts", "units");
    }
    request.quotedKey().ifPresent(key -> builder.header("Idempotency-Key", key));
    if (!request.type().isEmpty()) {
      builder.header("Content-Type", request.type());
    }
    boolean isEmpty = request.type().isEmpty() && request.body().length == 0;
    return builder
        .method(
            request.method(),
            isEmpty
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofByteArray(request.body()))
        .build();
  }

  private static QuipuException unanswered(URI server, Throwable cause, Outcome outcome) {
    boolean isSent = true;
    String message = "no response from %s: %s".formatted(server, cause.getMessage());
    if (cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException) {
      isSent = false;
      message = "no server at " + server + "; start one: quipu serve";
    } else if (cause instanceof SSLException) {
      isSent = // only after the handshake
          !(cause instanceof SSLHandshakeException)
              && !String.valueOf(cause.getMessage()).contains("SSL message");
      message =
          "TLS with %s failed: %s%s"
              .formatted(server, cause.getMessage(), isSent ? "" : TLS_REMEDY);
    }
    Outcome known = isSent ? outcome : Outcome.NOT_APPLIED;
    Reason reason = isUntrusted(cause) ? Reason.DENIED : Reason.UNAVAILABLE;
    return QuipuException.of(known, reason, message, cause);
  }

  private static boolean isUntrusted(Throwable thrown) {
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      if (each instanceof CertificateException) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    client.shutdownNow(); // requests without a response were abandoned
  }
}
