package dev.quipu.engine;

import dev.quipu.Limits;
import dev.quipu.backend.CounterThresholds;
import dev.quipu.engine.commit.Committer;
import dev.quipu.engine.commit.Group;
import dev.quipu.engine.commit.Task;
import dev.quipu.engine.state.State;
import dev.quipu.engine.threshold.Crossed;
import dev.quipu.engine.threshold.Thresholds;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The thresholds of an engine. */
record EngineThresholds(Committer committer) implements CounterThresholds {
  /** Not only points, which clients would remove from a path. */
  private static final Pattern ID =
      Pattern.compile("(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{1," + ID_MAX + "}");

  private static final int REMOVED_BYTES_MAX = 64;

  /** So that they fit into the smallest frame. */
  private static final int DELIVERED_AT_ONCE = 200;

  /** The definitions at one moment. */
  private record Present(long definitions, List<Status> all) {}

  @Override
  public boolean put(Threshold threshold) {
    check(threshold);
    while (true) {
      Present present =
          committer.get((state, group) ->
              new Present(state.thresholds.definitions(), state.thresholds.list()));
      requireFew(threshold, present.all.stream().map(Status::threshold).toList());
      AtomicBoolean isCurrent = new AtomicBoolean(true);
      Change change =
          new Change(
              Thresholds.definedBytesMax(threshold),
              state -> {
                state.requireMemory(Thresholds.DEFINED_BYTES);
                isCurrent.set(state.thresholds.definitions() == present.definitions);
              },
              thresholds -> isCurrent.get() && thresholds.put(threshold));
      boolean isNew = run(change);
      if (isCurrent.get()) {
        return isNew;
      }
    }
  }

  /** Ensures that there are not too many with another one; outside of the commit, as it is slow. */
  private static void requireFew(Threshold added, List<Threshold> present) {
    List<Threshold> all = new ArrayList<>(present);
    all.removeIf(each -> each.id().equals(added.id()));
    if (all.size() == THRESHOLDS_MAX) {
      throw new IllegalArgumentException(
          "there are %d thresholds, which is the limit; remove one, or use one with a prefix"
              .formatted(all.size()));
    }
    all.add(added);
    for (Threshold each : all) { // the name that as many as possible of its prefixes apply to
      if (!added.appliesTo(each.selector())) {
        continue;
      }
      long count = all.stream().filter(other -> other.appliesTo(each.selector())).count();
      if (count > PER_COUNTER_MAX) {
        throw new IllegalArgumentException(
            "%d thresholds would apply to a counter named %s; the limit is %d"
                .formatted(count, each.selector(), PER_COUNTER_MAX));
      }
    }
  }

  private static void check(Threshold threshold) {
    if (!ID.matcher(threshold.id()).matches()) {
      throw new IllegalArgumentException(
          "the id of a threshold has 1 to %d letters, digits, and . _ -, one of them a letter or digit"
              .formatted(ID_MAX));
    }
    String field = threshold.isPrefix() ? "field prefix" : "field counter";
    if (!threshold.isPrefix() || !threshold.selector().isEmpty()) {
      Limits.checkText(field, threshold.selector(), Limits.NAME_BYTES_MAX);
    }
    checkWebhook(threshold.webhook());
  }

  private static void checkWebhook(URI webhook) {
    String scheme = String.valueOf(webhook.getScheme()).toLowerCase(Locale.ROOT);
    if (!List.of("http", "https").contains(scheme)
        || webhook.getHost() == null
        || webhook.getRawUserInfo() != null
        || webhook.getRawFragment() != null
        || webhook.toString().length() > WEBHOOK_MAX) {
      throw new IllegalArgumentException(
          ("field webhook must be an address such as https://example.com/hook, without a user and"
                  + " a fragment, of at most %d characters")
              .formatted(WEBHOOK_MAX));
    }
  }

  @Override
  public Optional<Status> get(String id) {
    return committer.get((state, group) -> state.thresholds.get(id));
  }

  @Override
  public List<Status> list() {
    return committer.get((state, group) -> state.thresholds.list());
  }

  @Override
  public boolean remove(String id) {
    return run(new Change(REMOVED_BYTES_MAX, state -> {}, thresholds -> thresholds.remove(id)));
  }

  @Override
  public List<Crossing> waiting(String id, long after, int max) {
    Limits.checkPage(max, CROSSINGS_MAX);
    List<Crossed> found = committer.get((state, group) -> state.thresholds.waiting(id, after, max));
    return found.stream().map(Crossed::crossing).toList();
  }

  @Override
  public void delivered(String id, List<Long> sequences) {
    Limits.checkPage(sequences.size(), CROSSINGS_MAX);
    for (int from = 0; from < sequences.size(); from += DELIVERED_AT_ONCE) {
      List<Long> some =
          sequences.subList(from, Math.min(sequences.size(), from + DELIVERED_AT_ONCE));
      int bytes = Thresholds.deliveredBytesMax(some.size());
      boolean unused =
          run(new Change(bytes, state -> {}, thresholds -> thresholds.delivered(id, some)));
    }
  }

  private boolean run(Change change) {
    committer.run(change);
    return change.result;
  }

  /** Changes the thresholds; the records are written at the end of the frame. */
  private static final class Change extends Task {
    private final int bytesMax;
    private final Consumer<State> check;
    private final Predicate<Thresholds> work;
    boolean result;

    Change(int bytesMax, Consumer<State> check, Predicate<Thresholds> work) {
      this.bytesMax = bytesMax;
      this.check = check;
      this.work = work;
    }

    @Override
    public boolean run(State state, Group group) {
      if (!group.fits(bytesMax)) {
        return false;
      }
      group.requireWritable();
      check.accept(state);
      state.beginChange();
      result = work.test(state.thresholds);
      group.thresholds();
      state.endChange();
      return true;
    }
  }
}
