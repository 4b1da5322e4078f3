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
 * What makes two events the same view of a page.
 *
 * @param name as users write it
 * @param key equal for the same view of one page; 1 to {@link #KEY_BYTES_MAX} bytes of UTF-8
 */
public record ViewIdentity(String name, Function<ViewEvent, String> key) {
  /** Longest key, in bytes of UTF-8. */
  public static final int KEY_BYTES_MAX = 900;

  /** The same time and client: an event that was delivered twice, and nothing else. */
  public static final ViewIdentity EVENT =
      new ViewIdentity(
          "event", event -> ViewCounter.text(event.time()) + "#CID#" + event.clientId());

  /** The same client: each counts once. */
  public static final ViewIdentity CLIENT = new ViewIdentity("client", ViewEvent::clientId);

  /** The same client and day, in UTC: each client counts once a day. */
  public static final ViewIdentity CLIENT_DAY =
      new ViewIdentity("client-day", event -> day(event) + "#CID#" + event.clientId());

  /** A hash of all fields: as {@link #EVENT}, in keys of one length. */
  public static final ViewIdentity HASH = new ViewIdentity("hash", ViewIdentity::hash);

  /** Those that have a name. */
  public static final List<ViewIdentity> ALL = List.of(EVENT, CLIENT, CLIENT_DAY, HASH);

  /**
   * The one with this name.
   *
   * @throws IllegalArgumentException if there is none, naming those that there are
   */
  public static ViewIdentity named(String name) {
    return ALL.stream()
        .filter(each -> each.name.equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "identity is '%s'; there are %s"
                    .formatted(
                        name,
                        ALL.stream().map(ViewIdentity::name).collect(Collectors.joining(", ")))));
  }

  static LocalDate day(ViewEvent event) {
    return LocalDate.ofInstant(event.time(), ZoneOffset.UTC);
  }

  private static String hash(ViewEvent event) {
    String all = event.url() + "\0" + ViewCounter.text(event.time()) + "\0" + event.clientId();
    return HexFormat.of().formatHex(Key.digest(all.getBytes(StandardCharsets.UTF_8)));
  }

  /** The key of an event, within its limits. */
  String of(ViewEvent event) {
    return Limits.checkText("the key of a view", key.apply(event), KEY_BYTES_MAX);
  }
}
