package dev.quipu.engine.state;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Open holds by their expiry: a binary heap, in which each hold knows its place. The holds of most
 * callers expire in the order in which they are placed, so that most are added and removed without
 * moving others far. Not thread-safe.
 */
final class ExpiryHeap {
  private @Nullable OpenHold[] holds = new OpenHold[16];
  private int size;

  /** Returns a hold that expires first; null if there is none. */
  @Nullable OpenHold first() {
    return holds[0];
  }

  void add(OpenHold hold) {
    if (size == holds.length) {
      holds = Arrays.copyOf(holds, size + size / 2);
    }
    rise(hold, size++);
  }

  void remove(OpenHold hold) {
    OpenHold last = at(--size);
    holds[size] = null;
    if (last != hold) {
      int index = hold.heapIndex;
      sink(last, index);
      if (holds[index] == last) {
        rise(last, index);
      }
    }
  }

  private void rise(OpenHold hold, int from) {
    int index = from;
    while (index > 0) {
      OpenHold parent = at((index - 1) / 2);
      if (parent.expiresMillis() <= hold.expiresMillis()) {
        break;
      }
      set(index, parent);
      index = (index - 1) / 2;
    }
    set(index, hold);
  }

  private void sink(OpenHold hold, int from) {
    int index = from;
    while (2 * index + 1 < size) {
      int child = 2 * index + 1;
      if (child + 1 < size && at(child + 1).expiresMillis() < at(child).expiresMillis()) {
        child++;
      }
      if (hold.expiresMillis() <= at(child).expiresMillis()) {
        break;
      }
      set(index, at(child));
      index = child;
    }
    set(index, hold);
  }

  @SuppressWarnings("NullAway") // the places below the size are taken
  private OpenHold at(int index) {
    return holds[index];
  }

  private void set(int index, OpenHold hold) {
    holds[index] = hold;
    hold.heapIndex = index;
  }
}
