package dev.quipu.presence;

import dev.quipu.Limits;
import dev.quipu.layer.Store;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Capability;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Counts who is online: {@link OnlineRing}, {@link OnlineExact}, and an approximate one in {@code
 * dev.quipu.sketches}. Thread-safe and blocking.
 *
 * <p>A name is 1 to {@link Limits#NAME_BYTES_MAX} bytes of UTF-8, a client 1 to {@link
 * Limits#CLIENT_ID_BYTES_MAX}.
 */
public interface Presence {
  /**
   * A client was there just now.
   *
   * @param room what it was seen in
   * @param client tells it from all others: a session, a user
   * @throws dev.quipu.QuipuException if it was not noted, or if that is not known; repeat
   */
  void seen(String room, String client);

  /**
   * How many are online.
   *
   * @throws dev.quipu.QuipuException if it cannot be told
   */
  Online online(String room);

  /** The variant that promises most on a store, for windows of five minutes. */
  static Presence on(Store store) {
    return store.profile().has(Capability.ORDERED_SCAN)
        ? new OnlineExact(store, Window.DEFAULT.length())
        : new OnlineRing(store, Window.DEFAULT);
  }

  /**
   * A short name for a room, or for a client in one, that is fit to be part of a key in any store.
   *
   * @throws IllegalArgumentException for a name outside the limits
   */
  static String shortName(String room) {
    Limits.checkText("room", room, Limits.NAME_BYTES_MAX);
    return HexFormat.of().formatHex(Key.digest(room.getBytes(StandardCharsets.UTF_8)), 0, 16);
  }

  /** As {@link #shortName(String)}. */
  static String shortName(String room, String client) {
    Limits.checkText("room", room, Limits.NAME_BYTES_MAX);
    Limits.checkText("client", client, Limits.CLIENT_ID_BYTES_MAX);
    byte[] both = (room + "\0" + client).getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(Key.digest(both), 0, 16);
  }
}
