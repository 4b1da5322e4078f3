package dev.quipu.server.cli.access;

import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** The requests of a command to a server. Does not retry them. */
final class ServerCalls implements AutoCloseable {
  static final String JSON = "application/json";
  static final String NDJSON = "application/x-ndjson";

  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final String TLS_REMEDY =
      ". If the server has no --tls-cert, use http:// instead of https://; if it has, this"
          + " machine must trust the certificate";

  private final URI server;
  private final Optional<String> token;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();

  ServerCalls(URI server, Optional<String> token) {
    this.server = server;
    this.token = token;
  }

  /** A response to a request that may or may not write. */
  record Reply(int status, String body, boolean writes) {
    /** Returns this reply; throws the failure that it reports if it has another status. */
    Reply require(int wanted) {
      if (status != wanted) {
        throw failure(status, problem(), writes);
      }
      return this;
    }

    /** Returns the lines, one for each that was sent. */
    List<JsonNode> lines(int sent) {
      List<JsonNode> lines = require(200).body.lines().map(this::parse).toList();
      if (lines.size() != sent) {
        throw malformed("%d lines in the response to %d".formatted(lines.size(), sent), null);
      }
      return lines;
    }

    /** Returns the problem; without members if the response is not from a Quipu server. */
    JsonNode problem() {
      try {
        return MAPPER.readTree(body);
      } catch (JacksonException notOurs) {
        return MissingNode.getInstance();
      }
    }

    JsonNode parse(String text) {
      try {
        return MAPPER.readTree(text);
      } catch (JacksonException e) {
        throw malformed("the response is not JSON", e);
      }
    }

    QuipuException malformed(String message, @Nullable Throwable cause) {
      Outcome outcome = writes ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
      return QuipuException.of(outcome, Reason.UNAVAILABLE, message, cause);
    }
  }

  @Override
  public void close() {
    client.shutdownNow(); // requests without a response were abandoned
  }

  static String quoted(String id) {
    return "\"" + id.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  HttpRequest.Builder get(String path) {
    return request(path).GET();
  }

  HttpRequest.Builder post(String path, String type, String body) {
    return request(path)
        .header("Content-Type", type)
        .POST(HttpRequest.BodyPublishers.ofString(body));
  }

  HttpRequest.Builder request(String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(server.resolve(path)).timeout(DEADLINE);
    token.ifPresent(text -> request.header("Authorization", "Bearer " + text));
    return request;
  }

  /** Sends a request, and waits for the complete response until the deadline. */
  Reply send(HttpRequest.Builder request, boolean writes) {
    CompletableFuture<HttpResponse<String>> pending =
        client.sendAsync(
            request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    Outcome outcome = writes ? Outcome.UNKNOWN : Outcome.NOT_APPLIED;
    try {
      HttpResponse<String> response = pending.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      return new Reply(response.statusCode(), response.body(), writes);
    } catch (ExecutionException e) {
      throw unanswered(e.getCause() == null ? e : e.getCause(), outcome);
    } catch (TimeoutException e) {
      pending.cancel(true);
      String message = "no response from %s within %d s".formatted(server, DEADLINE.toSeconds());
      throw QuipuException.of(outcome, Reason.TIMEOUT, message, e);
    } catch (InterruptedException e) {
      pending.cancel(true);
      Thread.currentThread().interrupt();
      throw QuipuException.of(outcome, Reason.UNAVAILABLE, "interrupted", e);
    }
  }

  private QuipuException unanswered(Throwable cause, Outcome outcome) {
    boolean isSent = true;
    String message = String.valueOf(cause);
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
    return QuipuException.of(known, Reason.UNAVAILABLE, message, cause);
  }

  static JsonNode ok(Reply reply) {
    return reply.require(200).parse(reply.body);
  }

  /** Maps a problem to an exception; an invalid request is an IllegalArgumentException. */
  static RuntimeException failure(int status, JsonNode problem, boolean writes) {
    String detail = problem.path("detail").asString("the server responded with status " + status);
    detail += status == 401 ? "; use --token-file or QUIPU_TOKEN" : "";
    String type = problem.path("type").asString("");
    if (status == 400 || status == 413 || type.equals("/problems/unsupported")) {
      return new IllegalArgumentException(detail);
    }
    Reason reason =
        switch (status) {
          case 401, 403 -> Reason.DENIED;
          case 507 -> Reason.FULL;
          case 429 -> Reason.THROTTLED;
          case 500 -> type.equals("/problems/store-damaged") ? Reason.CORRUPT : Reason.UNAVAILABLE;
          default -> Reason.UNAVAILABLE;
        };
    // A 5xx without an outcome comes from a proxy; the server may have applied the request.
    String outcome = problem.path("outcome").asString(status >= 500 ? "unknown" : "not-applied");
    boolean unknown = writes && outcome.equals("unknown");
    return QuipuException.of(unknown ? Outcome.UNKNOWN : Outcome.NOT_APPLIED, reason, detail, null);
  }

  /** Returns a field that every response of a Quipu server has. */
  static long required(JsonNode node, String field, boolean writes) {
    return number(node, field)
        .orElseThrow(() ->
            QuipuException.of(
                writes ? Outcome.UNKNOWN : Outcome.NOT_APPLIED,
                Reason.UNAVAILABLE,
                "the response has no number %s; is --server a Quipu server?".formatted(field),
                null));
  }

  static OptionalLong number(JsonNode node, String field) {
    JsonNode value = node.get(field);
    return value == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(value.asString()));
  }

  static String json(Map<String, Object> members) {
    return MAPPER.writeValueAsString(members);
  }

  static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
