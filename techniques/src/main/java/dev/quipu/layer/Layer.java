package dev.quipu.layer;

import dev.quipu.store.StoreDriver;

/** One layer of a {@link Store}: a driver that adds one concern to the driver below it. */
abstract class Layer extends ForwardingDriver {
  private final StoreDriver below;

  Layer(StoreDriver below) {
    this.below = below;
  }

  @Override
  protected final StoreDriver driver() {
    return below;
  }
}
