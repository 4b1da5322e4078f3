package dev.quipu.engine.state;

import dev.quipu.engine.ids.Secret;
import org.jspecify.annotations.Nullable;

/**
 * Open holds by id: a hash table with linear probing. Its hash has a secret, so that ids that a
 * client chose to collide are still found fast. Not thread-safe.
 */
final class HoldIndex {
  private final Secret secret;
  private @Nullable OpenHold[] slots = new OpenHold[16];
  private int size;

  HoldIndex(Secret secret) {
    this.secret = secret;
  }

  int size() {
    return size;
  }

  @Nullable OpenHold find(long high, long low) {
    int at = home(high, low);
    OpenHold hold = slots[at];
    while (hold != null && !hold.hasId(high, low)) {
      at = after(at);
      hold = slots[at];
    }
    return hold;
  }

  /** Adds a hold whose id is not present. */
  void add(OpenHold hold) {
    if (3 * (size + 1) > 2 * slots.length) {
      grow();
    }
    put(hold);
    size++;
  }

  /** Removes a hold that is present, and closes the gap, so that probing still finds all others. */
  void remove(OpenHold hold) {
    int gap = home(hold.high(), hold.low());
    while (slots[gap] != hold) {
      gap = after(gap);
    }
    int at = after(gap);
    OpenHold moved = slots[at];
    while (moved != null) {
      int mask = slots.length - 1;
      int home = home(moved.high(), moved.low());
      if (((at - home) & mask) >= ((at - gap) & mask)) {
        slots[gap] = moved;
        gap = at;
      }
      at = after(at);
      moved = slots[at];
    }
    slots[gap] = null;
    size--;
  }

  private void grow() {
    @Nullable OpenHold[] before = slots;
    slots = new OpenHold[2 * before.length];
    for (OpenHold hold : before) {
      if (hold != null) {
        put(hold);
      }
    }
  }

  private void put(OpenHold hold) {
    int at = home(hold.high(), hold.low());
    while (slots[at] != null) {
      at = after(at);
    }
    slots[at] = hold;
  }

  private int home(long high, long low) {
    return (int) (secret.hash(high, low, 0) >>> 32) & (slots.length - 1);
  }

  private int after(int slot) {
    return (slot + 1) & (slots.length - 1);
  }
}
