package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The requests and outcomes of the clients of a stock. */
final class StockBook {
  private final Map<String, Request> requests = new HashMap<>();
  private final Map<Integer, Integer> answered = new HashMap<>();
  private final List<String> wrong = new ArrayList<>();

  /** One request, with all its attempts. */
  private static final class Request {
    final long amount;
    final long begunMillis;
    int applied;
    int replayed;
    final List<long[]> rejections = new ArrayList<>(); // time and pieces

    Request(long amount, long begunMillis) {
      this.amount = amount;
      this.begunMillis = begunMillis;
    }

    boolean isSold() {
      return applied + replayed > 0;
    }
  }

  /** Records an output line of a client. */
  synchronized void note(String line) {
    String[] words = line.split(" ", -1);
    String key = words[1] + " " + words[2];
    long amount = Long.parseLong(words[3]);
    long millis = Long.parseLong(words[4]);
    if (words[0].equals("begins")) {
      requests.putIfAbsent(key, new Request(amount, millis));
      return;
    }
    answered.merge(Integer.parseInt(words[1]), Integer.parseInt(words[2]) + 1, Math::max);
    Request request = requests.get(key);
    if (request == null || (words[5].equals("rejected") && request.isSold())) {
      wrong.add(line);
      return;
    }
    switch (words[5]) {
      case "applied" -> request.applied++;
      case "replayed" -> request.replayed++;
      default -> request.rejections.add(new long[] {millis, Long.parseLong(words[6])});
    }
  }

  /** Returns the first unanswered request of a client. */
  synchronized int from(int client) {
    return answered.getOrDefault(client, 0);
  }

  /** Returns the number of answered requests. */
  synchronized long answered() {
    return answered.values().stream().mapToLong(each -> each).sum();
  }

  synchronized long replays() {
    return requests.values().stream().mapToLong(each -> each.replayed).sum();
  }

  synchronized long rejections() {
    return requests.values().stream().mapToLong(each -> each.rejections.size()).sum();
  }

  /** Returns the pieces sold; checks that no request counts twice and no rejection was wrong. */
  synchronized long check(long stock) {
    assertEquals(List.of(), wrong, "answered without a request, or rejected after it was applied");
    TreeMap<Long, Long> begun = new TreeMap<>();
    long sold = 0;
    for (Map.Entry<String, Request> each : requests.entrySet()) {
      Request request = each.getValue();
      assertTrue(request.applied <= 1, "applied more than once: " + each.getKey());
      if (request.isSold()) {
        sold += request.amount;
        begun.merge(request.begunMillis, request.amount, Long::sum);
      }
    }
    TreeMap<Long, Long> soldUntil = new TreeMap<>();
    long sum = 0;
    for (Map.Entry<Long, Long> each : begun.entrySet()) {
      sum += each.getValue();
      soldUntil.put(each.getKey(), sum);
    }
    for (Map.Entry<String, Request> each : requests.entrySet()) {
      for (long[] rejection : each.getValue().rejections) {
        assertTrue(
            rejection[1] < each.getValue().amount,
            "rejected although the stock sufficed: " + each.getKey());
        Map.Entry<Long, Long> until = soldUntil.floorEntry(rejection[0]);
        long least = stock - (until == null ? 0 : until.getValue());
        assertTrue(
            least < each.getValue().amount,
            "rejected while at least %d were left: %s".formatted(least, each.getKey()));
      }
    }
    assertEquals(0, requests.values().stream().filter(StockBook::isOpen).count(), "unanswered");
    return sold;
  }

  private static boolean isOpen(Request request) {
    return !request.isSold() && request.rejections.isEmpty();
  }
}
