package dev.quipu.server.cli.access;

import dev.quipu.Quipu;
import dev.quipu.RequestId;
import dev.quipu.sequence.NumberedRecord;
import dev.quipu.sequence.SequenceOfRecords;
import java.util.List;

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
}
