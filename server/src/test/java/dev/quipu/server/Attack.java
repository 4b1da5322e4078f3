package dev.quipu.server;

import dev.quipu.time.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Attacks on a server over raw sockets. */
enum Attack {
  UNKNOWN_METHODS {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      return flood(
          server.http(),
          8,
          "",
          n -> "M" + n + " /x" + n + " HTTP/1.1\r\n" + HOST + "\r\n",
          true,
          stop);
    }
  },
  UNREAD_HTTP {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      // Long answers: a thousand counters each.
      String create =
          IntStream.range(0, 1_000)
              .mapToObj(i -> "{\"name\":\"%s%d\",\"delta\":1}\n".formatted(LONG_NAME, i))
              .collect(Collectors.joining());
      ask(server.http(), bulk(create));
      String request = "GET /v1/counters?limit=1000 HTTP/1.1\r\n" + HOST + "\r\n";
      return flood(server.http(), 200, "", n -> request, false, stop);
    }
  },
  UNREAD_RESP {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      String large =
          IntStream.range(0, 1_000)
              .mapToObj(i -> "HINCRBY hash %s%d 1\r\n".formatted(LONG_NAME, i))
              .collect(Collectors.joining());
      ask(server.resp(), large + "QUIT\r\n");
      return flood(server.resp(), 200, "", n -> "HGETALL hash\r\nINFO\r\n", false, stop);
    }
  },
  UNREAD_MEMCACHED {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      String large = "set text 0 0 4000\r\n" + "x".repeat(4_000) + "\r\n";
      String request = "get" + " text".repeat(100) + "\r\n";
      return flood(server.memcached(), 200, large, n -> request, false, stop);
    }
  },
  MANY_BUSY_CONNECTIONS {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      // Much input on each connection: the server prepares large buffers for more.
      String set = "set text 0 0 4000\r\n" + "x".repeat(4_000) + "\r\n";
      String request = "get" + " text".repeat(50) + "\r\n" + set.repeat(4);
      return flood(server.memcached(), 1_200, set, n -> request, false, stop);
    }
  },
  MULTI_WITHOUT_EXEC {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      String request = "SET a " + "x".repeat(4_000) + "\r\n";
      return flood(server.resp(), 100, "MULTI\r\n", n -> request, true, stop);
    }
  },
  WATCH {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      return flood(server.resp(), 20, "", n -> "WATCH w" + n + LONG_NAME + "\r\n", true, stop);
    }
  },
  IDLE {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      int wanted = Integer.getInteger("attack.idle", 1_000);
      Deque<Socket> open = new ArrayDeque<>();
      int failed = 0;
      for (int i = 0; i < wanted && !stop.get(); i++) {
        try {
          open.add(connect(server.ports().get(i % 3)));
        } catch (IOException e) {
          failed++;
        }
      }
      int held = open.size();
      int newcomers = 0;
      while (!stop.get()) { // idle connections must not lock out new ones
        ask(server.http(), "GET /livez HTTP/1.1\r\nConnection: close\r\n" + HOST + "\r\n");
        ask(server.resp(), "PING\r\n");
        ask(server.memcached(), "mn\r\n");
        newcomers++;
        pause(Duration.ofMillis(20));
      }
      open.forEach(Attack::close);
      return "%d idle connections, %d could not be opened, %d rounds of newcomers served"
          .formatted(held, failed, newcomers);
    }
  },
  SHORT_LIVED_KEYS {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      return flood(
          server.resp(), 8, "", n -> batch(n, i -> "SET s" + i + " 1 PX 500\r\n"), true, stop);
    }
  },
  NEW_NAMES_RESP {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      return flood(
          server.resp(), 8, "", n -> batch(n, i -> "INCR n" + i + LONG_NAME + "\r\n"), true, stop);
    }
  },
  NEW_NAMES_MEMCACHED {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      return flood(
          server.memcached(),
          8,
          "",
          n -> batch(n, i -> "ma n" + i + LONG_NAME + " N0 J1\r\n"),
          true,
          stop);
    }
  },
  NEW_NAMES_HTTP {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      return flood(
          server.http(),
          4,
          "",
          n -> bulk(batch(n, i -> "{\"name\":\"n" + i + LONG_NAME + "\",\"delta\":1}\n")),
          true,
          stop);
    }
  },
  CRAFTED_IDS {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      return flood(server.resp(), 4, "", n -> batch(n, Attack::craftedAdd), true, stop);
    }
  },
  CRAFTED_NAMES {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      return flood(
          server.resp(), 4, "", n -> batch(n, i -> "INCR " + craftedName(i) + "\r\n"), true, stop);
    }
  },
  BULKS {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      String padding = " ".repeat(8 * 1024 * 1024 / 10_000 - LONG_NAME.length() - 60);
      String body =
          IntStream.range(0, 10_000)
              .mapToObj(
                  i -> "{\"name\":\"b%04d%s\",%s\"delta\":1}\n".formatted(i, LONG_NAME, padding))
              .collect(Collectors.joining());
      return flood(server.http(), 10, "", n -> bulk(body), true, stop);
    }
  },
  HGETALL {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      for (int i = 0; i < 60; i++) {
        StringBuilder fields = new StringBuilder();
        for (int j = 0; j < 1_000; j++) {
          fields.append("HINCRBY hash field-").append(1_000 * i + j).append(" 1\r\n");
        }
        ask(server.resp(), fields + "QUIT\r\n");
      }
      String request = "INCR p\r\n" + "HGETALL hash\r\n".repeat(1_000);
      return flood(server.resp(), 3, "", n -> request, false, stop);
    }
  },
  HALF_SENT {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      String head = "POST /v1/counters/bulk HTTP/1.1\r\n" + HOST;
      String body = head + NDJSON + "Content-Length: 8000000\r\n\r\n" + "x".repeat(100_000);
      String argument = "*2\r\n$3\r\nGET\r\n$60000\r\n" + "x".repeat(30_000);
      String value = "set a 0 0 4096\r\n" + "x".repeat(2_000);
      return together(
          stop,
          () -> flood(server.http(), 100, head, Attack::trickle, true, stop),
          () -> flood(server.http(), 100, body, Attack::trickle, true, stop),
          () -> flood(server.resp(), 100, argument, Attack::trickle, true, stop),
          () -> flood(server.memcached(), 100, value, Attack::trickle, true, stop));
    }
  },
  CHURN {
    @Override
    String run(AttackedServer server, AtomicBoolean stop) {
      AtomicInteger opened = new AtomicInteger();
      Attacker churner =
          () -> {
            for (int i = 0; !stop.get(); i++) {
              try (Socket socket = connect(server.ports().get(i % 3))) {
                opened.incrementAndGet();
                socket.getOutputStream().write("GET ".getBytes(StandardCharsets.US_ASCII));
                socket.setSoLinger(i % 2 == 0, 0); // every other one by a reset
              } catch (IOException e) {
                pause(Duration.ofMillis(10));
              }
            }
            return "";
          };
      return together(stop, churner, churner) + opened + " connections";
    }
  };

  private static final String HOST = "Host: localhost\r\n";
  private static final String NDJSON = "Content-Type: application/x-ndjson\r\n";
  private static final String LONG_NAME = "n".repeat(200);
  private static final int BATCH = 100;
  private static final int CRAFTED_IDS_MAX = 70_000;
  private static final int CRAFTED_NAMES_MAX = 20_000;

  /** Attacks until stopped; returns a summary. */
  abstract String run(AttackedServer server, AtomicBoolean stop);

  /** One of several concurrent attackers. */
  private interface Attacker {
    String attack();
  }

  private interface Command {
    String of(long number);
  }

  private static String flood(
      int port,
      int connections,
      String preamble,
      java.util.function.LongFunction<String> requests,
      boolean reads,
      AtomicBoolean stop) {
    return new Flood(port, connections, preamble, requests, reads).run(stop).toString();
  }

  private static String batch(long number, Command command) {
    StringBuilder batch = new StringBuilder();
    for (long i = number * BATCH; i < (number + 1) * BATCH; i++) {
      batch.append(command.of(i));
    }
    return batch.toString();
  }

  private static String bulk(String lines) {
    return "POST /v1/counters/bulk HTTP/1.1\r\n%s%sContent-Length: %d\r\n\r\n%s"
        .formatted(HOST, NDJSON, lines.length(), lines);
  }

  /** Sends single bytes at long intervals. */
  private static String trickle(long number) {
    if (number % 20 == 0) {
      pause(Duration.ofMillis(20));
    }
    return "x";
  }

  /**
   * Returns an id that collides with all others in a table that mixes {@code high ^ rotateLeft(low,
   * 29)}.
   */
  private static String craftedAdd(long number) {
    long low = (number % CRAFTED_IDS_MAX + 1) * 0x9E3779B97F4A7C15L;
    long high = Long.rotateLeft(low, 29) ^ 0x1234_5678_9ABC_DEF0L;
    return "QUIPU.ADD crafted 1 ID %016x%016x\r\n".formatted(high, low);
  }

  /** Returns a name with the same {@link String#hashCode} as all others. */
  private static String craftedName(long number) {
    StringBuilder name = new StringBuilder();
    for (long bits = number % CRAFTED_NAMES_MAX, i = 0; i < 15; i++, bits >>= 1) {
      name.append((bits & 1) == 0 ? "Aa" : "BB");
    }
    return name.toString();
  }

  private static String together(AtomicBoolean stop, Attacker... attackers) {
    List<String> said = new ArrayList<>();
    try (ExecutorService executor = Executors.newCachedThreadPool()) {
      List<Future<String>> running = new ArrayList<>();
      for (Attacker each : attackers) {
        running.add(executor.submit(each::attack));
      }
      for (Future<String> each : running) {
        said.add(each.get());
      }
    } catch (InterruptedException | ExecutionException e) {
      stop.set(true);
      throw new IllegalStateException(e);
    }
    return String.join("; ", said);
  }

  private static Socket connect(int port) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(10_000);
    return socket;
  }

  /** Sends a request and reads replies, at least one, until no more arrive. */
  private static void ask(int port, String request) {
    try (Socket socket = connect(port)) {
      OutputStream out = socket.getOutputStream();
      out.write(request.getBytes(StandardCharsets.ISO_8859_1));
      out.flush();
      socket.shutdownOutput();
      InputStream in = socket.getInputStream();
      byte[] answer = new byte[64 << 10];
      if (in.read(answer) < 0) {
        throw new IllegalStateException("no answer at port " + port);
      }
      while (in.read(answer) >= 0) {
        // drained
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // it is closed
    }
  }

  private static void pause(Duration duration) {
    try {
      Clock.system().sleep(duration);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
