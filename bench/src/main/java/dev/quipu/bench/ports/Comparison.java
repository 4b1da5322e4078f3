package dev.quipu.bench.ports;

import dev.quipu.bench.ports.load.Workload;
import dev.quipu.bench.ports.subject.Measurement;
import dev.quipu.bench.ports.subject.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Measures subjects under one load in turns: the first is Quipu, the others its peers. */
final class Comparison {
  private final Workload workload;
  private final List<Subject> subjects;
  private final List<List<Measurement>> rounds = new ArrayList<>();

  Comparison(Workload workload, List<? extends Subject> subjects) {
    this.workload = workload;
    this.subjects = List.copyOf(subjects);
  }

  Workload workload() {
    return workload;
  }

  /** Runs one warm-up round and {@code count} measured rounds. */
  Comparison run(int count, Duration time) throws Exception {
    for (Subject each : subjects) {
      each.measure(workload, time.dividedBy(4));
    }
    for (int round = 0; round < count; round++) {
      List<Measurement> measurements = new ArrayList<>();
      for (int i = 0; i < subjects.size(); i++) {
        // Alternating directions, so that no subject always follows the same one.
        boolean back = round % 2 == 1;
        Subject subject = subjects.get(back ? subjects.size() - 1 - i : i);
        measurements.add(back ? 0 : i, subject.measure(workload, time));
      }
      rounds.add(measurements);
    }
    System.err.print(rows());
    return this;
  }

  /** Returns adds per second: the median of the rounds. */
  double perSecond(int subject) {
    return median(
        rounds.stream().map(measurements -> measurements.get(subject).perSecond()).toList());
  }

  /** Returns a row for each peer. */
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
            .map(measurements ->
                measurements.get(0).perSecond() / measurements.get(peer).perSecond())
            .sorted()
            .toList();
    return String.format(
        Locale.ROOT,
        "| %s | %,d | %d | %s | %s | %,.0f | %,.0f | %.2f | %.2f..%.2f | %s | %s |%n",
        workload.kind(),
        workload.keys(),
        workload.pipeline(),
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
    double all =
        median(rounds.stream().map(measurements -> measurements.get(subject).cpu().all()).toList());
    double share =
        median(
            rounds.stream()
                .map(measurements -> measurements.get(subject).cpu().kernelShare())
                .toList());
    return Double.isNaN(all) || Double.isNaN(share)
        ? "-"
        : String.format(Locale.ROOT, "%.2f (%.0f%%)", all, share);
  }

  static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }
}
