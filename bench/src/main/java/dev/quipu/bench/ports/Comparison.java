package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Measurement;
import dev.quipu.bench.ports.subject.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Subjects under one load in turns: the first is Quipu, the others its peers. */
final class Comparison {
  private final Workload shape;
  private final List<Subject> subjects;
  private final List<List<Measurement>> rounds = new ArrayList<>();

  Comparison(Workload shape, List<? extends Subject> subjects) {
    this.shape = shape;
    this.subjects = List.copyOf(subjects);
  }

  Workload shape() {
    return shape;
  }

  /** One round to warm up, which does not count, and so many that do. */
  Comparison run(int count, Duration time) throws Exception {
    for (Subject each : subjects) {
      each.turn(shape, time.dividedBy(4));
    }
    for (int round = 0; round < count; round++) {
      List<Measurement> turns = new ArrayList<>();
      for (int i = 0; i < subjects.size(); i++) {
        // Back and forth, so that nobody always comes after the same one.
        boolean back = round % 2 == 1;
        Subject subject = subjects.get(back ? subjects.size() - 1 - i : i);
        turns.add(back ? 0 : i, subject.turn(shape, time));
      }
      rounds.add(turns);
    }
    System.err.print(rows());
    return this;
  }

  /** Adds a second: the median of the rounds. */
  double perSecond(int subject) {
    return median(rounds.stream().map(turns -> turns.get(subject).perSecond()).toList());
  }

  /** A row for each peer. */
  String rows() {
    StringBuilder rows = new StringBuilder();
    for (int i = 1; i < subjects.size(); i++) {
      rows.append(row(i));
    }
    return rows.toString();
  }

  private String row(int peer) {
    List<Double> ratios =
        rounds.stream()
            .map(turns -> turns.get(0).perSecond() / turns.get(peer).perSecond())
            .sorted()
            .toList();
    return String.format(
        Locale.ROOT,
        "| %s | %,d | %d | %s | %s | %,.0f | %,.0f | %.2f | %.2f..%.2f | %s | %s |%n",
        shape.kind(),
        shape.keys(),
        shape.pipeline(),
        subjects.get(0).name(),
        subjects.get(peer).name(),
        perSecond(0),
        perSecond(peer),
        median(ratios),
        ratios.getFirst(),
        ratios.getLast(),
        cpu(0),
        cpu(peer));
  }

  private String cpu(int subject) {
    double all = median(rounds.stream().map(turns -> turns.get(subject).cpu().all()).toList());
    double share =
        median(rounds.stream().map(turns -> turns.get(subject).cpu().kernelShare()).toList());
    return Double.isNaN(all) || Double.isNaN(share)
        ? "-"
        : String.format(Locale.ROOT, "%.2f (%.0f %%)", all, share);
  }

  static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }
}
