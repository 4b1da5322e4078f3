package dev.quipu.server.http;

import dev.quipu.Add;
import dev.quipu.ItemResult;
import dev.quipu.Limits;
import dev.quipu.OutcomeUnknownException;
import dev.quipu.Reason;
import dev.quipu.server.http.message.Exchange;
import dev.quipu.server.http.message.HttpReply;
import dev.quipu.server.http.route.Route;
import dev.quipu.server.net.HostProcess;
import dev.quipu.server.net.Incidents;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Adds of one event loop to the engine: the loop reads what all its connections have received, then
 * commits it as one group and waits for the disk itself, which is faster than a handover to another
 * thread for each. Confined to its event loop.
 */
final class LoopAdds {
  private final Executor loop;
  private final Function<List<Add>, List<ItemResult>> engine;
  private final HostProcess host;
  private List<Waiting> waiting = new ArrayList<>();
  private boolean isScheduled;

  /** Creates the adds of a loop; {@code engine} returns when they are durable. */
  LoopAdds(Executor loop, Function<List<Add>, List<ItemResult>> engine, HostProcess host) {
    this.loop = loop;
    this.engine = engine;
    this.host = host;
  }

  private record Waiting(Add add, Consumer<ItemResult> then) {}

  /**
   * Makes the add of a request with the next group, if it makes one.
   *
   * @param then receives the reply
   * @return false if its route must run as a whole
   */
  boolean takes(
      Dispatcher dispatcher,
      Route route,
      PendingRequest call,
      Exchange.TimeLeft timeLeft,
      Consumer<HttpReply> then) {
    try {
      Optional<Route.Part> part = dispatcher.part(route, call, timeLeft);
      part.ifPresent(each ->
          add(
              each.add(),
              result -> then.accept(dispatcher.guarded(route, () -> each.reply().apply(result)))));
      return part.isPresent();
    } catch (Throwable e) { // also an Error: otherwise the memory of the request stays reserved
      then.accept(dispatcher.failed(route, e));
      return true;
    }
  }

  /** Makes an add with the next group, and passes its result on. */
  void add(Add add, Consumer<ItemResult> then) {
    if (!isScheduled) {
      loop.execute(this::commit); // after the loop has read the input of its connections
      isScheduled = true;
    }
    waiting.add(new Waiting(add, then));
  }

  private void commit() {
    isScheduled = false; // before anything that may fail: a later add commits what waits
    List<Waiting> all = waiting;
    waiting = new ArrayList<>();
    for (int from = 0; from < all.size(); from += Limits.BULK_ADDS_MAX) {
      commit(all.subList(from, Math.min(all.size(), from + Limits.BULK_ADDS_MAX)));
    }
  }

  private void commit(List<Waiting> group) {
    List<ItemResult> results;
    try {
      List<Add> adds = new ArrayList<>(group.size());
      for (Waiting each : group) {
        adds.add(each.add);
      }
      results = engine.apply(adds);
    } catch (RuntimeException e) { // in any case, the waiting clients must get a reply
      results = Collections.nCopies(group.size(), new ItemResult.Failed(e));
    } catch (Error e) { // the engine has already stopped itself if the error is its own
      host.onError().accept(e);
      var unknown = new OutcomeUnknownException(Reason.UNAVAILABLE, "the engine stopped: " + e, e);
      results = Collections.nCopies(group.size(), new ItemResult.Failed(unknown));
    }
    for (int i = 0; i < group.size(); i++) {
      try {
        group.get(i).then.accept(results.get(i));
      } catch (RuntimeException e) { // of this connection alone
        Incidents.inConnection("Unhandled exception after a commit", e);
      } catch (Error e) { // the others must get a reply
        host.onError().accept(e);
      }
    }
  }
}
