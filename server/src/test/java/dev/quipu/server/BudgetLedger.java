package dev.quipu.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.quipu.server.BudgetCycle.Kind;
import dev.quipu.server.BudgetPort.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the files of all clients of a run say: what was spent, which answers were wrong, and which
 * rejections were not justified at any moment of their call.
 */
final class BudgetLedger {
  /** Difference between the clocks of expiries and of these files. */
  private static final long SLACK_NANOS = Duration.ofMillis(250).toNanos();

  private final Map<String, Book> books = new HashMap<>();
  private final Map<String, Long> figures = new TreeMap<>();
  private final List<String> wrong = new ArrayList<>();

  /** One counter. */
  private static final class Book {
    private long spent;
    private final List<long[]> most = new ArrayList<>(); // time and change of what may be taken
    private final List<long[]> rejections = new ArrayList<>(); // begin, end, amount
  }

  /** What a file says of one cycle. */
  private static final class Steps {
    private long begunNanos = Long.MAX_VALUE;
    private long settleBegunNanos = Long.MAX_VALUE;
    private @Nullable Step placed;
    private @Nullable Step settled;
    private @Nullable Step released;
    private boolean isComplete;
  }

  private record Step(long begin, long end, Outcome outcome, String counter) {
    static Step parse(String[] words) {
      return new Step(
          Long.parseLong(words[2]),
          Long.parseLong(words[3]),
          Outcome.valueOf(words[4]),
          words.length > 5 ? words[5] : "");
    }
  }

  /** Reads the file of a client. */
  void read(Path directory, String run, int client, int cycles) throws IOException {
    Map<Integer, Steps> all = new HashMap<>();
    for (String line : Files.readAllLines(BudgetClient.journal(directory, run, client))) {
      String[] words = line.split(" ", -1);
      int number = Integer.parseInt(words[1]);
      Steps steps = all.computeIfAbsent(number, absent -> new Steps());
      switch (words[0]) {
        case "B" -> steps.begunNanos = Math.min(steps.begunNanos, Long.parseLong(words[2]));
        case "b" ->
            steps.settleBegunNanos = Math.min(steps.settleBegunNanos, Long.parseLong(words[2]));
        case "P" -> {
          Step step = Step.parse(words);
          steps.placed = step;
          if (step.outcome == Outcome.REJECTED) {
            rejected(cycle(run, client, number), step);
          }
        }
        case "S" -> steps.settled = Step.parse(words);
        case "R" -> steps.released = Step.parse(words);
        default -> steps.isComplete = true;
      }
    }
    for (int i = 0; i < cycles; i++) {
      Steps steps = all.get(i);
      BudgetCycle cycle = cycle(run, client, i);
      if (steps == null || !steps.isComplete) {
        wrong.add("incomplete: " + cycle);
      } else {
        enter(cycle, steps);
      }
    }
  }

  private static BudgetCycle cycle(String run, int client, int number) {
    return BudgetCycle.of(run, client, number, !BudgetClient.isHttp(client));
  }

  private Book book(String counter) {
    return books.computeIfAbsent(counter, absent -> new Book());
  }

  private void rejected(BudgetCycle cycle, Step step) {
    count("rejected");
    // an answer that names no counter of the hold is wrong
    if (cycle.counters().contains(step.counter)) {
      book(step.counter).rejections.add(new long[] {step.begin, step.end, cycle.reserved()});
    } else if (cycle.counters().size() == 1) {
      book(cycle.counters().getFirst())
          .rejections
          .add(new long[] {step.begin, step.end, cycle.reserved()});
    } else {
      wrong.add("rejected for '%s': %s".formatted(step.counter, cycle));
    }
  }

