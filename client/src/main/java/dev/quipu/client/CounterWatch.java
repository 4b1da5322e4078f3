package dev.quipu.client;

import dev.quipu.NotAppliedException;
import dev.quipu.QuipuException;
import dev.quipu.Reason;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Receives the changes of counters of a server, which counts on its engine. After a lost connection
 * it connects again, to the next server if there are several, and is sent what it missed. Not
 * thread-safe.
 */
public final class CounterWatch {
  private static final Duration RETRY = Duration.ofSeconds(1);
  private static final JsonMapper MAPPER = JsonMapper.shared();

  /** What an event means. */
  public enum Kind {
    /** Forget all counters: the present ones follow. */
    RESET,
    /** These counters have these values. */
    COUNTERS,
    /** All present counters were received; changes follow. */
    COMPLETE,
    /** Some changes were not received, and the present counters do not follow. */
    MISSED,
    /** The connection was lost; {@link #CONNECTED} follows when there is one again. */
    LOST,
    /** There is a connection again; if the server was started again, {@link #RESET} follows. */
    CONNECTED
  }

  /**
   * A counter.
   *
   * @param value a decimal with the digits of its scale; empty if the counter no longer exists
   */
  public record Counted(String name, Optional<String> value) {}

  /**
   * An event.
   *
   * @param counters of an event of kind {@link Kind#COUNTERS}
   */
  public record Event(Kind kind, List<Counted> counters) {}

  private final ServerCalls calls;
  private final String path;
  private String lastId = "";
  private boolean wasConnected;

  /**
   * Creates a watch of the counters whose names start with a prefix; it does not connect yet.
   *
   * @param present whether to receive the present counters first, and not only changes
   */
  public CounterWatch(ServerCalls calls, String prefix, boolean present) {
    this.calls = calls;
    this.path = "/v1/watch?prefix=%s&present=%s".formatted(ServerCalls.encode(prefix), present);
  }

  /**
   * Passes on events until an action returns false, or the thread is interrupted.
   *
   * @throws QuipuException if no server could be reached at first, or one denies access
   * @throws UnsupportedOperationException if the server counts on another store than its engine
   */
  public void forEach(Predicate<Event> action) {
    boolean goesOn = true;
    boolean isLost = false;
    while (goesOn) {
      try (InputStream in = calls.open(path, lastId)) {
        wasConnected = true;
        goesOn = !isLost || action.test(new Event(Kind.CONNECTED, List.of()));
        isLost = false;
        goesOn = goesOn && read(in, action);
      } catch (IOException e) {
        // As at its end.
      } catch (QuipuException e) {
        if (!wasConnected || !e.reason().isTemporary()) {
          throw e;
        }
      }
      if (goesOn && !isLost) { // once, also if it takes several attempts
        isLost = true;
        goesOn = action.test(new Event(Kind.LOST, List.of()));
      }
      goesOn = goesOn && pause();
    }
  }

  private boolean pause() {
    try {
      calls.clock().sleep(RETRY);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Passes on the events of a response to its end; returns false if an action did. */
  private boolean read(InputStream in, Predicate<Event> action) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    String type = "";
    String id = "";
    String data = "";
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("event: ")) {
        type = line.substring("event: ".length());
      } else if (line.startsWith("id: ")) {
        id = line.substring("id: ".length());
      } else if (line.startsWith("data: ")) {
        data = line.substring("data: ".length());
      } else if (line.isEmpty() && !data.isEmpty()) {
        if (!action.test(event(type, data))) {
          return false;
        }
        lastId = id.isEmpty() ? lastId : id; // after it was handled
        type = "";
        id = "";
        data = "";
      }
    }
    return true;
  }

  private static Event event(String type, String data) {
    return switch (type) {
      case "reset" -> new Event(Kind.RESET, List.of());
      case "complete" -> new Event(Kind.COMPLETE, List.of());
      case "missed" -> new Event(Kind.MISSED, List.of());
      case "counters" -> {
        List<Counted> counters = new ArrayList<>();
        for (JsonNode each : MAPPER.readTree(data)) {
          JsonNode value = each.path("value");
          counters.add(
              new Counted(
                  each.path("name").asString(),
                  value.isMissingNode() ? Optional.empty() : Optional.of(value.asString())));
        }
        yield new Event(Kind.COUNTERS, counters);
      }
      default ->
          throw new NotAppliedException(
              Reason.UNAVAILABLE, "the server sent an event of unknown type " + type, null);
    };
  }
}
