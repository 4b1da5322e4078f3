package org.example;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Calls the model. */
final class ModelClient implements AutoCloseable {
  private static final int CALL_MILLIS_MAX = 400;
  private static final int POLL_MILLIS = 20;

  private final HttpClient client = HttpClient.newHttpClient();
  private final ScheduledExecutorService deadlines = Executors.newSingleThreadScheduledExecutor();
  private final URI model;

  ModelClient(URI model) {
    this.model = model;
  }

  /**
   * Streams an answer to its end.
   *
   * @throws IOException if it fails, breaks off or takes too long: what it cost is unknown
   */
  void complete(String call, long tokensMax) throws IOException, InterruptedException {
    URI uri = model.resolve("/complete/%s/%d".formatted(call, tokensMax));
    HttpRequest request =
        HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.noBody()).build();
    HttpResponse<InputStream> response =
        client.send(request, HttpResponse.BodyHandlers.ofInputStream());
    InputStream body = response.body();
    ScheduledFuture<?> deadline =
        deadlines.schedule(() -> close(body), CALL_MILLIS_MAX, TimeUnit.MILLISECONDS);
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(body, StandardCharsets.US_ASCII))) {
      for (String line = lines.readLine(); !"end".equals(line); line = lines.readLine()) {
        if (line == null) {
          throw new IOException("the answer broke off");
        }
      }
    } finally {
      deadline.cancel(false);
    }
  }

  private static void close(InputStream body) {
    try {
      body.close();
    } catch (IOException e) {
      // closed anyway
    }
  }

  /**
   * Waits until a call has ended.
   *
   * @return what it cost; empty if the model does not know the call
   */
  OptionalLong billed(String call) throws InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(model.resolve("/usage/" + call)).build();
    while (true) {
      try {
        HttpResponse<String> usage = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (usage.statusCode() == 404) {
          return OptionalLong.empty();
        }
        if (usage.statusCode() == 200 && !usage.body().equals("running")) {
          return OptionalLong.of(Long.parseLong(usage.body()));
        }
      } catch (IOException e) {
        // ask again
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  @Override
  public void close() {
    deadlines.shutdownNow();
    client.shutdownNow(); // close would wait for answers that broke off
  }
}
