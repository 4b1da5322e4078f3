package dev.quipu.sequence;

import dev.quipu.Limits;
import dev.quipu.QuipuException;
import dev.quipu.RequestId;
import dev.quipu.cache.LruMap;
import dev.quipu.layer.Store;
import dev.quipu.sequence.SequenceOfRecords.Conflict;
import dev.quipu.sequence.SequenceOfRecords.Numbered;
import dev.quipu.sequence.SequenceOfRecords.Result;
import dev.quipu.store.Condition;
import dev.quipu.store.Item;
import dev.quipu.store.Item.Field;
import dev.quipu.store.Key;
import dev.quipu.store.StoreDriver.Consistency;
import dev.quipu.store.StoreProfile.Capability;
import dev.quipu.store.Write;
import dev.quipu.store.Write.Change;
import dev.quipu.store.WriteResult;
import dev.quipu.technique.IdempotentRetry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Assigns the next number of a series to a record: the protocol of {@link SequenceOfRecords}. */
final class Numbering {
  private static final Logger LOGGER = LoggerFactory.getLogger(Numbering.class);
  private static final String NUMBER = "n";
  private static final String NOTE = "request/";
  private static final String CALL = "call";
  private static final String FROM = "from";
  private static final int OTHERS_MAX = 16; // consecutive conflicts before searching again
  private static final int SERIES_MAX = 100_000;
  private static final int TOGETHER_MAX = 50;
  private static final int TOGETHER_BYTES_MAX = 4 * SequenceOfRecords.PAYLOAD_BYTES_MAX;

  private final Store store;
  private final NumberedItems items;
  private final RandomGenerator random;
  private final LruMap<String, Long> known = new LruMap<>(SERIES_MAX);
  private final LruMap<String, CallBatcher<Attempt, Result>> batchers = new LruMap<>(SERIES_MAX);

  Numbering(Store store, NumberedItems items, RandomGenerator random) {
    this.store = store;
    this.items = items;
    this.random = random;
  }

  /** Stores a record under the next number, or finds the one of an earlier attempt. */
  Result add(String series, String payload, @Nullable RequestId id) {
    RequestId own = id == null ? RequestId.random(random) : id;
    Attempt attempt =
        new Attempt(series, own, payload, Long.toHexString(random.nextLong()), id != null);
    if (!store.profile().has(Capability.ATOMIC_BATCH)) {
      return attempt.hasNote ? takeFromNote(attempt) : takeAlone(attempt);
    }
    int requestsMax = Math.min(TOGETHER_MAX, store.profile().batchItemsMax() / 2);
    return batchers
        .computeIfAbsent(series, key -> new CallBatcher<>(requestsMax))
        .call(attempt, attempts -> takeAll(series, attempts));
  }

  private record Attempt(
      String series, RequestId id, String payload, String call, boolean hasNote) {
    boolean isOwn(Item record) {
      return record.text(NumberedRecord.ID).equals(Optional.of(id.bits()));
    }

    /** Returns the result for an existing record under this id. */
    Result found(long number, Item record) {
      return record.text(NumberedRecord.PAYLOAD).equals(Optional.of(payload))
          ? new Numbered(number, !record.text(CALL).equals(Optional.of(call)))
          : new Conflict(number);
    }
  }

  private Key noteKey(Attempt attempt) {
    return new Key(items.partition(attempt.series), NOTE + attempt.id.bits());
  }

  private Write record(Attempt attempt, long number) {
    Map<String, Field> fields =
        Map.of(
            NumberedRecord.ID,
            new Field.Text(attempt.id.bits()),
            NumberedRecord.PAYLOAD,
            new Field.Text(attempt.payload),
            NumberedRecord.AT,
            new Field.Number(store.clock().epochMillis()),
            CALL,
            new Field.Text(attempt.call));
    return new Write.Put(items.key(attempt.series, number), fields, new Condition.Absent());
  }

  /** Returns a number that is taken, close to the highest. */
  private long start(String series) {
    Long last = known.get(series);
    return last == null ? last(series) : last;
  }

  private void remember(String series, long number) {
    known.merge(series, number, Math::max);
  }

