package dev.quipu.client;

import static dev.quipu.client.Reply.number;
import static dev.quipu.client.Reply.required;
import static dev.quipu.client.Reply.scale;
import static dev.quipu.client.ServerCalls.encode;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.CounterPage;
import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetRequest;
import dev.quipu.SetResult;
import dev.quipu.Uncertainty;
import dev.quipu.client.Request.Effect;
import dev.quipu.time.Randomness;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The counters of a server. Concurrent adds are sent together, and repeated under the same request
 * id until the deadline; an add without an id gets one, if the server remembers ids. Set and delete
 * have no id, and are repeated only if they were certainly not applied.
 */
public final class RemoteCounters implements Counters, AutoCloseable {
  private final ServerCalls calls;
  private final AddQueue queue;

  /** Unique for each client; with {@link #idsLow} counting up, ids need no randomness. */
  private final long idsHigh = Randomness.secure().nextLong();

  private final AtomicLong idsLow = new AtomicLong(Randomness.secure().nextLong());
  private final SharedInfo info;

  /** Creates counters, and closes the calls with them. */
  public RemoteCounters(ServerCalls calls) {
    this.calls = calls;
    queue = new AddQueue(calls);
    info = new SharedInfo(() -> ServerInfo.of(calls.send(Request.get(ServerInfo.PATH))));
  }

  private ServerInfo info(long deadline) {
    return info.get(deadline - calls.clock().nanoTime());
  }

  @Override
  public String technique() {
    return info(calls.deadlineNanos()).technique();
  }

  @Override
  public Set<Guarantee> guarantees() {
    return info(calls.deadlineNanos()).guarantees();
  }

  @Override
  public Bounds bounds() {
    return info(calls.deadlineNanos()).bounds();
  }

  @Override
  public AddResult add(Add add) {
    return addTogether(List.of(add), calls.deadlineNanos()).getFirst().result();
  }

  @Override
  public List<ItemResult> addAll(List<Add> adds) {
    Limits.checkBatch(adds.size());
    long deadline = calls.deadlineNanos();
    List<ItemResult> results = new ArrayList<>(adds.size());
    while (results.size() < adds.size()) {
      int from = results.size();
      int to = Math.min(adds.size(), from + AddQueue.BATCH_ADDS_MAX);
      results.addAll(addTogether(List.copyOf(adds.subList(from, to)), deadline));
    }
    return results;
  }

  /** Ignores {@code mayBegin} and {@code mayWait}: the deadline of the call is earlier. */
  @Override
  public List<ItemResult> addAll(
      List<Add> adds, BooleanSupplier mayBegin, BooleanSupplier mayWait) {
    return addAll(adds);
  }

  private List<ItemResult> addTogether(List<Add> adds, long deadline) {
    @Nullable RequestId[] ids = new RequestId[adds.size()];
    for (int i = 0; i < ids.length; i++) {
      RequestId id = adds.get(i).id();
      ids[i] = id != null ? id : info(deadline).givesIds() ? newId() : null;
    }
    PendingAdds pending = new PendingAdds(adds, ids, deadline);
    queue.submit(pending);
    return pending.await();
  }

  private RequestId newId() {
    return RequestId.of(idsHigh, idsLow.getAndIncrement());
  }

  @Override
  public Optional<Reading> read(String counter) {
    Reply reply = calls.send(Request.get(path(counter)));
    return reply.status() == 404 ? Optional.empty() : Optional.of(reading(reply.ok()));
  }

  @Override
  public List<Optional<Reading>> readAll(List<String> counters) {
    Limits.checkReads(counters.size());
    Reply reply =
        calls.send(
            Request.json("POST", "/v1/counters/read", Effect.NONE, Map.of("names", counters)));
    List<Optional<Reading>> readings = new ArrayList<>();
    for (JsonNode each : reply.ok().path("counters")) {
      readings.add(each.has("value") ? Optional.of(reading(each)) : Optional.empty());
    }
    if (readings.size() != counters.size()) {
      throw reply.malformed(
          "%d counters in the response to %d names".formatted(readings.size(), counters.size()),
          null);
    }
    return readings;
  }

