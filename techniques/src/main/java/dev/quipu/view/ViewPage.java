package dev.quipu.view;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One page of the views of a period; see {@link ViewCounter#page}.
 *
 * @param views ordered by time if views are identified by time and client, otherwise by identity
 * @param cursor continues after this page; empty on the last page
 */
public record ViewPage(List<CountedView> views, Optional<String> cursor) {
  /** Maximum number of views in one page. */
  public static final int VIEWS_MAX = 1_000;

  /** Copies the views. */
  public ViewPage {
    views = List.copyOf(views);
  }

  /**
   * A view that was counted.
   *
   * @param identity the key by which repeats are recognized; see {@link ViewIdentity#key}
   * @param time of the view, with all its digits
   * @param clientId empty if the identity is not that of {@link ViewIdentity#EVENT}
   * @param value empty if the event had none
   */
  public record CountedView(
      String url, String identity, Instant time, Optional<String> clientId, OptionalLong value) {}
}
