package dev.quipu.server.cli.access;

import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.RangeJob;
import dev.quipu.sequence.RangeJobs;
import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Accesses the sequences of a data directory in this process. */
record LocalSequences(Quipu quipu) implements SequenceAccess {
  private SequenceOfRecords records() {
    return quipu.part(SequenceOfRecords.class);
  }

  @Override
  public SequenceOfRecords.Result next(String series, String payload, RequestId id) {
    return records().add(series, payload, id);
  }

  @Override
  public long last(String series) {
    return records().last(series);
  }

  @Override
  public List<NumberedRecord> page(String series, long from, int limit) {
    return records().page(series, from, limit);
  }

  @Override
  public RevisionLog.Result revise(
      String series, String entity, Revision.Kind kind, String payload) {
    return quipu.part(RevisionLog.class).write(series, entity, kind, payload);
  }

  @Override
  public long count(String series) {
    return quipu.part(RevisionLog.class).count(series);
  }

  @Override
  public Optional<Revision> current(String series, String entity) {
    return quipu.part(RevisionLog.class).current(series, entity);
  }

  private RangeJob job(String name) {
    return quipu
        .part(RangeJobs.class)
        .find(name)
        .orElseThrow(() -> new IllegalArgumentException("no job " + name));
  }

  @Override
  public void openJob(String name, long last, int ranges) {
    quipu.part(RangeJobs.class).open(name, last, ranges);
  }

  @Override
  public Optional<Progress> progress(String name) {
    return quipu
        .part(RangeJobs.class)
        .find(name)
        .map(job -> new Progress(job.processed(), job.last()));
  }

  private static Optional<Work> work(RangeJob.Task task) {
    return task.next().isPresent()
        ? Optional.of(new Work(task.handle(), task.next().getAsLong(), task.request().text()))
        : Optional.empty();
  }

  @Override
  public Optional<Work> take(String name, Duration lease) {
    return job(name).take(lease).flatMap(LocalSequences::work);
  }

  @Override
  public Optional<Work> done(String name, Work work, Duration lease) {
    RangeJob.Task task = job(name).resume(work.task());
    boolean isHeld = task.renew(lease);
    boolean isOwn = task.next().equals(OptionalLong.of(work.number())) && task.done(List.of());
    return isHeld && isOwn ? work(task) : Optional.empty();
  }

  @Override
  public void release(String name, String task) {
    job(name).resume(task).close();
  }
}