  @Override
  public SetResult set(String counter, long value, OptionalLong ifValue) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("value", value);
    ifValue.ifPresent(expected -> members.put("ifValue", expected));
    return setResult(Request.json("PUT", path(counter), Effect.ONCE, members).inUnits());
  }

  @Override
  public SetResult set(SetRequest request) {
    Map<String, Object> members = new LinkedHashMap<>();
    request.value().ifPresent(value -> members.put("value", value.toString()));
    request.ifValue().ifPresent(value -> members.put("ifValue", value.toString()));
    request.scale().ifPresent(scale -> members.put("scale", scale));
    return setResult(Request.json("PUT", path(request.counter()), Effect.ONCE, members));
  }

  private SetResult setResult(Request request) {
    Reply reply = calls.send(request);
    JsonNode problem = reply.problem();
    return switch (problem.path("type").asString("")) {
      case "/problems/value-mismatch" ->
          new SetResult.Mismatch(number(problem, "value"), scale(problem, "value"));
      case "/problems/scale-fixed" -> new SetResult.OtherScale(problem.path("scale").asInt(0));
      default -> {
        JsonNode done = reply.ok();
        yield new SetResult.Done(required(done, "value", true), scale(done, "value"));
      }
    };
  }

  @Override
  public void delete(String counter) {
    calls.send(Request.bare("DELETE", path(counter), Effect.ONCE)).require(204);
  }

  private static String path(String counter) {
    return "/v1/counters/" + encode(Limits.checkText("name", counter, Limits.NAME_BYTES_MAX));
  }

  private static Reading reading(JsonNode node) {
    return new Reading(
        required(node, "value", false),
        required(node, "low", false),
        required(node, "high", false),
        uncertainties(node.path("uncertainty")),
        scale(node, "value"));
  }

  static List<Uncertainty> uncertainties(JsonNode nodes) {
    List<Uncertainty> uncertainties = new ArrayList<>();
    for (JsonNode node : nodes) {
      String word = node.path("cause").asString("");
      for (Uncertainty.Cause cause : Uncertainty.Cause.values()) {
        if (cause.word().equals(word)) {
          long amount = number(node, "amount").orElse(Long.MAX_VALUE);
          uncertainties.add(new Uncertainty(cause, node.path("where").asString(""), amount));
        }
      }
    }
    return uncertainties;
  }

  @Override
  public CounterPage list(String prefix, String after, int limit) {
    String path = "/v1/counters?prefix=" + encode(prefix) + "&limit=" + limit;
    // A cursor of the server is the last name of a page.
    String cursor =
        Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(after.getBytes(StandardCharsets.UTF_8));
    Request request = Request.get(after.isEmpty() ? path : path + "&cursor=" + cursor);
    return PageReader.read(calls.send(request).require(200));
  }

  @Override
  public RequestOutcome outcome(String counter, RequestId id) {
    return outcome(calls.send(Request.get(path(counter, id, ""))).ok());
  }

  @Override
  public RequestOutcome cancel(String counter, RequestId id) {
    Request request =
        Request.json("POST", path(counter, id, "/cancel"), Effect.REPEATABLE, Map.of());
    return outcome(calls.send(request).ok());
  }

  private static String path(String counter, RequestId id, String action) {
    return "/v1/requests/" + encode(id.text()) + action + "?counter=" + encode(counter);
  }

  private static RequestOutcome outcome(JsonNode node) {
    return switch (node.path("outcome").asString("")) {
      case "applied" ->
          new RequestOutcome.Applied(
              required(node, "added", true), number(node, "value"), scale(node, "added"));
      case "canceled" -> new RequestOutcome.Canceled();
      default -> new RequestOutcome.NotSeen();
    };
  }

  @Override
  public void close() {
    queue.close();
    calls.close();
  }
}
