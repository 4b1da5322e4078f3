package dev.quipu.engine;

import dev.quipu.Add;
import dev.quipu.AddResult;
import dev.quipu.Bounds;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A call of {@link Engine#run}: some operations, each compared to the model when it is run. */
final class SimOperations extends SimOperation {
  private final List<Step> steps = new ArrayList<>();
  private @Nullable State state;

  /** Kinds of steps. */
  enum Kind {
    ADD,
    ADD_ONCE,
    ADD_AT,
    ADD_ONCE_AT,
    SET,
    SET_TEXT,
    REMOVE,
    EXPIRE,
    SET_MANY,
    REMOVE_MANY,
    EXPIRE_MANY,
    CANCEL,
    OUTCOME,
    BEGIN,
    READ,
    NAMES,
    WATCH
  }

  SimOperations(SimWorld world, SplittableRandom random, int count) {
    super(world);
    for (int i = 0; i < count; i++) {
      Kind kind = world.config.kinds.get(random.nextInt(world.config.kinds.size()));
      steps.add(new Step(kind, random));
    }
  }

  @Override
  void call(Engine engine) {
    engine.run(steps);
  }

  @Override
  void ran(Task task, State unused) {
    reached();
  }

  @Override
  void answered() {
    for (Step step : steps) {
      expect(step.isDone || step.failure != null, "step " + step, "done", "skipped");
    }
  }

  @Override
  public String toString() {
    return steps.toString();
  }

  private final class Step implements Operation {
    private final Kind kind;
    private final String counter;
    private final List<String> names; // for all counters that it changes
    private final long delta;
    private final long id;
    private final long choice;
    private final Bounds bounds;
    private boolean isDone;
    private @Nullable RuntimeException failure;

    Step(Kind kind, SplittableRandom random) {
      this.kind = kind;
      this.counter = world.config.counter(random);
      this.id = world.config.id(random);
      this.delta = world.config.delta(random, id);
      this.choice = random.nextLong() >>> 1;
      this.bounds = world.config.bounds(random, id);
      this.names =
          switch (kind) {
            case SET_MANY, REMOVE_MANY, EXPIRE_MANY -> some();
            default -> List.of(counter);
          };
    }

    private RequestId request() {
      return world.config.request(id);
    }

    @Override
    public int bytesMax(CounterAccess access) {
      int text = kind == Kind.SET_TEXT ? text().length() : 0;
      return CounterAccess.bytesMax(names.size(), String.join("", names).length() + text);
    }

    private String text() {
      return "text " + choice % 10_000 + "x".repeat((int) (choice % world.config.textBytesMax));
    }

    @Override
    public void on(CounterAccess access) {
      State current = world.stateAtWork();
      state = current;
      long wall = access.nowMillis();
      SimModel model = world.model;
      SimModel.Cell cell = model.cell(counter, wall);
      boolean isText = cell != null && cell.text() != null;
      switch (kind) {
        case ADD, ADD_ONCE -> {
          Add add = new Add(counter, delta, bounds, kind == Kind.ADD ? null : request());
          boolean isRepeat =
              kind == Kind.ADD_ONCE && model.mark(new SimModel.Request(counter, id)) != null;
          AddResult result = access.add(add); // throws for a text
          expect(!isText || isRepeat, this + " on a text", "an exception", result);
          SimAdds.judge(SimOperations.this, add, result, current);
        }
        case ADD_AT, ADD_ONCE_AT -> addAt(access, cell, current);
        case SET -> set(access, counter);
        case SET_MANY -> {
          access.requireRoom(names);
          names.forEach(each -> set(access, each));
        }
        case SET_TEXT -> {
          access.setText(counter, text().getBytes(StandardCharsets.US_ASCII));
          put(counter, new SimModel.Cell(0, text(), cell == null ? 0 : cell.expiresAt()));
        }
        case REMOVE, REMOVE_MANY -> names.forEach(each -> remove(access, each));
        case EXPIRE, EXPIRE_MANY -> names.forEach(each -> expire(access, each));
        case CANCEL -> cancel(access, current);
        case OUTCOME -> compareOutcome(access.outcome(counter, request()), current.timeMillis);
        case BEGIN -> begin(access, cell, current);
        case READ -> read(access, cell);
        case NAMES -> {
          java.util.NavigableSet<String> names = model.names(wall);
          List<String> found = access.names("", "", 1_000);
          expect(found.equals(List.copyOf(names)), "names", names, found);
          expect(access.size() == names.size(), "size", names.size(), access.size());
        }
        case WATCH -> watch(access);
      }
      reached();
      isDone = true;
    }

    private void put(String name, SimModel.@Nullable Cell cell) {
      change(new SimModel.Change().put(name, cell));
    }

    /** Returns a random subset of the counters. */
    private List<String> some() {
      SplittableRandom part = new SplittableRandom(choice);
      int oneIn = 1 << part.nextInt(4);
      return world.config.names().stream().filter(each -> part.nextInt(oneIn) == 0).toList();
    }

    private void set(CounterAccess access, String name) {
      SimModel.Cell known = world.model.cell(name, access.nowMillis());
      access.set(name, delta);
      put(name, new SimModel.Cell(delta, null, known == null ? 0 : known.expiresAt()));
    }

    private void remove(CounterAccess access, String name) {
      boolean isKnown = world.model.cell(name, access.nowMillis()) != null;
      boolean was = access.remove(name);
      expect(was == isKnown, this + " found " + name, isKnown, was);
      if (was) {
        put(name, null);
      }
    }

    private void expire(CounterAccess access, String name) {
      long wall = access.nowMillis();
      SimModel.Cell known = world.model.cell(name, wall);
      long at = choice % 5 == 0 ? 0 : Math.max(1, wall + world.config.expiry(choice));
      boolean was = access.expire(name, at);
      expect(was == (known != null), this + " found " + name, known != null, was);
      if (known != null) {
        put(name, new SimModel.Cell(known.value(), known.text(), at));
      }
    }

    private void addAt(CounterAccess access, SimModel.@Nullable Cell cell, State current) {
      byte[] name = counter.getBytes(StandardCharsets.UTF_8);
      int place = access.placeOf(name, 0, name.length);
      boolean isAscii = name.length == counter.length();
      boolean isNumber = cell != null && cell.text() == null;
      expect(place >= 0 == (isNumber && isAscii), counter + " has a place", isNumber, place);
      if (place < 0 || cell == null) {
        return;
      }
      expect(access.valueAt(place) == cell.value(), "value", cell.value(), access.valueAt(place));
      SimModel.Request request = new SimModel.Request(counter, id);
      SimModel.Mark mark = kind == Kind.ADD_AT ? null : world.model.mark(request);
      long after = cell.value() + delta;
      boolean fits = ((cell.value() ^ after) & (delta ^ after)) >= 0;
      boolean was =
          kind == Kind.ADD_AT
              ? access.addAt(place, delta)
              : access.addOnceAt(place, delta, request().high(), request().low());
      if (mark == null || !fits) {
        expect(was == fits, this + " did it", fits, was);
      } else {
        boolean mustKnow = world.model.mustRemember(mark, current.timeMillis);
        expect(!was || !mustKnow, this + " counts again", false, was);
      }
      if (was) {
        SimModel.Change change = new SimModel.Change();
        change.put(counter, new SimModel.Cell(after, null, cell.expiresAt()));
        if (kind == Kind.ADD_ONCE_AT) {
          change.put(request, new SimModel.Mark(delta, after, Bounds.none(), current.timeMillis));
        }
        change(change);
      }
    }

    /** Compares the outcome of a request; returns whether it is known. */
    private boolean compareOutcome(RequestOutcome outcome, long ageMillis) {
      SimModel.Mark mark = world.model.mark(new SimModel.Request(counter, id));
      RequestOutcome expected =
          mark == null
              ? new RequestOutcome.NotSeen()
              : mark.isSealed()
                  ? new RequestOutcome.Canceled()
                  : new RequestOutcome.Applied(mark.delta(), OptionalLong.of(mark.value()));
      boolean mayBeForgotten =
          mark != null
              && !world.model.mustRemember(mark, ageMillis)
              && outcome instanceof RequestOutcome.NotSeen;
      expect(outcome.equals(expected) || mayBeForgotten, this + "", expected, outcome);
      return !(outcome instanceof RequestOutcome.NotSeen);
    }

    private void cancel(CounterAccess access, State current) {
      boolean wasKnown = compareOutcome(access.outcome(counter, request()), current.timeMillis);
      RequestOutcome outcome = access.cancel(counter, request());
      if (wasKnown) {
        boolean unused = compareOutcome(outcome, current.timeMillis);
        return;
      }
      expect(outcome instanceof RequestOutcome.Canceled, this + "", "sealed", outcome);
      change(
          new SimModel.Change()
              .put(
                  new SimModel.Request(counter, id),
                  new SimModel.Mark(0, 0, Bounds.none(), current.timeMillis)));
    }

    private void begin(CounterAccess access, SimModel.@Nullable Cell cell, State current) {
      boolean isKnown = compareOutcome(access.outcome(counter, request()), current.timeMillis);
      if (cell != null || isKnown) {
        return;
      }
      access.begin(counter, delta, request());
      change(
          new SimModel.Change()
              .put(counter, new SimModel.Cell(delta, null, 0))
              .put(
                  new SimModel.Request(counter, id),
                  new SimModel.Mark(delta, delta, Bounds.none(), current.timeMillis)));
    }

    private void read(CounterAccess access, SimModel.@Nullable Cell cell) {
      OptionalLong value =
          cell == null || cell.text() != null
              ? OptionalLong.empty()
              : OptionalLong.of(cell.value());
      expect(access.get(counter).equals(value), counter, value, access.get(counter));
      byte[] text = access.text(counter);
      String found = text == null ? null : new String(text, StandardCharsets.US_ASCII);
      String expected = cell == null ? null : cell.text();
      expect(Objects.equals(found, expected), "text of " + counter, expected, found);
      long expiresAt = cell == null ? 0 : cell.expiresAt();
      expect(
          access.expiresAt(counter) == expiresAt,
          "expiry of " + counter,
          expiresAt,
          access.expiresAt(counter));
      expect(
          access.exists(counter) == (cell != null),
          counter + " exists",
          cell != null,
          access.exists(counter));
      expect(
          access.version(counter) != 0 == (cell != null), "version", cell, access.version(counter));
    }

    /** Checks that a change is counted between watch and unwatch. */
    private void watch(CounterAccess access) {
      long before = access.watch(counter);
      long version = access.version(counter);
      set(access, counter);
      expect(access.changes(counter) == before + 1, "changes", before + 1, access.changes(counter));
      expect(access.version(counter) != version, "version", "another", version);
      access.unwatch(counter);
    }

    @Override
    public void failed(RuntimeException why) {
      failure = why;
      boolean isExpected =
          why instanceof IllegalArgumentException
              || (why instanceof dev.quipu.QuipuException known
                  && known.outcome() == dev.quipu.Outcome.NOT_APPLIED);
      expect(isExpected, this + "", "an answer", why);
      if (why instanceof IllegalArgumentException) {
        SimModel.Cell cell = world.model.cell(counter, Objects.requireNonNull(state).wallMillis);
        expect(cell != null && cell.text() != null, this + "", "an answer", why);
      }
    }

    @Override
    public String toString() {
      return kind + " " + counter + " " + delta + " id " + id + " choice " + choice;
    }
  }
}
