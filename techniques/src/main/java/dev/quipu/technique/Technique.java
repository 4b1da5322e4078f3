package dev.quipu.technique;

import dev.quipu.Counters;
import dev.quipu.Guarantee;
import dev.quipu.RequestId;
import dev.quipu.RequestOutcome;
import dev.quipu.SetResult;
import java.util.OptionalLong;
import java.util.Set;

/** Counters that declare their requirements, guarantees and costs. */
public interface Technique extends Counters {
  /** Returns the requirements, guarantees and costs of these counters. */
  TechniqueSpec spec();

  @Override
  default String technique() {
    return spec().name();
  }

  @Override
  default Set<Guarantee> guarantees() {
    return spec().guarantees();
  }

  @Override
  default SetResult set(String counter, long value, OptionalLong ifValue) {
    throw Techniques.cannotSet(technique());
  }

  @Override
  default void delete(String counter) {
    throw Techniques.cannotSet(technique());
  }

  @Override
  default RequestOutcome outcome(String counter, RequestId id) {
    throw Techniques.keepsNoIds(technique());
  }

  @Override
  default RequestOutcome cancel(String counter, RequestId id) {
    throw Techniques.keepsNoIds(technique());
  }
}
