package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.store.Key;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/*
 * What the engine must hold, written from its documentation. Clients' operations change it in the
 * order in which the engine ran them; each change is kept in a journal. An operation that was
 * answered is durable with all before it. So after a crash the recovered state must be, as a whole,
 * the state before the crash plus the changes up to some number: not less than was acknowledged.
 *
 * What may differ, and nothing else:
 *   - a counter that has expired by the time of the run that ended may be gone, though the clock
 *     has been set back since; so may an item;
 *   - a request id older than the window may be forgotten.
 */

/** The model of an engine. */
final class SimModel {
  /** A counter, or a text in its place. */
  record Cell(long value, @Nullable String text, long expiresAt) {
    boolean isAlive(long wallMillis) {
      return expiresAt == 0 || expiresAt > wallMillis;
    }
  }

  /** Names a request: an id belongs to one counter. */
  record Request(String counter, long id) {}

  /** The effect of a request; the delta is 0 if it was canceled. */
  record Mark(long delta, long value, Bounds bounds, long ageMillis) {
    boolean isSealed() {
      return delta == 0;
    }

    int boundsMark() {
      return new Add("any", 1, bounds, RequestId.of(1, 1)).boundsMark();
    }
  }

  /** An item. Its version is learned when a client reads it. */
  static final class Thing {
    final Map<String, Object> fields;
    final long expiresAt;
    @Nullable String version;

    Thing(Map<String, Object> fields, long expiresAt) {
      this.fields = fields;
      this.expiresAt = expiresAt;
    }

    @Override
    public String toString() {
      return fields + " version " + version + " expires " + expiresAt;
    }
  }

  /** One atomic change. */
  static final class Change {
    private final List<Object> keys = new ArrayList<>(2);
    private final List<@Nullable Object> values = new ArrayList<>(2);

    Change put(Object key, @Nullable Object value) {
      keys.add(key);
      values.add(value);
      return this;
    }

    void on(Map<Object, Object> state) {
      for (int i = 0; i < keys.size(); i++) {
        Object value = values.get(i);
        if (value == null) {
          state.remove(keys.get(i));
        } else {
          state.put(keys.get(i), value);
        }
      }
    }

    @Override
    public String toString() {
      return keys + " -> " + values;
    }
  }

  /** A request as the engine remembers it: the bounds as a mark only. */
  record Found(long delta, long value, int boundsMark) {
    boolean isOf(Mark mark) {
      return delta == mark.delta && value == mark.value && boundsMark == mark.boundsMark();
    }
  }

  /** The state read from an engine. */
  static final class Seen {
    final Map<String, Cell> cells = new HashMap<>();
    final Map<Request, Found> marks = new HashMap<>();
    final Map<Key, Thing> things = new HashMap<>();
    final Map<SimShared.Key, String> shared = new HashMap<>();
    final Map<SimShared.Key, List<Boolean>> voids = new HashMap<>(); // of open holds
    long wallMillis;
    long ageMillis;
    long ageMillisMax;
  }

  private final long windowMillis;
  private Map<Object, Object> base = new HashMap<>(); // when the process started
  private Map<Object, Object> live = new HashMap<>();
  private final List<Change> journal = new ArrayList<>();
  private final TreeSet<Integer> denied = new TreeSet<>();
  private int acknowledged;
  private long wallMillisMax = Long.MIN_VALUE;
  private long ageMillisMax = Long.MIN_VALUE;

  SimModel(long windowMillis) {
    this.windowMillis = windowMillis;
  }

  @Nullable Cell cell(String counter, long wallMillis) {
    Cell cell = (Cell) live.get(counter);
    return cell != null && cell.isAlive(wallMillis) ? cell : null;
  }

  @Nullable Mark mark(Request request) {
    return (Mark) live.get(request);
  }

  @Nullable Thing thing(Key key) {
    return (Thing) live.get(key);
  }

  /** Returns the names of live counters, in order. */
  java.util.NavigableSet<String> names(long wallMillis) {
    TreeSet<String> names = new TreeSet<>();
    live.forEach((key, value) -> {
      if (value instanceof Cell cell && cell.isAlive(wallMillis)) {
        names.add((String) key);
      }
    });
    return names;
  }

  /** Returns whether an id must be remembered; one that need not be may still be. */
  boolean mustRemember(Mark mark, long ageMillis) {
    return ageMillis - mark.ageMillis <= windowMillis + windowMillis / 8;
  }

  @Nullable SimShared shared(SimShared.Key key) {
    return (SimShared) live.get(key);
  }

  /** Returns whether a shared id must be remembered; an open hold always. */
  boolean mustRemember(SimShared shared, long ageMillis) {
    return shared.isOpen() || ageMillis - shared.ageMillis() <= windowMillis + windowMillis / 8;
  }

  Map<SimShared.Key, SimShared> openHolds() {
    Map<SimShared.Key, SimShared> open = new HashMap<>();
    live.forEach((key, value) -> {
      if (value instanceof SimShared shared && shared.isOpen()) {
        open.put((SimShared.Key) key, shared);
      }
    });
    return open;
  }

