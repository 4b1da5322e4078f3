package dev.quipu.presence;

import dev.quipu.Limits;
import dev.quipu.layer.Store;
import dev.quipu.store.Key;
import dev.quipu.store.StoreProfile.Capability;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Counts online clients: {@link OnlineRing}, {@link OnlineExact}, and an approximate variant in
 * {@code dev.quipu.sketches}. Thread-safe and blocking.
 *
 * <p>A room is 1 to {@link Limits#NAME_BYTES_MAX} bytes of UTF-8, a client 1 to {@link
 * Limits#CLIENT_ID_BYTES_MAX}.
 */
public interface Presence {
  /**
   * Records that a client was seen now.
   *
   * @param room where it was seen
   * @param client its unique id: a session, a user
   * @throws dev.quipu.QuipuException if it was not recorded, or the outcome is unknown; repeat
   */
  void seen(String room, String client);

  /**
   * The result of a hit of a session that keeps its mark.
   *
   * @param counted whether the hit was counted; otherwise, the session was counted recently
   * @param token to be kept in the session, and sent with its next hit
   */
  record Hit(boolean counted, String token) {}

  /**
   * Records a hit of a session that keeps the time of its last counted hit itself.
   *
   * @param token of the last hit of the session in this room; empty for a new session. If the
   *     window has passed since, the session is counted again.
   * @throws IllegalArgumentException if the token is invalid
   * @throws UnsupportedOperationException unless this is {@link OnlineSessions}
   * @throws dev.quipu.QuipuException if the hit was not counted; repeat it with the same token
   */
  default Hit seenInSession(String room, Optional<String> token) {
    throw new UnsupportedOperationException(
        "sessions cannot keep their mark: this needs a ring and a session key (quipu serve"
            + " --online ring --session-key-file FILE)");
  }

  /**
   * Returns the number of online clients.
   *
   * @throws dev.quipu.QuipuException if it cannot be determined
   */
  Online online(String room);

  /**
   * Returns the variant with the strongest guarantees that a store supports, for windows of five
   * minutes.
   */
  static Presence on(Store store) {
    return store.profile().has(Capability.ORDERED_SCAN)
        ? new OnlineExact(store, Window.DEFAULT.length())
        : new OnlineRing(store, Window.DEFAULT);
  }

  /**
   * Returns a short name for a room, or for a client in one, that fits into a key of any store.
   *
   * @throws IllegalArgumentException for a name outside the limits
   */
  static String shortName(String room) {
    Limits.checkText("room", room, Limits.NAME_BYTES_MAX);
    return HexFormat.of().formatHex(Key.digest(room.getBytes(StandardCharsets.UTF_8)), 0, 16);
  }

  /** Returns a short name for a client in a room; see {@link #shortName(String)}. */
  static String shortName(String room, String client) {
    Limits.checkText("room", room, Limits.NAME_BYTES_MAX);
    Limits.checkText("client", client, Limits.CLIENT_ID_BYTES_MAX);
    byte[] both = (room + "\0" + client).getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(Key.digest(both), 0, 16);
  }
}