  private void enter(BudgetCycle cycle, Steps steps) {
    count("cycles");
    Step placed = steps.placed;
    if (placed != null && placed.outcome == Outcome.REJECTED && !cycle.kind().mayExpire()) {
      return;
    }
    check(cycle, steps);
    Step settled = steps.settled;
    Step released = steps.released;
    boolean isSpent = settled != null && settled.outcome == Outcome.DONE;
    boolean isReturned =
        (released != null && released.outcome == Outcome.DONE)
            || (settled != null && settled.outcome == Outcome.CLOSED);
    long returnedNanos =
        released != null ? released.end : settled != null ? settled.end : Long.MAX_VALUE;
    count(isSpent ? "settled" : isReturned ? "returned" : "abandoned");
    for (String counter : cycle.counters()) {
      Book book = book(counter);
      book.most.add(new long[] {steps.begunNanos, cycle.reserved()});
      if (settled != null && isSpent) {
        book.spent += cycle.used();
        book.most.add(new long[] {settled.end, cycle.used() - cycle.reserved()});
      } else if (isReturned) {
        book.most.add(new long[] {returnedNanos, -cycle.reserved()});
      }
    }
  }

  /** Checks the answers of a cycle whose hold was placed, or may have been. */
  private void check(BudgetCycle cycle, Steps steps) {
    Step placed = steps.placed;
    Step settled = steps.settled;
    boolean isPlaced = placed != null && placed.outcome == Outcome.DONE;
    long ttlNanos = Duration.ofMillis(cycle.ttlMillis()).toNanos();
    for (Step step : Arrays.asList(settled, steps.released)) {
      if (step == null || !isPlaced) {
        continue;
      }
      boolean isAfterRelease = cycle.kind() == Kind.RELEASE && step.equals(settled);
      boolean mayHaveExpired = step.end - steps.begunNanos >= ttlNanos - SLACK_NANOS;
      if (step.outcome == Outcome.NOT_FOUND) {
        wrong.add("forgotten: " + cycle);
      } else if (step.outcome == Outcome.CLOSED && !isAfterRelease && !mayHaveExpired) {
        wrong.add("closed early: " + cycle);
      }
    }
    if (settled == null || settled.outcome != Outcome.DONE) {
      if (settled != null && cycle.kind() == Kind.LATE) {
        count("too late");
      }
      return;
    }
    if (cycle.kind() == Kind.RELEASE) {
      wrong.add("settled after its release: " + cycle);
    }
    if (placed != null
        && placed.outcome == Outcome.DONE
        && cycle.kind() == Kind.LATE
        && steps.settleBegunNanos - placed.end > ttlNanos + SLACK_NANOS) {
      wrong.add("settled after its expiry: " + cycle);
    }
  }

  private void count(String figure) {
    figures.merge(figure, 1L, Long::sum);
  }

  /** Returns how often each event occurred. */
  long figure(String figure) {
    return figures.getOrDefault(figure, 0L);
  }

  @Override
  public String toString() {
    return figures.toString();
  }

  /** Returns what was spent of a counter. */
  long spent(String counter) {
    return book(counter).spent;
  }

  /** Checks that all answers were right. */
  void checkAnswers(Map<String, Long> budgets) {
    assertEquals(List.of(), wrong.subList(0, Math.min(wrong.size(), 10)), "wrong answers");
    budgets.forEach(this::checkRejections);
  }

  /**
   * Checks that each rejection was right at some moment of its call. A hold counts as taken from
   * before its first attempt until its end was answered; one that no client ended counts until the
   * end of the run.
   */
  private void checkRejections(String counter, long budget) {
    Book book = book(counter);
    book.most.sort((one, other) -> Long.compare(one[0], other[0]));
    int events = book.most.size();
    long[] times = new long[events];
    long[] taken = new long[events + 1]; // before the first event, and after each
    for (int i = 0; i < events; i++) {
      times[i] = book.most.get(i)[0];
      taken[i + 1] = taken[i] + book.most.get(i)[1];
    }
    for (long[] rejection : book.rejections) {
      int found = Arrays.binarySearch(times, rejection[0]);
      int at = found < 0 ? -found - 1 : found;
      while (at > 0 && times[at - 1] == rejection[0]) {
        at--;
      }
      long most = taken[at];
      for (int i = at; i < events && times[i] <= rejection[1]; i++) {
        most = Math.max(most, taken[i + 1]);
      }
      assertTrue(
          most + rejection[2] > budget,
          "%d of %s were rejected, although at most %d of %d were taken"
              .formatted(rejection[2], counter, most, budget));
    }
  }
}
