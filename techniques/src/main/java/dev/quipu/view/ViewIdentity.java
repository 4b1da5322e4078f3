package dev.quipu.view;

import dev.quipu.Limits;
import dev.quipu.store.Key;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The rule by which two events are the same view of a page.
 *
 * @param name as used in options
 * @param key equal for the same view of one page; 1 to {@link #KEY_BYTES_MAX} bytes of UTF-8
 */
public record ViewIdentity(String name, Function<ViewEvent, String> key) {
  /** Longest key, in bytes of UTF-8. */
  public static final int KEY_BYTES_MAX = 900;

  /** The same time and client: recognizes only repeated deliveries of one event. */
  public static final ViewIdentity EVENT =
      new ViewIdentity(
          "event", event -> ViewCounter.text(event.time()) + ViewCounter.CLIENT + event.clientId());

  /** The same client: each client counts once. */
  public static final ViewIdentity CLIENT = new ViewIdentity("client", ViewEvent::clientId);

  /** The same client and day, in UTC: each client counts once a day. */
  public static final ViewIdentity CLIENT_DAY =
      new ViewIdentity("client-day", event -> day(event) + ViewCounter.CLIENT + event.clientId());

  /** A hash of all fields: like {@link #EVENT}, with keys of a fixed length. */
  public static final ViewIdentity HASH = new ViewIdentity("hash", ViewIdentity::hash);

  /** All identities with a name. */
  public static final List<ViewIdentity> ALL = List.of(EVENT, CLIENT, CLIENT_DAY, HASH);

  /**
   * Returns the identity with a name.
   *
   * @throws IllegalArgumentException if there is none, listing the known names
   */
  public static ViewIdentity named(String name) {
    return ALL.stream()
        .filter(each -> each.name.equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "unknown identity '%s'; known: %s"
                    .formatted(
                        name,
                        ALL.stream().map(ViewIdentity::name).collect(Collectors.joining(", ")))));
  }

  static LocalDate day(ViewEvent event) {
    return LocalDate.ofInstant(event.time(), ZoneOffset.UTC);
  }

  private static String hash(ViewEvent event) {
    String all = event.url() + "\0" + ViewCounter.text(event.time()) + "\0" + event.clientId();
    if (event.value().isPresent()) {
      all += "\0" + event.value().getAsLong();
    }
    return HexFormat.of().formatHex(Key.digest(all.getBytes(StandardCharsets.UTF_8)));
  }

  /** Returns the key of an event, checked against its limits. */
  String of(ViewEvent event) {
    return Limits.checkText("key of the view", key.apply(event), KEY_BYTES_MAX);
  }
}
