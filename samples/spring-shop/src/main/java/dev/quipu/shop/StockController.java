package dev.quipu.shop;

import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.Counter;
import dev.quipu.Quipu;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import java.time.Clock;
import java.time.LocalDate;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Sells stock. An order is three steps under one id: it takes a unit of the user's quota, takes the
 * stock, and gets an invoice number. If the process is killed between two of them, the client
 * repeats the order under the same id: steps that were done are replayed, and the others follow.
 */
@RestController
class StockController {
  private static final String INVOICES = "invoices";

  private final Quipu quipu;
  private final SequenceOfRecords invoices;
  private final Clock clock;
  private final long ordersPerDay;

  StockController(
      Quipu quipu,
      SequenceOfRecords invoices,
      Clock clock,
      @Value("${shop.orders-per-day}") long ordersPerDay) {
    this.quipu = quipu;
    this.invoices = invoices;
    this.clock = clock;
    this.ordersPerDay = ordersPerDay;
  }

  /** What is left of a product. */
  record Stock(String product, long left) {}

  /** An order that was sold, under the number of its invoice. */
  record Sold(String order, long invoice) {}

  @PostMapping("/products/{product}/stock")
  Stock restock(
      @PathVariable String product,
      @RequestParam long quantity,
      @RequestHeader("Idempotency-Key") String delivery) {
    requirePositive(quantity);
    AddResult added = stock(product).add(quantity, RequestId.of(delivery));
    require(added, HttpStatus.CONFLICT, "Too much stock");
    return new Stock(product, added.orElseThrow().value());
  }

  @GetMapping("/products/{product}/stock")
  Stock read(@PathVariable String product) {
    return new Stock(product, stock(product).read().map(Reading::value).orElse(0L));
  }

  /** Sells; 409 if the product is sold out, 429 if the user has no order left for today. */
  @PostMapping("/products/{product}/orders")
  Sold order(
      @PathVariable String product,
      @RequestParam long quantity,
      @RequestParam String user,
      @RequestHeader("Idempotency-Key") String order) {
    requirePositive(quantity);
    RequestId id = RequestId.of(order);
    // Also an order that is rejected below takes a unit, so that nobody can probe the stock.
    require(orders(user).add(1, id), HttpStatus.TOO_MANY_REQUESTS, "No order left for today");
    require(stock(product).add(-quantity, id), HttpStatus.CONFLICT, "Sold out");
    String record = "%s: %d of %s for %s".formatted(order, quantity, product, user);
    return switch (invoices.add(INVOICES, record, id)) {
      case SequenceOfRecords.Numbered numbered -> new Sold(order, numbered.number());
      case SequenceOfRecords.Conflict conflict -> throw usedTwice();
    };
  }

  /** Returns up to 1,000 invoices from a number on. */
  @GetMapping("/invoices")
  List<NumberedRecord> invoices(@RequestParam(defaultValue = "1") long from) {
    return invoices.page(INVOICES, from, SequenceOfRecords.PAGE_MAX);
  }

  private Counter stock(String product) {
    return quipu.counter("stock/" + product).withBounds(Bounds.atLeast(0));
  }

  private Counter orders(String user) {
    String day = LocalDate.now(clock).toString();
    return quipu.counter("orders/" + day + "/" + user).withBounds(Bounds.atMost(ordersPerDay));
  }

  private static void require(AddResult result, HttpStatus otherwise, String reason) {
    switch (result) {
      case AddResult.Success success -> {}
      case AddResult.Rejected rejected -> throw new ResponseStatusException(otherwise, reason);
      case AddResult.Conflict conflict -> throw usedTwice();
    }
  }

  private static ResponseStatusException usedTwice() {
    return new ResponseStatusException(
        HttpStatus.UNPROCESSABLE_CONTENT, "Idempotency-Key was used for another request");
  }

  private static void requirePositive(long quantity) {
    if (quantity < 1) {
      throw new IllegalArgumentException("quantity is " + quantity + "; it must be 1 or more");
    }
  }
}