  /** What holds reserve on a counter goes with it: it is removed, a text, or had expired. */
  private void voidHolds(Change change) {
    List<String> gone = new ArrayList<>();
    for (int i = 0; i < change.keys.size(); i++) {
      if (change.keys.get(i) instanceof String counter) {
        Cell cell = (Cell) change.values.get(i);
        Cell before = (Cell) live.get(counter);
        if (cell == null
            || cell.text != null
            || (before != null && !before.isAlive(wallMillisMax))) {
          gone.add(counter);
        }
      }
    }
    if (gone.isEmpty()) {
      return;
    }
    openHolds()
        .forEach((key, hold) -> {
          SimShared rest = hold;
          for (String counter : gone) {
            rest = rest.without(counter);
          }
          if (!rest.equals(hold) && !change.keys.contains(key)) {
            change.put(key, rest);
          }
        });
  }

  void change(Change change) {
    voidHolds(change);
    Simulation.trace("change %s %s", wallMillisMax, change);
    change.on(live);
    journal.add(change);
  }

  /** Returns the number of changes. */
  int position() {
    return journal.size();
  }

  /** Records that all changes up to this position were acknowledged. */
  void acknowledge(int position) {
    acknowledged = Math.max(acknowledged, position);
  }

  /** Records that the change before this position was reported as not applied. */
  void deny(int position) {
    denied.add(position);
  }

  void sawWall(long wallMillis) {
    wallMillisMax = Math.max(wallMillisMax, wallMillis);
  }

  void sawAge(long ageMillis) {
    ageMillisMax = Math.max(ageMillisMax, ageMillis);
  }

  long wallMillisMax() {
    return wallMillisMax;
  }

  /** Returns whether any request was known when the process started. */
  boolean hasRequests() {
    return base.values().stream().anyMatch(Mark.class::isInstance);
  }

  /** Gives up the durability of acknowledged changes: they were acknowledged before a sync. */
  void forgetAcknowledged() {
    acknowledged = 0;
  }

  /** Returns all shared ids that may be known. */
  List<SimShared.Key> sharedKeys() {
    TreeSet<SimShared.Key> all =
        new TreeSet<>(java.util.Comparator.comparingLong(SimShared.Key::id));
    base.keySet().forEach(key -> addShared(key, all));
    journal.forEach(change -> change.keys.forEach(key -> addShared(key, all)));
    return List.copyOf(all);
  }

  private static void addShared(Object key, java.util.Set<SimShared.Key> all) {
    if (key instanceof SimShared.Key shared) {
      all.add(shared);
    }
  }

  /** Returns all requests that may be known. */
  List<Request> requests() {
    TreeSet<Request> all =
        new TreeSet<>(
            java.util.Comparator.comparing(Request::counter).thenComparingLong(Request::id));
    for (Object key : base.keySet()) {
      if (key instanceof Request request) {
        all.add(request);
      }
    }
    for (Change change : journal) {
      for (Object key : change.keys) {
        if (key instanceof Request request) {
          all.add(request);
        }
      }
    }
    return List.copyOf(all);
  }

  /**
   * Determines which changes survived.
   *
   * @return the violation; null if there is none
   */
  @Nullable String recover(Seen seen) {
    // An age that was reached but not persisted has passed all the same.
    seen.ageMillisMax = Math.max(ageMillisMax, seen.ageMillis);
    StringBuilder why = new StringBuilder();
    Map<Object, Object> candidate = new HashMap<>(base);
    for (int i = 0; i < acknowledged; i++) {
      journal.get(i).on(candidate);
    }
    for (int kept = acknowledged; ; kept++) {
      String difference = difference(candidate, seen);
      if (difference == null) {
        Integer wrong = denied.floor(kept);
        if (wrong != null) {
          return "change "
              + wrong
              + " was reported as not applied, but is there: "
              + journal.get(wrong - 1);
        }
        adopt(candidate, seen);
        return null;
      }
      if (why.length() < 4_000) {
        why.append("\n  with ").append(kept).append(" changes: ").append(difference);
      }
      if (kept == journal.size()) {
        return "no state matches ("
            + acknowledged
            + " changes of "
            + journal.size()
            + " were acknowledged)"
            + why;
      }
      journal.get(kept).on(candidate);
    }
  }

  /** Continues from the recovered state. */
  private void adopt(Map<Object, Object> candidate, Seen seen) {
    base = new HashMap<>();
    candidate.forEach((key, value) -> {
      if (value instanceof Cell cell) {
        if (seen.cells.containsKey((String) key)) {
          base.put(key, cell);
        }
      } else if (value instanceof Mark mark) {
        if (seen.marks.containsKey((Request) key)) {
          long age = mark.ageMillis - seen.ageMillisMax + seen.ageMillis;
          base.put(key, new Mark(mark.delta, mark.value, mark.bounds, age));
        }
      } else if (value instanceof SimShared shared) {
        if (seen.shared.containsKey((SimShared.Key) key)) {
          base.put(key, adopted((SimShared.Key) key, shared, seen));
        }
      } else if (value instanceof Thing thing) {
        Thing found = seen.things.get((Key) key);
        if (found != null) {
          thing.version = found.version;
          base.put(key, thing);
        }
      }
    });
    live = new HashMap<>(base);
    journal.clear();
    denied.clear();
    acknowledged = 0;
    wallMillisMax = seen.wallMillis;
    ageMillisMax = seen.ageMillis;
  }

