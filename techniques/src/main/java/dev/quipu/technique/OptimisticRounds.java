package dev.quipu.technique;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Outcome;
import dev.quipu.Reason;
import dev.quipu.StoreException;
import dev.quipu.layer.Store;
import dev.quipu.store.Backoff;
import dev.quipu.store.Condition;
import dev.quipu.store.Consistency;
import dev.quipu.store.Field;
import dev.quipu.store.Item;
import dev.quipu.store.Key;
import dev.quipu.store.Write;
import dev.quipu.store.WriteResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * Read, compute, write if nobody else did, again: what {@link Optimistic} and {@link
 * OptimisticWithHistory} share. The item keeps the tags of its last writers, newest last; the
 * former keeps one.
 */
final class OptimisticRounds {
  private static final String TAGS = "tag";
  private static final int ROUNDS_MAX = 200;
  private static final int RESENDS_MAX = 5;

  private final Store store;
  private final RandomGenerator random;
  private final int tagsMax;

  OptimisticRounds(Store store, RandomGenerator random, int tagsMax) {
    this.store = store;
    this.random = random;
    this.tagsMax = tagsMax;
  }

  AddResult add(Add add, Split split) {
    Key key = split.value();
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Optional<Item> found = store.get(key, Consistency.STRONG);
      long value = found.map(item -> item.number(CounterItems.VALUE)).orElse(0L);
      if (!split.fits(key, found)) {
        return split.refused(add, found);
      }
      long after = value + split.delta();
      switch (put(key, found, after, split)) {
        case STORED -> {
          return new AddResult.Applied(add.delta(), OptionalLong.of(after));
        }
        case NO_ROOM_BESIDE -> {
          return split.refused(add, found);
        }
        case OVERTAKEN -> Backoff.pause(store.clock(), random, round);
      }
    }
    throw StoreException.notApplied(
        Reason.THROTTLED,
        "%d writers came first to counter %s".formatted(ROUNDS_MAX, add.counter()));
  }

  private enum Put {
    /** The number is stored. */
    STORED,
    /** Another writer came first: it is not, and never will be. */
    OVERTAKEN,
    /** It is not, since a write beside it failed. */
    NO_ROOM_BESIDE
  }

  private Put put(Key key, Optional<Item> found, long after, Split split) {
    String tag = Long.toHexString(random.nextLong());
    List<String> before = tags(found);
    Condition unchanged = Condition.unchanged(found);
    Map<String, Field> fields = new HashMap<>(found.map(Item::fields).orElse(Map.of()));
    fields.put(CounterItems.VALUE, new Field.Number(after));
    fields.put(TAGS, tagsWith(before, tag));
    Write write = new Write.Put(key, fields, Optional.empty(), unchanged);
    for (int sent = 1; ; sent++) {
      StoreException lost;
      try {
        WriteResult result = split.write(store, write);
        if (result instanceof WriteResult.Applied) {
          return Put.STORED;
        }
        if (result instanceof WriteResult.ConditionFailed failed && sent == 1) {
          return failed.key().equals(key) ? Put.OVERTAKEN : Put.NO_ROOM_BESIDE;
        }
        lost = StoreException.unknown(Reason.UNAVAILABLE, "a reply was lost", null);
      } catch (StoreException e) {
        if (e.outcome() == Outcome.NOT_APPLIED && sent == 1) {
          throw e;
        }
        lost = e;
      }
      Optional<Item> now = readBack(key, lost);
      List<String> tags = tags(now);
      if (tags.contains(tag)) {
        return Put.STORED;
      }
      boolean same = now.map(Item::version).equals(found.map(Item::version));
      if (!same && tellsAllSince(before, tags)) {
        return Put.OVERTAKEN; // the state that ours was for is gone
      }
      if (!same || sent == RESENDS_MAX) {
        throw StoreException.unknown(
            Reason.UNAVAILABLE, "a reply was lost, and others wrote since", lost);
      }
    }
  }

  /**
   * Whether no writer since has been dropped from the tags: then one that is not there never was.
   */
  private boolean tellsAllSince(List<String> before, List<String> now) {
    return before.isEmpty() ? now.size() < tagsMax : now.contains(before.getLast());
  }

  private static List<String> tags(Optional<Item> item) {
    String text = item.flatMap(each -> each.text(TAGS)).orElse("");
    return text.isEmpty() ? List.of() : List.of(text.split(" ", -1));
  }

  private Field tagsWith(List<String> before, String tag) {
    List<String> tags = new ArrayList<>(before);
    tags.add(tag);
    int first = Math.max(0, tags.size() - tagsMax);
    return new Field.Text(String.join(" ", tags.subList(first, tags.size())));
  }

  private Optional<Item> readBack(Key key, StoreException lost) {
    try {
      return store.get(key, Consistency.STRONG);
    } catch (StoreException e) {
      lost.addSuppressed(e);
      throw StoreException.unknown(e.reason(), "a reply was lost, and so was the read back", lost);
    }
  }
}
