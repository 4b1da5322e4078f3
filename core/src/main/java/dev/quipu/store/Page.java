package dev.quipu.store;

import java.util.List;
import java.util.Optional;

/**
 * One page of a {@link Scan}.
 *
 * @param resumeAt what to hand to {@link Scan#resumedAt} for the next page; empty on the last one.
 *     Ascending it is the first sort of the next page, descending the last sort of this one.
 */
public record Page(List<Item> items, Optional<String> resumeAt) {
  /** Copies the items. */
  public Page {
    items = List.copyOf(items);
  }
}
