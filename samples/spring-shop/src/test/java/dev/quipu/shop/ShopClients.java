package dev.quipu.shop;

import dev.quipu.shop.ShopProcess.Response;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Concurrent clients that repeat each request until its result is definite, and write down what
 * they did: the record against which the shop is compared.
 */
final class ShopClients {
  static final List<String> ARTICLES = List.of("a", "b", "c");
  static final List<String> PRODUCTS = List.of("lamp", "chair");
  static final List<String> USERS = List.of("ann", "bob", "eve", "joe");

  /** One response in this number is treated as lost, and one request in it is sent again. */
  private static final int LOST_OF = 10;

  /** Begins a page of Tomcat: it starts or stops, and the request has not reached the shop. */
  private static final String HTML = "<!doctype html>";

  private static final int ATTEMPTS_MAX = 500; // after that, such a page is a result

  private final ShopProcess shop;
  private final String run;
  private final long seed;
  private final boolean newIdOnRetry;
  private final AtomicInteger responses = new AtomicInteger();
  private final Queue<String> views = new ConcurrentLinkedQueue<>();
  private final Queue<Order> orders = new ConcurrentLinkedQueue<>();

  /**
   * Creates clients.
   *
   * @param run the beginning of all names and ids
   * @param newIdOnRetry a planted fault: a repeat has another id than the first attempt
   */
  ShopClients(ShopProcess shop, String run, long seed, boolean newIdOnRetry) {
    this.shop = shop;
    this.run = run;
    this.seed = seed;
    this.newIdOnRetry = newIdOnRetry;
  }

  /** An order with its definite result: 200, 409 or 429. */
  record Order(String id, String product, String user, long quantity, int status, long invoice) {}

  /** Runs clients; returns a future for each. */
  List<Future<?>> start(ExecutorService threads, int clients, int requests) {
    return IntStream.range(0, clients)
        .<Future<?>>mapToObj(client ->
            threads.submit(() -> {
              SplittableRandom random = new SplittableRandom(seed + client);
              for (int i = 0; i < requests; i++) {
                request(run + "-" + client + "-" + i, random);
              }
              return null;
            }))
        .toList();
  }

  static ExecutorService threads() {
    return Executors.newVirtualThreadPerTaskExecutor();
  }

  private void request(String id, SplittableRandom random) throws InterruptedException {
    if (random.nextInt(3) > 0) {
      String article = one(ARTICLES, random);
      String path = "/articles/%s-%s/views".formatted(run, article);
      Response counted = untilDefinite(path, id, random);
      if (counted.status() != 200) {
        throw new AssertionError(path + " " + counted);
      }
      views.add(article);
      return;
    }
    String product = one(PRODUCTS, random);
    String user = one(USERS, random);
    long quantity = 1 + random.nextInt(3);
    String path =
        "/products/%s-%s/orders?quantity=%d&user=%s-%s"
            .formatted(run, product, quantity, run, user);
    Response response = untilDefinite(path, id, random);
    orders.add(order(id, product, user, quantity, response));
    if (random.nextInt(LOST_OF) == 0 && !newIdOnRetry) {
      Order again = order(id, product, user, quantity, untilDefinite(path, id, random));
      if (response.status() == 200
          && again.invoice() != order(id, product, user, quantity, response).invoice()) {
        throw new AssertionError("%s has two invoices: %s %s".formatted(id, response, again));
      }
    }
  }

  private static Order order(
      String id, String product, String user, long quantity, Response response) {
    int status = response.status();
    if (status != 200 && status != 409 && status != 429) {
      throw new AssertionError(id + " " + response);
    }
    long invoice = status == 200 ? json(response).path("invoice").asLong() : 0;
    return new Order(id, product, user, quantity, status, invoice);
  }

  /** Repeats a request under its id, also if its response was received and is treated as lost. */
  private Response untilDefinite(String path, String id, SplittableRandom random)
      throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      String key = newIdOnRetry ? id + "-" + attempt : id;
      try {
        Response response = shop.call("POST", path, key);
        boolean isLost = random.nextInt(LOST_OF) == 0;
        boolean isOfShop = !response.body().startsWith(HTML) || attempt > ATTEMPTS_MAX;
        if (!isLost && isOfShop && response.status() < 500) {
          responses.incrementAndGet();
          return response;
        }
        if (!isOfShop) {
          Thread.sleep(20);
        }
      } catch (IOException e) {
        Thread.sleep(20); // the shop is being restarted
      }
    }
  }

  private static String one(List<String> names, SplittableRandom random) {
    return names.get(random.nextInt(names.size()));
  }

  static JsonNode json(Response response) {
    return JsonMapper.shared().readTree(response.body());
  }

  /** Number of definite results so far. */
  int responses() {
    return responses.get();
  }

  long views(String article) {
    return views.stream().filter(article::equals).count();
  }

  List<Order> orders() {
    return List.copyOf(orders);
  }
}
