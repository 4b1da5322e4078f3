package dev.quipu.server;

import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.layer.Store;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.store.StoreDriver;
import dev.quipu.store.StoreProvider;
import dev.quipu.time.Clock;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import tools.jackson.databind.json.JsonMapper;

/**
 * A process with writers of numbered records, which tests kill. Each writer requests a number, with
 * the same id until it gets one, and prints it.
 */
final class SequenceClient {
  static final String SERIES = "invoices/2027";

  private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private SequenceClient() {}

  /** Requests a number for a record; empty if the outcome is unknown. */
  private interface Series {
    OptionalLong next(String id) throws InterruptedException;
  }

  static String id(int writer, int record) {
    return "writer-" + writer + "-record-" + record;
  }

  /**
   * Runs the writers.
   *
   * @param arguments URI of a store or server; records per writer; writers with their first record,
   *     such as {@code 3:17}
   */
  public static void main(String[] arguments) throws Exception {
    int records = Integer.parseInt(arguments[1]);
    List<String> writers = List.of(arguments).subList(2, arguments.length);
    if (arguments[0].startsWith("http:")) {
      try (HttpClient client = HttpClient.newHttpClient()) {
        URI next = URI.create(arguments[0] + "v1/sequences/invoices%2F2027/next");
        run(writers, records, id -> next(client, next, id));
      }
    } else {
      try (StoreDriver driver = StoreProvider.open(arguments[0])) {
        SequenceOfRecords sequence = new SequenceOfRecords(new Store(driver, Clock.system()));
        run(writers, records, id -> next(sequence, id));
      }
    }
  }

  private static void run(List<String> writers, int records, Series series)
      throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (String writer : writers) {
      String[] parts = writer.split(":", 2);
      int number = Integer.parseInt(parts[0]);
      int from = Integer.parseInt(parts[1]);
      threads.add(Thread.ofPlatform().start(() -> write(series, number, from, records)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void write(Series series, int writer, int from, int records) {
    try {
      for (int record = from; record < records; record++) {
        OptionalLong number = series.next(id(writer, record));
        while (number.isEmpty()) {
          number = series.next(id(writer, record));
        }
        System.out.println(writer + " " + record + " " + number.getAsLong());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static OptionalLong next(SequenceOfRecords sequence, String id) {
    try {
      return OptionalLong.of(sequence.add(SERIES, "of " + id, RequestId.of(id)).number());
    } catch (QuipuException e) {
      if (e.reason().isTemporary()) {
        return OptionalLong.empty();
      }
      throw e;
    }
  }

  private static OptionalLong next(HttpClient client, URI uri, String id)
      throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .timeout(ANSWER_MAX)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "\"" + id + "\"")
            .POST(HttpRequest.BodyPublishers.ofString("{\"payload\":\"of " + id + "\"}"))
            .build();
    try {
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() == 200) {
        String number = MAPPER.readTree(response.body()).path("number").asString();
        return OptionalLong.of(Long.parseLong(number));
      }
      if (response.statusCode() == 503) {
        return OptionalLong.empty();
      }
      throw new IllegalStateException(response.statusCode() + ": " + response.body());
    } catch (IOException e) {
      return OptionalLong.empty(); // the server or its reply is lost
    }
  }
}