  /**
   * Makes steps 2a to 2d for some numbers above one that is taken; empty if other requests have all
   * of them.
   */
  private Optional<Result> takeNext(Attempt attempt, long taken) {
    for (long number = taken + 1; number <= taken + OTHERS_MAX; number++) {
      Write record = record(attempt, number);
      WriteResult result = untilKnown(attempt, () -> store.write(record));
      switch (result) {
        case WriteResult.Applied applied -> {
          remember(attempt.series, number);
          return Optional.of(new Numbered(number, false));
        }
        case WriteResult.ConditionFailed failed -> {
          Item found = failed.found().orElseThrow();
          if (attempt.isOwn(found)) {
            return Optional.of(attempt.found(number, found));
          }
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Makes an attempt with an id that is not shared: a number that was passed belongs to another
   * request permanently.
   */
  private Result takeAlone(Attempt attempt) {
    long taken = start(attempt.series);
    while (true) {
      Optional<Result> numbered = takeNext(attempt, taken);
      if (numbered.isPresent()) {
        return numbered.get();
      }
      taken = Math.max(taken + OTHERS_MAX, last(attempt.series));
    }
  }

  private List<Result> takeAll(String series, List<Attempt> attempts) {
    Map<Attempt, Result> results = new HashMap<>();
    List<Attempt> left = new ArrayList<>(attempts);
    while (!left.isEmpty()) { // duplicates of one id are numbered one after the other
      Map<RequestId, Attempt> distinct = new LinkedHashMap<>();
      left.forEach(each -> distinct.putIfAbsent(each.id, each));
      results.putAll(takeBatch(series, List.copyOf(distinct.values())));
      left.removeAll(results.keySet());
    }
    return attempts.stream().map(results::get).toList();
  }

  /** Stores all records in one transaction, except those that already exist. */
  private Map<Attempt, Result> takeBatch(String series, List<Attempt> attempts) {
    Map<Attempt, Result> results = new HashMap<>();
    List<Attempt> left = new ArrayList<>(attempts);
    long number = start(series) + 1;
    int others = 0;
    int most = left.size(); // records per transaction
    while (!left.isEmpty()) {
      long first = number;
      List<Attempt> row = left.subList(0, Math.min(most, fitting(left))).stream().toList();
      WriteResult result = untilKnown(row.getFirst(), () -> writeTogether(row, first));
      switch (result) {
        case WriteResult.Applied applied -> {
          for (int i = 0; i < row.size(); i++) {
            results.put(row.get(i), new Numbered(first + i, false));
          }
          number = first + row.size();
          remember(series, number - 1);
        }
        case WriteResult.ConditionFailed failed -> {
          if (row.stream().anyMatch(each -> noteKey(each).equals(failed.key()))) {
            results.putAll(noted(row));
          } else if (failed.key().equals(items.key(series, first))) {
            Item found = failed.found().orElseThrow();
            row.stream()
                .filter(each -> each.isOwn(found))
                .forEach(each -> results.put(each, each.found(first, found)));
            // After one of these, the others of its batch may follow: their reply was lost.
            others = attempts.stream().anyMatch(each -> each.isOwn(found)) ? 0 : others + 1;
            boolean isFar = others > 0 && others % OTHERS_MAX == 0;
            number = (isFar ? Math.max(first, last(series)) : first) + 1;
          } else {
            most = 1; // a record was deleted: its number is the next one again
          }
        }
      }
      left.removeAll(results.keySet());
    }
    return results;
  }

  /**
   * Returns how many of the first attempts fit into one transaction of any store; at least one
   * does.
   */
  private static int fitting(List<Attempt> attempts) {
    int bytes = 0;
    for (int i = 0; i < attempts.size(); i++) {
      bytes += Limits.utf8Length(attempts.get(i).payload);
      if (bytes > TOGETHER_BYTES_MAX && i > 0) {
        return i;
      }
    }
    return attempts.size();
  }

  private WriteResult writeTogether(List<Attempt> attempts, long first) {
    List<Write> writes = new ArrayList<>();
    for (int i = 0; i < attempts.size(); i++) {
      Attempt attempt = attempts.get(i);
      if (attempt.hasNote) {
        writes.add(note(attempt, Map.of(NUMBER, new Field.Number(first + i))));
      }
      writes.add(record(attempt, first + i));
    }
    return writes.size() == 1 ? store.write(writes.getFirst()) : store.writeAll(writes, null);
  }

  /** Returns the attempts whose notes exist, with the results of their records. */
  private Map<Attempt, Result> noted(List<Attempt> attempts) {
    List<Attempt> asked = attempts.stream().filter(Attempt::hasNote).toList();
    List<Optional<Item>> notes = store.getAll(asked.stream().map(this::noteKey).toList());
    Map<Attempt, Result> results = new HashMap<>();
    for (int i = 0; i < asked.size(); i++) {
      if (notes.get(i).isPresent()) {
        results.put(asked.get(i), noted(asked.get(i), notes.get(i).get()));
      }
    }
    return results;
  }

  /** Returns the result of the record to which a note refers. */
  private Result noted(Attempt attempt, Item note) {
    long given = note.number(NUMBER);
    return attempt.found(given, items.get(attempt.series, given).orElseThrow());
  }

  private Write note(Attempt attempt, Map<String, Field> fields) {
    return new Write.Put(noteKey(attempt), fields, new Condition.Absent());
  }

  /** Checks every number above the one in the note, and advances the note for later attempts. */
  private Result takeFromNote(Attempt attempt) {
    long taken = last(attempt.series);
    Write note = note(attempt, Map.of(FROM, new Field.Number(taken)));
    WriteResult result = untilKnown(attempt, () -> store.write(note));
    if (result instanceof WriteResult.ConditionFailed failed) {
      Item found = failed.found().orElseThrow();
      if (found.fields().containsKey(NUMBER)) {
        return noted(attempt, found);
      }
      taken = found.number(FROM);
    }
    while (true) {
      Optional<Result> numbered = takeNext(attempt, taken);
      if (numbered.isPresent()) {
        advanceNote(attempt, NUMBER, numbered.get().number());
        return numbered.get();
      }
      taken += OTHERS_MAX;
      if (store.profile().has(Capability.ORDERED_SCAN)) {
        for (Item each : items.page(attempt.series, taken + 1, SequenceOfRecords.PAGE_MAX)) {
          taken = NumberedItems.number(each);
          if (attempt.isOwn(each)) {
            advanceNote(attempt, NUMBER, taken);
            return attempt.found(taken, each);
          }
        }
      }
      advanceNote(attempt, FROM, taken);
    }
  }

  /** Advances the note, which shortens the search of a repeat; best effort. */
  private void advanceNote(Attempt attempt, String field, long number) {
    Change change = new Change.Put(field, new Field.Number(number));
    try {
      store.write(new Write.Update(noteKey(attempt), List.of(change), Condition.always()));
    } catch (QuipuException e) {
      LOGGER.debug("Note of a record not updated; continuing", e);
    }
  }

  private WriteResult untilKnown(Attempt attempt, Supplier<WriteResult> write) {
    return IdempotentRetry.result(store, "record " + attempt.id, write);
  }

  // ---- the highest number

  /** Returns the highest number that is taken; 0 if there is none. */
  long last(String series) {
    long last =
        store.profile().has(Capability.ORDERED_SCAN)
            ? lastInOrder(series, Consistency.STRONG)
            : lastByHalving(series);
    if (last > 0) {
      remember(series, last);
    }
    return last;
  }

  private long lastInOrder(String series, Consistency consistency) {
    return items.newest(series, consistency).map(NumberedItems::number).orElse(0L);
  }

  /** Finds the highest number by binary search: numbers are taken without gaps. */
  private long lastByHalving(String series) {
    long taken = Objects.requireNonNullElse(known.get(series), 0L);
    if (store.profile().has(Capability.EVENTUAL_SCAN)) {
      taken = Math.max(taken, lastInOrder(series, Consistency.EVENTUAL));
    }
    long step = 1;
    while (items.get(series, taken + step).isPresent()) {
      taken += step;
      step *= 2;
    }
    long free = taken + step;
    while (free - taken > 1) {
      long middle = taken + (free - taken) / 2;
      if (items.get(series, middle).isPresent()) {
        taken = middle;
      } else {
        free = middle;
      }
    }
    return taken;
  }
}
