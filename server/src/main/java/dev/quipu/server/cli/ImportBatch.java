package dev.quipu.server.cli;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.ItemResult;
import dev.quipu.Outcome;
import dev.quipu.QuipuException;
import dev.quipu.SetRequest;
import dev.quipu.server.cli.access.Access;
import dev.quipu.server.cli.access.Attempts;
import dev.quipu.server.cli.input.CounterLine;
import dev.quipu.view.ViewEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Lines of an import that are sent together, and what became of them. Not thread-safe. */
final class ImportBatch {
  private final List<ViewEvent> events = new ArrayList<>();
  private final List<Add> adds = new ArrayList<>();
  private final List<Long> addLines = new ArrayList<>(); // the line number of each
  private final Map<String, Integer> scales = new HashMap<>(); // of their counters
  private final List<Skipped> skipped = new ArrayList<>();
  private long counted;
  private long before;

  /** A line that was not counted. */
  record Skipped(long line, String why) {}

  void add(ViewEvent event) {
    events.add(event);
  }

  void add(long line, CounterLine.Line parsed) {
    adds.add(parsed.add());
    addLines.add(line);
    if (parsed.scale() != 0) {
      scales.put(parsed.add().counter(), parsed.scale());
    }
  }

  /** Returns the number of lines that are left to be sent. */
  int size() {
    return events.size() + adds.size();
  }

  /** Returns the number of lines that were counted now. */
  long counted() {
    return counted;
  }

  /** Returns the number of lines that had been counted before. */
  long before() {
    return before;
  }

  List<Skipped> skipped() {
    return skipped;
  }

  /**
   * Sends all lines.
   *
   * @throws QuipuException if some were not counted, or their outcome is unknown
   */
  void send(Access access, Attempts attempts) {
    if (!events.isEmpty()) {
      int now = attempts.repeat(() -> access.addViews(events));
      counted += now;
      before += events.size() - now;
      events.clear();
    }
    scales.forEach((name, scale) -> fixScale(access, attempts, name, scale));
    while (!adds.isEmpty()) {
      int left = adds.size();
      try {
        attempts.repeat(() -> addAll(access));
      } catch (QuipuException e) {
        boolean isLate = e.outcome() == Outcome.NOT_APPLIED && e.reason().isTemporary();
        if (!isLate || adds.size() == left) {
          throw e;
        } // the server had no time for all of them
      }
    }
  }

  /** Fixes the scale of a new counter; one that exists keeps its own, to which adds must fit. */
  private static void fixScale(Access access, Attempts attempts, String name, int scale) {
    SetRequest request =
        new SetRequest(name, Optional.empty(), Optional.empty(), OptionalInt.of(scale));
    try {
      var unused = attempts.repeat(() -> access.counters().set(request));
    } catch (UnsupportedOperationException e) {
      // This store gives counters a scale by their names: the add fits to that, or is skipped.
    }
  }

  /** Adds the rest; throws if some adds must be repeated. */
  private List<ItemResult> addAll(Access access) {
    List<ItemResult> results = access.counters().addAll(adds);
    List<Add> left = new ArrayList<>();
    List<Long> leftLines = new ArrayList<>();
    QuipuException why = null;
    for (int i = 0; i < results.size(); i++) {
      long line = addLines.get(i);
      switch (results.get(i)) {
        case AddResult.Applied applied -> counted++;
        case AddResult.Replayed replayed -> before++;
        case AddResult.Rejected rejected -> skip(line, rejected.why() + " rejected it");
        case AddResult.Conflict conflict -> skip(line, "id: used for a different request before");
        case ItemResult.Failed(QuipuException e) -> {
          why = why == null || e.outcome() == Outcome.UNKNOWN ? e : why;
          left.add(adds.get(i));
          leftLines.add(line);
        }
        case ItemResult.Failed(RuntimeException e) -> skip(line, String.valueOf(e.getMessage()));
      }
    }
    adds.clear();
    adds.addAll(left);
    addLines.clear();
    addLines.addAll(leftLines);
    if (why != null) {
      throw why;
    }
    return results;
  }

  private void skip(long line, String why) {
    skipped.add(new Skipped(line, why));
  }
}
