package dev.quipu.server.http.route;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetResult;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.Failures;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.message.Problem;
import dev.quipu.server.http.message.Reservation;
import dev.quipu.server.net.HostProcess;
import dev.quipu.time.Clock;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Replies of the routes that set and delete counters, over counters in a map. */
final class CounterRoutesTest {
  private final Map<String, Long> values = new HashMap<>();

  /** Counters that support neither {@code set} nor {@code delete}. */
  private class ReadOnlyCounters implements Counters {
    @Override
    public String technique() {
      return "map";
    }

    @Override
    public Set<Guarantee> guarantees() {
      return Set.of();
    }

    @Override
    public AddResult add(Add add) {
      throw new UnsupportedOperationException("add");
    }

    @Override
    public Optional<Reading> read(String counter) {
      return Optional.ofNullable(values.get(counter)).map(Reading::exact);
    }

    @Override
    public CounterPage list(String prefix, String after, int limit) {
      throw new UnsupportedOperationException("list");
    }

    @Override
    public RequestOutcome outcome(String counter, RequestId id) {
      throw new UnsupportedOperationException("outcome");
    }

    @Override
    public RequestOutcome cancel(String counter, RequestId id) {
      throw new UnsupportedOperationException("cancel");
    }
  }

  private final class WritableCounters extends ReadOnlyCounters {
    @Override
    public SetResult set(String counter, long value, OptionalLong ifValue) {
      Long found = values.get(counter);
      if (ifValue.isPresent() && ifValue.getAsLong() != (found == null ? 0 : found)) {
        return new SetResult.Mismatch(
            found == null ? OptionalLong.empty() : OptionalLong.of(found));
      }
      values.put(counter, value);
      return new SetResult.Done(value);
    }

    @Override
    public void delete(String counter) {
      values.remove(counter);
    }
  }

  private static final HostProcess HOST = HostProcess.alone();
  private static final Failures FAILURES = new Failures(HOST, "map", "heap");

  private static CounterRoutes routes(Counters counters) {
    Balances none =
        new Balances(() -> {
          throw new UnsupportedOperationException();
        });
    RankRoutes ranks = new RankRoutes(counters, Clock.system());
    return new CounterRoutes(counters, Supplier::get, none, ranks, FAILURES);
  }

  private static Exchange exchange(HttpMethod method, String name, String body) {
    HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, method, "/");
    request.headers().set("Content-Type", "application/json");
    return new Exchange(
        request,
        name,
        Map.of(),
        ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8)),
        new Reservation(HOST.budget()),
        new Exchange.TimeLeft(Clock.system(), Clock.system().nanoTime(), Duration.ofSeconds(15)),
        false);
  }

  private HttpReply set(String name, String body) {
    return routes(new WritableCounters()).set(exchange(HttpMethod.PUT, name, body));
  }

  private static String body(HttpReply reply) {
    return new String(reply.parts().getFirst(), StandardCharsets.UTF_8);
  }

  @Test
  void aValueIsSet() {
    HttpReply reply = set("a", "{\"value\":\"-5\"}");
    assertEquals(200, reply.status());
    assertEquals("{\"name\":\"a\",\"value\":\"-5\"}", body(reply));
    assertEquals(200, set("a", "{\"value\":7,\"ifValue\":-5}").status());
    assertEquals(200, set("new", "{\"value\":1,\"ifValue\":0}").status());
    assertEquals(Map.of("a", 7L, "new", 1L), values);
  }

  @Test
  void aMismatchStatesTheValue() {
    values.put("a", 4L);
    Problem mismatch =
        assertThrows(Problem.class, () -> set("a", "{\"value\":7,\"ifValue\":\"3\"}"));
    assertEquals(
        "{\"type\":\"/problems/value-mismatch\",\"title\":\"Value mismatch\",\"status\":409,"
            + "\"detail\":\"counter a is 4, and ifValue is 3; nothing changed\","
            + "\"name\":\"a\",\"value\":\"4\"}",
        body(HttpReply.of(mismatch)));
    Problem absent = assertThrows(Problem.class, () -> set("b", "{\"value\":7,\"ifValue\":3}"));
    assertFalse(absent.members().containsKey("value"));
    assertEquals(Map.of("a", 4L), values);
  }

  @Test
  void aCounterIsDeletedOnceOrTwice() {
    values.put("a/b", 4L);
    for (int i = 0; i < 2; i++) {
      HttpReply reply =
          routes(new WritableCounters()).delete(exchange(HttpMethod.DELETE, "a/b", ""));
      assertEquals(204, reply.status());
      assertEquals(Map.of(), values);
    }
  }

  @Test
  void anUnsupportedOperationNamesTechniqueAndStore() {
    CounterRoutes routes = routes(new ReadOnlyCounters());
    Exchange request = exchange(HttpMethod.DELETE, "a", "");
    Problem problem =
        FAILURES.problem(
            assertThrows(UnsupportedOperationException.class, () -> routes.delete(request)),
            "/v1/counters/{name}");
    assertEquals(501, problem.status());
    assertEquals(
        "{\"type\":\"/problems/unsupported\","
            + "\"title\":\"Not supported by technique `map` on store `heap`\",\"status\":501,"
            + "\"detail\":\"map cannot delete a counter exactly\",\"outcome\":\"not-applied\"}",
        body(HttpReply.of(problem)));
    assertThrows(
        UnsupportedOperationException.class,
        () -> routes.set(exchange(HttpMethod.PUT, "a", "{\"value\":1}")));
  }
}
