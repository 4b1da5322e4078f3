package org.example;

import dev.quipu.Counter;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import java.nio.file.Path;

/** Counts a sale exactly once, however often it is repeated. */
class Shop {
  public static void main(String[] args) {
    try (Quipu quipu = Quipu.builder().directory(Path.of(args[0])).build()) {
      Counter sold = quipu.counter("sold");
      RequestId order = RequestId.of("order-982");
      System.out.println(sold.add(3, order).orElseThrow().value());
      System.out.println(sold.add(3, order).orElseThrow().value());
    }
  }
}
