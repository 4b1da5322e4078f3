package dev.quipu.simulation.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** RESP 2 and 3: commands as arrays, one reply each. */
public final class RedisProtocol implements Protocol {
  private static final Set<String> READS =
      Set.of(
          "GET",
          "MGET",
          "HGET",
          "HGETALL",
          "HMGET",
          "ZRANGE",
          "FCALL_RO",
          "EVAL_RO",
          "QUIPU.HOLDINFO");
  private static final Set<String> WRITES =
      Set.of(
          "SET",
          "DEL",
          "INCR",
          "INCRBY",
          "DECR",
          "DECRBY",
          "HSET",
          "HINCRBY",
          "HDEL",
          "ZADD",
          "EVAL",
          "EVALSHA",
          "FCALL",
          "QUIPU.ADD",
          "QUIPU.TX",
          "QUIPU.HOLD",
          "QUIPU.SETTLE",
          "QUIPU.RELEASE",
          "QUIPU.EXTEND");

  /** Creates the protocol. */
  public RedisProtocol() {}

  @Override
  public Session open() {
    return new RedisSession();
  }

  private static final class RedisSession implements Session {
    @Override
    public @Nullable Request read(InputStream client) throws IOException {
      Wire wire = new Wire(client);
      String head = wire.line();
      if (head == null) {
        return null;
      }
      List<String> words = new ArrayList<>();
      if (head.startsWith("*")) {
        int count = Integer.parseInt(head.substring(1));
        for (int i = 0; i < count; i++) {
          int length = Integer.parseInt(wire.nextLine().substring(1));
          String word = Wire.latin1(wire.take(length + 2));
          words.add(word.substring(0, length));
        }
      } else {
        words.addAll(List.of(head.split(" ", -1)));
      }
      return new Request(wire.kept(), wire.kept(), kind(words));
    }

    private static Kind kind(List<String> words) {
      String name = words.getFirst().toUpperCase(Locale.ROOT);
      if (READS.contains(name)) {
        return Kind.READ;
      }
      // Quipu's functions for reads are called like those for writes.
      boolean reads = name.equals("FCALL") && words.size() > 1 && !words.get(1).contains("_write_");
      return reads ? Kind.READ : WRITES.contains(name) ? Kind.WRITE : Kind.OTHER;
    }

    @Override
    public byte[] reply(Request request, InputStream store) throws IOException {
      Wire wire = new Wire(store);
      while (value(wire)) {
        // a push message of the server is not the reply
      }
      return wire.kept();
    }

    /** Reads one value; returns whether it is a push message. */
    private static boolean value(Wire wire) throws IOException {
      String line = wire.nextLine();
      char type = line.charAt(0);
      switch (type) {
        case '$', '=', '!' -> {
          int length = Integer.parseInt(line.substring(1));
          if (length >= 0) {
            wire.take(length + 2);
          }
        }
        case '*', '~', '>' -> values(wire, Integer.parseInt(line.substring(1)));
        case '%', '|' -> values(wire, 2 * Integer.parseInt(line.substring(1)));
        default -> {
          // the line is complete
        }
      }
      return type == '>' || type == '|';
    }

    private static void values(Wire wire, int count) throws IOException {
      for (int i = 0; i < count; i++) {
        value(wire);
      }
    }

    /** Quipu's function returns an array whose first element is the outcome. */
    @Override
    public boolean isApplied(Request request, byte[] reply) {
      String text = Wire.latin1(reply);
      boolean rejected =
          text.contains("\r\n$5\r\nunmet\r\n") || text.contains("\r\n$4\r\ntype\r\n");
      return !text.startsWith("-") && !rejected;
    }

    @Override
    public Optional<byte[]> error(WireFault fault) {
      return switch (fault) {
        case THROTTLED -> Optional.of(Wire.latin1("-BUSY injected: a script is running\r\n"));
        case ERROR_BEFORE_APPLY -> Optional.of(Wire.latin1("-LOADING injected\r\n"));
        default -> Optional.empty();
      };
    }
  }
}