  private static SimShared adopted(SimShared.Key key, SimShared shared, Seen seen) {
    List<SimShared.Part> parts = new ArrayList<>(shared.parts());
    List<Boolean> voids = seen.voids.get(key);
    for (int i = 0; voids != null && i < parts.size(); i++) {
      parts.set(i, parts.get(i).voided(voids.get(i)));
    }
    long age = shared.ageMillis() - seen.ageMillisMax + seen.ageMillis;
    return shared.with(shared.state(), parts, age);
  }

  private @Nullable String differenceOfShared(Map<Object, Object> expected, Seen seen) {
    int found = 0;
    for (Map.Entry<Object, Object> each : expected.entrySet()) {
      if (each.getValue() instanceof SimShared shared) {
        String is = seen.shared.get((SimShared.Key) each.getKey());
        found += is == null ? 0 : 1;
        if (is == null ? mustRemember(shared, seen.ageMillisMax) : !is.equals(shared.stored())) {
          return "shared " + each.getKey() + " is " + is + "; expected " + shared.stored();
        }
        List<Boolean> voids = seen.voids.get((SimShared.Key) each.getKey());
        for (int i = 0; voids != null && i < voids.size(); i++) {
          SimShared.Part part = shared.parts().get(i);
          Cell cell = (Cell) expected.get(part.counter());
          boolean mayBeVoid = part.isVoid() || cell == null || mayBeGone(cell);
          if (voids.get(i) ? !mayBeVoid : part.isVoid()) {
            return "void is " + voids.get(i) + " in part " + i + " of " + each;
          }
        }
      }
    }
    return found == seen.shared.size() ? null : "unexpected shared ids: " + seen.shared;
  }

  private boolean mayBeGone(Cell cell) {
    return cell.expiresAt != 0 && cell.expiresAt <= wallMillisMax;
  }

  private @Nullable String difference(Map<Object, Object> expected, Seen seen) {
    int cells = 0;
    int things = 0;
    for (Map.Entry<Object, Object> each : expected.entrySet()) {
      if (each.getValue() instanceof Cell cell) {
        Cell found = seen.cells.get((String) each.getKey());
        cells += found == null ? 0 : 1;
        if (found == null) {
          if (!mayBeGone(cell)) {
            return "counter " + each.getKey() + " is missing; expected " + cell;
          }
        } else if (found.value != cell.value
            || !Objects.equals(found.text, cell.text)
            || found.expiresAt != cell.expiresAt) {
          return "counter " + each.getKey() + " is " + found + "; expected " + cell;
        }
      } else if (each.getValue() instanceof Thing thing) {
        Thing found = seen.things.get((Key) each.getKey());
        things += found == null ? 0 : 1;
        boolean mayBeGone = thing.expiresAt != 0 && thing.expiresAt <= wallMillisMax;
        if (found == null ? !mayBeGone : !isSame(found, thing)) {
          return "item " + each.getKey() + " is " + found + "; expected " + thing;
        }
      }
    }
    if (cells != seen.cells.size()) {
      java.util.Set<Object> extra = new java.util.HashSet<>(seen.cells.keySet());
      extra.removeAll(expected.keySet());
      return "unexpected counters: " + extra;
    }
    if (things != seen.things.size()) {
      return "unexpected items: " + seen.things.keySet();
    }
    String shared = differenceOfShared(expected, seen);
    return shared == null ? differenceOfMarks(expected, seen) : shared;
  }

  private static boolean isSame(Thing found, Thing thing) {
    return found.fields.equals(thing.fields)
        && found.expiresAt == thing.expiresAt
        && (thing.version == null || thing.version.equals(found.version));
  }

  private @Nullable String differenceOfMarks(Map<Object, Object> expected, Seen seen) {
    int marks = 0;
    for (Map.Entry<Object, Object> each : expected.entrySet()) {
      if (each.getValue() instanceof Mark mark) {
        Found found = seen.marks.get((Request) each.getKey());
        marks += found == null ? 0 : 1;
        if (found == null) {
          if (mustRemember(mark, seen.ageMillisMax)) {
            return "request "
                + each.getKey()
                + " is forgotten; expected "
                + mark
                + ", now "
                + seen.ageMillis;
          }
        } else if (!found.isOf(mark)) {
          return "request " + each.getKey() + " is " + found + "; expected " + mark;
        }
      }
    }
    if (marks == seen.marks.size()) {
      return null;
    }
    Map<Request, Found> extra = new HashMap<>(seen.marks);
    extra.keySet().removeAll(expected.keySet());
    return "unexpected requests: " + extra;
  }
}
