package dev.quipu.server.cli.access;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.CounterPage;
import dev.quipu.ItemResult;
import dev.quipu.Reading;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.presence.Online;
import dev.quipu.sequence.SequenceOfRecords;
import dev.quipu.view.ViewEvent;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** What commands count on: a running server, or a data directory. */
public interface Access extends AutoCloseable {
  AddResult add(Add add);

  /** Adds several, each by itself. */
  List<ItemResult> addAll(List<Add> adds);

  Optional<Reading> read(String counter);

  CounterPage list(String prefix, String after, int limit);

  RequestOutcome outcome(String counter, RequestId id, boolean cancel);

  OptionalLong views(String url, Optional<Instant> from, Optional<Instant> until);

  /**
   * Counts views.
   *
   * @return how many of them counted now; the others had counted before
   */
  int addViews(List<ViewEvent> events);

  Online online(String room);

  /** A client was seen in a room just now. */
  void seen(String room, String client);

  /** Stores a record under the next number of a series. */
  SequenceOfRecords.Result next(String series, String payload, RequestId id);

  @Override
  void close();
}
