package dev.quipu.server.cli.access;

import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import java.util.List;

/** Access of commands to sequences of records. */
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
}
