package dev.quipu.server;

import dev.quipu.simulation.proxy.HttpProtocol;
import dev.quipu.simulation.proxy.Protocol;
import dev.quipu.simulation.proxy.WireFault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A server that is wrong about holds, as a proxy in front of one that is right. */
enum BudgetCheat {
  /** Acknowledges a settlement that it forgets. */
  SETTLE_LOST,
  /** Acknowledges a release that it forgets. */
  RELEASE_LOST,
  /** Returns twice what a released hold reserved. */
  RELEASE_TWICE,
  /** Charges a settlement twice. */
  SETTLE_TWICE,
  /** Rejects a hold although enough is available. */
  REJECTION,
  /** Ignores the floor. */
  FLOOR_IGNORED;

  private static final Pattern STEP =
      Pattern.compile("POST /v1/holds(?:/(\\S+)/(settle|release))? HTTP");
  private static final Pattern PLACED =
      Pattern.compile(
          "Idempotency-Key: \"(.*)\"(?s:.*)\"counter\":\"([^\"]+)\",\"delta\":-(\\d{3,})");

  /** Answered steps of the kind before the one that is wrong. */
  private static final int BEFORE = 5;

  /** Returns the protocol for a proxy. */
  Protocol protocol() {
    AtomicInteger steps = new AtomicInteger();
    Map<String, Placed> placed = new ConcurrentHashMap<>();
    return () -> new Session(this, new HttpProtocol().open(), steps, placed);
  }

  /** A hold that is open. */
  private record Placed(String counter, String amount) {}

  /**
   * A connection.
   *
   * @param steps number of steps of the kind so far
   * @param placed counter and amount of open holds that are not small, by id
   */
  private record Session(
      BudgetCheat cheat, Protocol.Session right, AtomicInteger steps, Map<String, Placed> placed)
      implements Protocol.Session {
    @Override
    public Protocol.@Nullable Request read(InputStream client) throws IOException {
      Protocol.Request request = right.read(client);
      if (request == null) {
        return null;
      }
      String text = new String(request.bytes(), StandardCharsets.ISO_8859_1);
      Matcher step = STEP.matcher(text);
      if (!step.lookingAt()) {
        return request;
      }
      String action = step.group(2);
      if (action == null) {
        note(text);
      }
      boolean isOfKind =
          (action == null ? "place" : action).equals(cheat.action())
              && (action == null || placed.containsKey(step.group(1)));
      boolean isNow =
          isOfKind
              && steps.getAndIncrement() >= BEFORE
              && (cheat == FLOOR_IGNORED || steps.get() == BEFORE + 1);
      Protocol.Request forwarded = isNow ? request(cheated(text, step)) : request;
      if (action != null) {
        placed.remove(step.group(1));
      }
      return forwarded;
    }

    private void note(String text) {
      Matcher found = PLACED.matcher(text);
      if (found.find()) {
        placed.put(found.group(1).replace("/", "%2F"), new Placed(found.group(2), found.group(3)));
      }
    }

    private static Protocol.Request request(String text) {
      byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
      return new Protocol.Request(bytes, bytes, Protocol.Kind.WRITE);
    }

    private String cheated(String text, Matcher step) {
      return switch (cheat) {
        case SETTLE_LOST, RELEASE_LOST -> // the client sees that of an open hold
            "GET /v1/holds/%s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(step.group(1));
        case RELEASE_TWICE -> text + add(open(step), open(step).amount);
        case SETTLE_TWICE -> text + add(open(step), "-1");
        case REJECTION -> withFloor(text, Long.MAX_VALUE);
        case FLOOR_IGNORED -> withFloor(text, Long.MIN_VALUE);
      };
    }

    private static String withFloor(String text, long floor) {
      int head = text.indexOf("\r\n\r\n") + 4;
      String body = text.substring(head).replace("\"floor\":0", "\"floor\":" + floor);
      return text.substring(0, head)
              .replaceFirst("Content-Length: \\d+", "Content-Length: " + body.length())
          + body;
    }

    private Placed open(Matcher step) {
      return Objects.requireNonNull(placed.get(step.group(1)));
    }

    private static String add(Placed hold, String amount) {
      String body = "{\"delta\":%s}".formatted(amount);
      return ("POST /v1/counters/%s/add HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
              + " application/json\r\nContent-Length: %d\r\n\r\n%s")
          .formatted(hold.counter, body.length(), body);
    }

    @Override
    public byte[] reply(Protocol.Request request, InputStream store) throws IOException {
      byte[] reply = right.reply(request, store);
      String text = new String(request.bytes(), StandardCharsets.ISO_8859_1);
      if (text.contains("/add HTTP")) {
        byte[] unused = right.reply(request, store);
      }
      return reply;
    }

    @Override
    public boolean isApplied(Protocol.Request request, byte[] reply) {
      return right.isApplied(request, reply);
    }

    @Override
    public Optional<byte[]> error(WireFault fault) {
      return Optional.empty();
    }
  }

  private String action() {
    String name = name().toLowerCase(Locale.ROOT);
    return name.startsWith("settle") ? "settle" : name.startsWith("release") ? "release" : "place";
  }
}
