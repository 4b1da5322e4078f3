package dev.quipu.server.cli.access;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.ItemResult;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetResult;
import dev.quipu.presence.Online;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.view.ViewEvent;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Access of commands to counters: on a running server, or in a data directory. */
public interface Access extends AutoCloseable {
  /** Adds exactly once. */
  AddResult add(Add add);

  /** Executes several adds, each independently. */
  List<ItemResult> addAll(List<Add> adds);

  /** Returns the value of a counter; empty if it was never written, or was deleted. */
  Optional<Reading> read(String counter);

  /** Returns the values of up to 1,000 counters, in the order of the names. */
  List<Optional<Reading>> readAll(List<String> counters);

  /** Sets the value of a counter; {@code ifValue} is the value that it must have. */
  SetResult set(String counter, long value, OptionalLong ifValue);

  /** Deletes a counter, if it exists. */
  void delete(String counter);

  /** Returns a page of counters ordered by name. */
  CounterPage list(String prefix, String after, int limit);

  /** Returns the outcome of a request, which is canceled first if {@code cancel}. */
  RequestOutcome outcome(String counter, RequestId id, boolean cancel);

  /** Returns the unique views of a page; empty if it was never viewed. */
  OptionalLong views(String url, Optional<Instant> from, Optional<Instant> until);

  /**
   * Counts views.
   *
   * @return the number that counted now; the others had been counted before
   */
  int addViews(List<ViewEvent> events);

  /** Returns the number of clients online in a room. */
  Online online(String room);

  /** Records that a client is in a room now. */
  void seen(String room, String client);

  /** Stores a record under the next number of a series. */
  SequenceOfRecords.Result next(String series, String payload, RequestId id);

  @Override
  void close();
}
