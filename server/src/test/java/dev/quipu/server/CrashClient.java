package dev.quipu.server;

import dev.quipu.server.resp.RawClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * A client of one port, which runs until the port fails. It adds with request ids to shared
 * counters, and sets, adds to and removes an expiring key of its own, so it knows the possible
 * values of both after a crash.
 */
final class CrashClient implements Runnable {
  static final int COUNTERS = 5;

  /** The protocol of a port. */
  enum Protocol {
    HTTP,
    REDIS,
    MEMCACHED
  }

  private final Protocol protocol;
  private final String name;
  private final int port;
  private final RandomGenerator random;
  private final AtomicInteger acknowledged;
  private int sent;
  private final Set<Integer> answered = new TreeSet<>();
  private Optional<Long> value; // of its own key without expiry; empty if it is removed or expires
  private final List<Optional<Long>> mayBe =
      new ArrayList<>(); // further possible values while a reply is outstanding
  private final List<String> wrong = new ArrayList<>();

  /**
   * Creates a client of a run.
   *
   * @param name unique over all clients and runs
   * @param value the value of its own key; empty if there is none
   * @param acknowledged counts the acknowledged requests of all clients
   */
  CrashClient(
      Protocol protocol,
      String name,
      int port,
      Optional<Long> value,
      RandomGenerator random,
      AtomicInteger acknowledged) {
    this.protocol = protocol;
    this.name = name;
    this.port = port;
    this.value = value;
    this.random = random;
    this.acknowledged = acknowledged;
  }

  /** Returns the key that only this client writes. */
  static String ownKey(int client) {
    return "own-" + client;
  }

  String counter(int number) {
    return "counter-" + number % COUNTERS;
  }

  String id(int number) {
    return name + "/" + number;
  }

  int delta(int number) {
    return 1 + number % 3;
  }

  /** Returns the number of requests sent, answered or not. */
  int sent() {
    return sent;
  }

  boolean isAnswered(int number) {
    return answered.contains(number);
  }

  /** Returns the wrong replies. */
  List<String> wrong() {
    return wrong;
  }

  /** Returns the possible values of its own key after all expiries. */
  List<Optional<Long>> mayBe() {
    List<Optional<Long>> all = new ArrayList<>(mayBe);
    all.add(value);
    return all;
  }

  @Override
  public void run() {
    String own = ownKey(Integer.parseInt(name.substring(name.indexOf('-') + 1)));
    try (RawClient client = new RawClient(port)) {
      while (true) {
        addOnce(client);
        if (protocol == Protocol.REDIS) {
          changeOwn(client, own);
        }
      }
    } catch (IOException | NumberFormatException | StringIndexOutOfBoundsException e) {
      // the port failed, possibly within a reply
    }
  }

  private void addOnce(RawClient client) throws IOException {
    int number = sent++;
    String counter = counter(number);
    String answer =
        switch (protocol) {
          case HTTP -> post(client, counter, number);
          case REDIS ->
              client.ask("QUIPU.ADD %s %d ID %s".formatted(counter, delta(number), id(number)));
          case MEMCACHED ->
              client.askLine("ma %s O%s D%d v".formatted(counter, id(number), delta(number)));
        };
    boolean isWhole = answer.endsWith("\n") || answer.endsWith("}");
    boolean isApplied =
        switch (protocol) {
          case HTTP -> answer.contains("\"replayed\":false");
          case REDIS -> answer.startsWith("*3\r\n");
          case MEMCACHED -> answer.startsWith("VA ");
        };
    if (isWhole && isApplied) {
      if (protocol == Protocol.MEMCACHED) {
        client.readUntil("\r\n");
      }
      answered.add(number);
      acknowledged.incrementAndGet();
    } else if (isWhole && !isUnknown(answer)) {
      wrong.add(id(number) + ": " + answer);
    }
  }

  private static boolean isUnknown(String answer) {
    return answer.toLowerCase(java.util.Locale.ROOT).contains("unknown")
        || answer.contains("stopped on a failure");
  }

  private String post(RawClient client, String counter, int number) throws IOException {
    String body = "{\"delta\":%d}".formatted(delta(number));
    client.send(
        ("POST /v1/counters/%s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
                + " application/json\r\nIdempotency-Key: \"%s\"\r\nContent-Length: %d\r\n\r\n%s")
            .formatted(counter, id(number), body.length(), body));
    String head = client.readUntil("\r\n\r\n");
    int at = head.toLowerCase(java.util.Locale.ROOT).indexOf("content-length: ") + 16;
    int length = Integer.parseInt(head.substring(at, head.indexOf("\r\n", at)));
    return client.read(length);
  }

  /** Writes its own key: a value without expiry, one that expires within the run, or none. */
  private void changeOwn(RawClient client, String own) throws IOException {
    switch (random.nextInt(4)) {
      case 0 -> {
        mayBe.add(Optional.empty()); // expires before the check after a crash
        if (client
            .ask("SET %s %d PX 40".formatted(own, random.nextInt(10, 1_000)))
            .equals("+OK\r\n")) {
          value = Optional.empty();
          mayBe.clear();
        }
      }
      case 1 -> {
        mayBe.add(Optional.empty());
        if (client.ask("DEL " + own).startsWith(":")) {
          value = Optional.empty();
          mayBe.clear();
        }
      }
      default -> add(client, own);
    }
  }

  private void add(RawClient client, String own) throws IOException {
    mayBe.add(value.map(known -> known + 1));
    if (value.isEmpty()) {
      mayBe.add(Optional.of(1L)); // it had expired and starts again
    }
    String answer = client.ask("INCR " + own);
    if (answer.startsWith(":") && answer.endsWith("\r\n")) {
      long after = Long.parseLong(answer.strip().substring(1));
      if (value.isPresent() && after != value.get() + 1) {
        wrong.add(own + " was " + value.get() + " and is " + after);
      }
      value = value.isPresent() || after == 1 ? Optional.of(after) : Optional.empty();
      mayBe.clear();
    }
  }
}
