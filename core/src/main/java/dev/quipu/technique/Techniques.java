package dev.quipu.technique;

import java.util.List;

/** All techniques that count on a store. */
public final class Techniques {
  /** In the order in which they are taught. */
  public static final List<TechniqueSpec> ALL =
      List.of(AtomicAdd.SPEC, Optimistic.SPEC, MarkerItem.SPEC);

  private Techniques() {}
}
