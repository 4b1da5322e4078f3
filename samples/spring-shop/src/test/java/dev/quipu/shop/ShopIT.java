package dev.quipu.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.shop.ShopClients.Order;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * The shop is killed and restarted under load, and agrees with the record of its clients at the
 * end. The number of requests and of kills is small; {@code -Dshop.requests=N -Dshop.kills=N} for
 * more.
 */
final class ShopIT {
  private static final int CLIENTS = 16;
  private static final int REQUESTS = Integer.getInteger("shop.requests", 60);
  private static final int KILLS = Integer.getInteger("shop.kills", 3);
  private static final long ORDERS_PER_DAY = 60;
  private static final long STOCK = 120;

  @TempDir static Path directory;

  private static ShopProcess shop;

  @BeforeAll
  static void start() throws Exception {
    shop = new ShopProcess(directory, ORDERS_PER_DAY);
  }

  @AfterAll
  static void end() throws Exception {
    shop.close();
  }

  private static JsonNode get(String path) throws Exception {
    return ShopClients.json(shop.call("GET", path, ""));
  }

  private static void restock(String run) throws Exception {
    for (String product : ShopClients.PRODUCTS) {
      String path = "/products/%s-%s/stock?quantity=%d".formatted(run, product, STOCK);
      assertEquals(200, shop.call("POST", path, run + "-opening").status());
    }
  }

  private static long seed() {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("ShopIT: -Dseed=" + seed);
    return seed;
  }

  @Test
  void isExactOverKillsUnderLoad() throws Exception {
    restock("x");
    ShopClients clients = new ShopClients(shop, "x", seed(), false);
    try (ExecutorService threads = ShopClients.threads()) {
      List<Future<?>> running = clients.start(threads, CLIENTS, REQUESTS);
      for (int kill = 1; kill <= KILLS; kill++) {
        awaitResponses(clients, running, CLIENTS * REQUESTS * kill / (KILLS + 2));
        shop.killAndRestart();
      }
      awaitResponses(clients, running, CLIENTS * REQUESTS * (KILLS + 1) / (KILLS + 2));
      assertEquals(143, shop.terminate(), "the status of a process that ends by SIGTERM");
      shop.restart();
      for (Future<?> each : running) {
        each.get();
      }
    }
    check("x", clients);
    Map<Integer, Integer> results = new HashMap<>();
    clients.orders().forEach(order -> results.merge(order.status(), 1, Integer::sum));
    System.out.printf(
        "ShopIT: %d kills; orders sold, sold out, over the quota: %s%n", KILLS, results);
    assertTrue(results.size() == 3, "some orders are sold, some sold out, some over the quota");
  }

  /** A client that repeats under another id is noticed: this comparison can fail. */
  @Test
  void aRepeatUnderAnotherIdIsNoticed() throws Exception {
    restock("planted");
    ShopClients clients = new ShopClients(shop, "planted", seed(), true);
    try (ExecutorService threads = ShopClients.threads()) {
      for (Future<?> each : clients.start(threads, 4, 30)) {
        each.get();
      }
    }
    AssertionError noticed = assertThrows(AssertionError.class, () -> check("planted", clients));
    System.out.println("ShopIT: noticed " + noticed.getMessage());
  }

  private static void awaitResponses(ShopClients clients, List<Future<?>> running, int count)
      throws Exception {
    while (clients.responses() < count) {
      assertTrue(running.stream().anyMatch(each -> !each.isDone()), "all clients have ended");
      Thread.sleep(1);
    }
  }

  private static void check(String run, ShopClients clients) throws Exception {
    for (String article : ShopClients.ARTICLES) {
      assertEquals(
          clients.views(article),
          get("/articles/%s-%s/views".formatted(run, article)).path("views").asLong(),
          "views of " + article);
    }
    List<Order> orders = clients.orders();
    for (String product : ShopClients.PRODUCTS) {
      long sold =
          orders.stream()
              .filter(order -> order.status() == 200 && order.product().equals(product))
              .mapToLong(Order::quantity)
              .sum();
      long left = get("/products/%s-%s/stock".formatted(run, product)).path("left").asLong();
      assertTrue(left >= 0, product + " is oversold: " + left);
      assertEquals(STOCK - sold, left, "what is left of " + product);
    }
    for (String user : ShopClients.USERS) {
      long admitted =
          orders.stream()
              .filter(order -> order.status() != 429 && order.user().equals(user))
              .count();
      assertTrue(admitted <= ORDERS_PER_DAY, user + " had " + admitted + " orders");
    }
    checkInvoices(run, orders);
  }

  /** Each order that was sold has the invoice that its client received, and numbers have no gap. */
  private static void checkInvoices(String run, List<Order> orders) throws Exception {
    Map<Long, String> received = new HashMap<>();
    for (Order order : orders) {
      if (order.status() == 200) {
        assertEquals(null, received.put(order.invoice(), order.id()), "an invoice has two orders");
      }
    }
    JsonNode invoices = get("/invoices");
    assertTrue(invoices.size() < 1_000, "all invoices are on one page");
    Map<Long, String> stored = new HashMap<>();
    long expected = 1;
    for (JsonNode invoice : invoices) {
      assertEquals(expected++, invoice.path("number").asLong(), "invoices have no gap");
      String order = invoice.path("payload").asString().split(":", 2)[0];
      if (order.startsWith(run + "-")) {
        stored.put(invoice.path("number").asLong(), order);
      }
    }
    assertEquals(received, stored, "invoices");
  }
}
