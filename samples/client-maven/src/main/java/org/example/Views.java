package org.example;

import dev.quipu.Counter;
import dev.quipu.Quipu;
import dev.quipu.RequestId;
import java.net.URI;

/** Counts views on a server; a view that is sent again counts once. */
class Views {
  public static void main(String[] args) {
    try (Quipu quipu = Quipu.connect(URI.create(args[0]))) {
      Counter views = quipu.counter("article/43");
      RequestId view = RequestId.of("view-7");
      System.out.println(views.add(3, view).orElseThrow().value());
      System.out.println(views.add(3, view).orElseThrow().value());
    }
  }
}
