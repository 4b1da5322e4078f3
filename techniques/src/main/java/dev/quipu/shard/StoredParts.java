package dev.quipu.shard;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Counters that are stored in several parts, each of which counts by itself. */
public interface StoredParts {
  /**
   * Returns the parts of a counter now, for inspection; none if it was never written.
   *
   * @throws dev.quipu.QuipuException if they cannot be read
   */
  List<Part> parts(String counter);

  /**
   * A part: a shard, or a region.
   *
   * @param value what it counted
   * @param below the most that it may subtract by itself; empty without a limit
   * @param above the most that it may add by itself; empty without a limit
   * @param note what is special about it, such as that it does not respond
   */
  record Part(
      String name, long value, OptionalLong below, OptionalLong above, Optional<String> note) {}
}
