package dev.quipu.server.cli.access;

import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.Revision;
import dev.quipu.sequence.RevisionLog;
import dev.quipu.sequence.SequenceOfRecords;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Access of commands to sequences of records, and to what is built on them. */
public interface SequenceAccess {
  /** Stores a record under the next number of a series. */
  SequenceOfRecords.Result next(String series, String payload, RequestId id);

  /** Returns the highest number of a series, which is the number of its records. */
  long last(String series);

  /**
   * Returns records in order of number.
   *
   * @param limit 1 to {@link SequenceOfRecords#PAGE_MAX}
   */
  List<NumberedRecord> page(String series, long from, int limit);

  // ---- revisions

  /** Changes an entity of a series. */
  RevisionLog.Result revise(String series, String entity, Revision.Kind kind, String payload);

  /** Returns the number of entities of a series. */
  long count(String series);

  /** Returns the last revision of an entity; empty if the entity does not exist. */
  Optional<Revision> current(String series, String entity);

  // ---- jobs

  /** How much of a job is processed. */
  record Progress(long processed, long last) {}

  /**
   * A number to process.
   *
   * @param task the handle of its range
   * @param requestId the same for every worker that processes this number
   */
  record Work(String task, long number, String requestId) {}

  /** Creates a job, or checks that it exists with the same arguments. */
  void openJob(String name, long last, int ranges);

  /** Returns the progress of a job; empty if it does not exist. */
  Optional<Progress> progress(String name);

  /** Takes a range of a job; empty if none is free. */
  Optional<Work> take(String name, Duration lease);

  /** Marks a number as processed, and returns the next; empty if the range is done or lost. */
  Optional<Work> done(String name, Work work, Duration lease);

  /** Releases the range of a task. */
  void release(String name, String task);
}
